import { CORNERS, SIDE_A } from '../pair-kinds.js';

/**
 * The direction and distance of {@link areBoxesApart}. They are not arguments, because numbers passed to it would be
 * objects on the heap.
 */
export const apartAlong = { x: 0, y: 0, z: 0, by: 0 };

/**
 * Whether the trust boxes of a pair are separated along n by more than a distance, both in `apartAlong`: min over side
 * a of n·(box corner) − max over side b, in double. With float32 boxes its rounding is 2⁻²⁹ of the float32 one, and
 * what it is compared with (δ or Dmax) is far above either, so no margin is needed. A height that is NaN (0 times an
 * infinite box) fails every comparison, so such boxes are never apart.
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
  const { x: nx, y: ny, z: nz, by } = apartAlong;
  const ox = x[3 * v0];
  const oy = x[3 * v0 + 1];
  const oz = x[3 * v0 + 2];
  // The offsets of the coordinates of the corners c of a box with the least and the greatest n·(c − o).
  const lx = nx > 0 ? 0 : 3;
  const ly = ny > 0 ? 1 : 4;
  const lz = nz > 0 ? 2 : 5;
  const hx = nx < 0 ? 0 : 3;
  const hy = ny < 0 ? 1 : 4;
  const hz = nz < 0 ? 2 : 5;
  let q = 6 * v0;
  let lo = nx * (box[q + lx] - ox) + ny * (box[q + ly] - oy) + nz * (box[q + lz] - oz);
  let hi = Number.NEGATIVE_INFINITY;
  q = 6 * v1;
  if (SIDE_A[kind] === 1) hi = nx * (box[q + hx] - ox) + ny * (box[q + hy] - oy) + nz * (box[q + hz] - oz);
  else {
    lo = Math.min(lo, nx * (box[q + lx] - ox) + ny * (box[q + ly] - oy) + nz * (box[q + lz] - oz));
  }
  // Further corners of side b only raise it.
  if (!(lo - hi > by)) return false;
  const corners = CORNERS[kind];
  if (corners === 2) return true;
  q = 6 * v2;
  const third = nx * (box[q + hx] - ox) + ny * (box[q + hy] - oy) + nz * (box[q + hz] - oz);
  if (!(third <= hi)) hi = third;
  if (!(lo - hi > by)) return false;
  if (corners === 3) return true;
  q = 6 * v3;
  const fourth = nx * (box[q + hx] - ox) + ny * (box[q + hy] - oy) + nz * (box[q + hz] - oz);
  return lo - (fourth <= hi ? hi : fourth) > by;
}
