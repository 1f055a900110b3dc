import type { Positions } from '../contract/mesh.js';

/** Below this a squared length may have lost digits to underflow (2⁻¹⁰²² / 2⁻⁵³, with room for three terms). */
const SQUARED_UNDERFLOW = 2 ** -960;

/** Length of a vector; accurate for any finite components up to 1e150. */
export function lengthOf(x: number, y: number, z: number): number {
  const squared = x * x + y * y + z * z;
  return squared > SQUARED_UNDERFLOW ? Math.sqrt(squared) : Math.hypot(x, y, z);
}

/** Distance of vertices a and b. */
export function distanceOf(positions: Positions, a: number, b: number): number {
  return lengthOf(
    positions[3 * b]! - positions[3 * a]!,
    positions[3 * b + 1]! - positions[3 * a + 1]!,
    positions[3 * b + 2]! - positions[3 * a + 2]!,
  );
}

/**
 * The median of `lengths` (float64, reordered in place), the mean of the middle two for an even count. Where more than
 * half are zero the median of the others: a length scale of 0 helps nobody. 0 if there is no positive length.
 */
export function medianLength(lengths: Float64Array): number {
  lengths.sort();
  const median = middleOf(lengths);
  if (median > 0) return median;
  let positive = 0;
  while (positive < lengths.length && lengths[positive] === 0) positive++;
  return middleOf(lengths.subarray(positive));
}

function middleOf(sorted: Float64Array): number {
  if (sorted.length === 0) return 0;
  const upper = sorted[sorted.length >>> 1]!;
  return sorted.length % 2 === 1 ? upper : (sorted[(sorted.length >>> 1) - 1]! + upper) / 2;
}
