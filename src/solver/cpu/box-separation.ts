import { CORNERS, SIDE_A } from '../pair-kinds.js';

/**
 * The direction and distance of {@link areBoxesApart}. They are not arguments, because numbers passed to it would be
 * objects on the heap.
 */
export const apartAlong = { x: 0, y: 0, z: 0, by: 0 };

/**
 * Bound of the rounding of a separation along n in double, over the largest coordinate L of boxes or positions. Let
 * u = 2⁻⁵³. An offset c − o is at most 2L on each axis, so Σ_c |n_c (c − o)_c| ≤ 2√3 L. One difference, one product and
 * two sums make 4u of that for a height, 28 u L for two heights, and their difference 7 u L. 2⁻⁴⁶ = 128 u also covers
 * heights after a motion (bound.ts), which have one product and one sum more.
 */
export const SEPARATION_ERROR = 2 ** -46;

/**
 * The distance beyond which {@link areBoxesApart} may drop a pair: the cutoff or, if the rounding of a separation may
 * exceed the tolerance, infinity, so that no pair is dropped. With the floor δ/100 and an edge of ten δ this takes
 * coordinates of 10¹⁰ edges, which only vertices at rest may have (resting.ts). An infinite coordinate does not count,
 * because boxes with one are never apart.
 *
 * @param box float32[6·V] trust boxes
 */
export function cutoffOver(box: Float32Array, cutoff: number, tolerance: number): number {
  return SEPARATION_ERROR * largestOf(box) < tolerance ? cutoff : Number.POSITIVE_INFINITY;
}

function largestOf(values: Float32Array): number {
  let largest = 0;
  for (let k = 0; k < values.length; k++) {
    const size = Math.abs(values[k]);
    if (size > largest && size < Number.POSITIVE_INFINITY) largest = size;
  }
  return largest;
}

/**
 * Whether the trust boxes of a pair are separated along n by more than a distance, both in `apartAlong`: min over side
 * a of n·(box corner) − max over side b, in double. There is no margin for its rounding, which {@link cutoffOver} keeps
 * far below the distance. A height that is NaN (0 times an infinite box) fails every comparison, so such boxes are
 * never apart.
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
