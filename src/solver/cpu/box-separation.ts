import { CORNERS, SIDE_A } from '../pair-kinds.js';

/** Along which direction, and by how much, {@link areBoxesApart}: numbers handed to it would be objects on the heap. */
export const apartAlong = { x: 0, y: 0, z: 0, by: 0 };

/**
 * Whether the trust boxes of a pair are separated along n by more than a distance, both in `apartAlong`: min over side a of
 * n·(box corner) − max over side b, in double. With float32 boxes its rounding is 2⁻²⁹ of the float32 one, and what it is compared
 * with (δ or Dmax) is far above either, so no margin is needed.
 *
 * @param box float32[6·V] trust boxes
 * @param x float32[3·V] the pair's first vertex is the origin of the heights
 */
export function areBoxesApart(
  box: Float32Array,
  x: Float32Array,
  kind: number,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
): boolean {
  const corners = CORNERS[kind];
  const { by } = apartAlong;
  let lo = lowest(box, x, v0, v0);
  let hi = Number.NEGATIVE_INFINITY;
  if (SIDE_A[kind] === 1) hi = highest(box, x, v1, v0);
  else lo = Math.min(lo, lowest(box, x, v1, v0));
  // Further corners of side b only raise it.
  if (!(lo - hi > by)) return false;
  if (corners > 2) hi = Math.max(hi, highest(box, x, v2, v0));
  if (corners > 3) hi = Math.max(hi, highest(box, x, v3, v0));
  return lo - hi > by;
}

/** min of n·(c − o) over the corners c of vertex v's box, o = x of the pair's first vertex. */
function lowest(box: Float32Array, x: Float32Array, v: number, o: number): number {
  const { x: nx, y: ny, z: nz } = apartAlong;
  const q = 6 * v;
  return (
    nx * (box[nx > 0 ? q : q + 3] - x[3 * o]) +
    ny * (box[ny > 0 ? q + 1 : q + 4] - x[3 * o + 1]) +
    nz * (box[nz > 0 ? q + 2 : q + 5] - x[3 * o + 2])
  );
}

/** max of n·(c − o) over the same corners. */
function highest(box: Float32Array, x: Float32Array, v: number, o: number): number {
  const { x: nx, y: ny, z: nz } = apartAlong;
  const q = 6 * v;
  return (
    nx * (box[nx < 0 ? q : q + 3] - x[3 * o]) +
    ny * (box[ny < 0 ? q + 1 : q + 4] - x[3 * o + 1]) +
    nz * (box[nz < 0 ? q + 2 : q + 5] - x[3 * o + 2])
  );
}
