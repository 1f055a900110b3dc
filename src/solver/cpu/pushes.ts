import { FREE_STEPS } from '../constants.js';

/**
 * Counts, after the sweeps of a step, the steps since a row pushed each vertex.
 *
 * @param before float32[3·V] y before the sweeps
 * @param y float32[3·V] y after them
 * @param least a shorter push does not count, engine units
 * @param unpushed uint8[V] at most FREE_STEPS
 */
export function countUnpushed(before: Float32Array, y: Float32Array, least: number, unpushed: Uint8Array): void {
  for (let i = 0, k = 0; i < unpushed.length; i++, k += 3) {
    const dx = y[k] - before[k];
    const dy = y[k + 1] - before[k + 1];
    const dz = y[k + 2] - before[k + 2];
    const isPushed = dx * dx + dy * dy + dz * dz > least * least;
    unpushed[i] = isPushed ? 0 : Math.min(FREE_STEPS, unpushed[i] + 1);
  }
}
