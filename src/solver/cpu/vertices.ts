/** |b_i − a_i| of the vertex whose coordinates start at k. */
export function distanceAt(a: Float32Array, b: Float32Array, k: number): number {
  const dx = b[k] - a[k];
  const dy = b[k + 1] - a[k + 1];
  const dz = b[k + 2] - a[k + 2];
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}

/**
 * Takes a distance between float32 positions, computed in double, to an upper bound: its relative error is a few 2⁻⁵³, one
 * part in 10⁶ covers that and the float32 it may be stored in.
 */
export const ROUND_UP = 1 + 1e-6;
