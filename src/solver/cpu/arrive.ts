import { isSameAt, type Residuals } from './motion.js';

/**
 * The last step of kinematic vertices. A run ends when every residual is below ε, so a vertex that approached its
 * target by shares α < 1 ends a little short of it: by ε of its motion. That is far below the size of gaps, but it is
 * not the prescribed position. One more forward step, in which nothing else moves, moves the vertex to the exact bits
 * of its target, or not at all.
 *
 * It is as safe as any other step: bound, write, check and commit are those of the forward step, in the trust boxes of
 * P (docs/method.md, S2 to S5). {@link allOrNothing} only lowers α. A motion by a part of the way would use up gaps for
 * nothing.
 */

/**
 * y ← x, but y_i ← y*_i for the kinematic vertices that have used up their motion and are not there.
 *
 * @param r float32[V] residuals
 * @param epsilon ε, below which a motion is used up
 * @returns the number of those vertices
 */
export function aimAtPrescribed(
  x: Float32Array,
  y: Float32Array,
  target: Float32Array,
  kinematic: Uint8Array,
  r: Float32Array,
  epsilon: number,
): number {
  let count = 0;
  for (let i = 0, k = 0; i < kinematic.length; i++, k += 3) {
    if (kinematic[i] === 0 || r[i] >= epsilon || isSameAt(x, target, k)) continue;
    if (count++ === 0) y.set(x);
    for (let c = k; c < k + 3; c++) y[c] = target[c];
  }
  return count;
}

/** α_i ← 0 where α_i < 1. */
export function allOrNothing(alpha: Float32Array): void {
  for (let i = 0; i < alpha.length; i++) if (alpha[i] < 1) alpha[i] = 0;
}

/** r_i ← 0 for the vertices that moved the whole way. @param moving uint8[V] 1 = aimed at its target */
export function settleArrived(
  residuals: Pick<Residuals, 'r' | 'largest'>,
  moving: Uint8Array,
  alpha: Float32Array,
): void {
  const { r } = residuals;
  let largest = 0;
  for (let i = 0; i < r.length; i++) {
    if (moving[i] === 1 && alpha[i] === 1) r[i] = 0;
    largest = Math.max(largest, r[i]);
  }
  residuals.largest = largest;
}
