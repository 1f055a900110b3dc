import { NEAR_LIMIT } from '../constants.js';
import { gramMatrix } from '../strain/deformation.js';
import { symmetricEigen } from '../strain/symmetric-eigen.js';

/*
 * The two convex sets of an element with strain limits, and a step on the dual of each (strain-limits.ts derives it):
 *
 *   Z = F + κ Λ,   Λ' = (Z − P(Z)) / κ,   P the nearest point of the set in the Frobenius norm
 *
 * Matrices are [9] by columns. Those of a triangle have two columns; the third stored column is 0, and is neither read
 * nor written.
 */

/** Entries of the matrices of an element. */
const entriesOf = (isTriangle: boolean): number => (isTriangle ? 6 : 9);

/** What the visit of an element's set has found. */
export const TURN = {
  /** far inside, and there is no push to withdraw */
  IDLE: 0,
  /** inside, but near its limit */
  NEAR: 1,
  /** Λ has changed, or may have */
  PUSHED: 2,
} as const;
export type Turn = (typeof TURN)[keyof typeof TURN];

/**
 * A: σ_max(F) ≤ `most`. P clamps singular values: Z − P(Z) = Σ (1 − most/σ_i) Z v_i v_iᵀ over σ_i > most, v_i
 * eigenvectors of ZᵀZ.
 *
 * @param push Λ at `at`, becomes Λ'
 * @param change overwritten by Λ' − Λ if the result is PUSHED
 */
export function boundStretch(
  f: Float64Array,
  isTriangle: boolean,
  push: Float32Array,
  at: number,
  most: number,
  kappa: number,
  change: Float64Array,
): Turn {
  const entries = entriesOf(isTriangle);
  const wasPushing = addPush(f, push, at, kappa, entries);
  gramMatrix(z, gram);
  const near = NEAR_LIMIT * most;
  // The trace is the sum of the squares of all strains.
  if (!wasPushing && gram[0]! + gram[1]! + gram[2]! <= near * near) return TURN.IDLE;
  symmetricEigen(gram, values, vectors);
  const largest = Math.max(values[0]!, values[1]!, values[2]!);
  if (!wasPushing && largest <= most * most) return largest > near * near ? TURN.NEAR : TURN.IDLE;
  for (let k = 0; k < entries; k++) change[k] = -push[at + k]!;
  for (let i = 0; i < 3; i++) {
    if (values[i]! <= most * most) continue;
    addAlong(change, z, 0, i, (1 - most / Math.sqrt(values[i]!)) / kappa, entries);
  }
  for (let k = 0; k < entries; k++) push[at + k] = push[at + k]! + change[k]!;
  return TURN.PUSHED;
}

/**
 * B: ½ (RᵀF + FᵀR) ⪰ `least` I. P clamps eigenvalues d_i of ½ (RᵀZ + ZᵀR): Z − P(Z) = −Σ (least − d_i) R v_i v_iᵀ over
 * d_i < least.
 *
 * @param frame R at `frameAt`
 * @param push Λ at `at`, becomes Λ'
 * @param change overwritten by Λ' − Λ if the result is PUSHED
 */
export function boundShrink(
  f: Float64Array,
  frame: Float32Array,
  frameAt: number,
  isTriangle: boolean,
  push: Float32Array,
  at: number,
  least: number,
  kappa: number,
  change: Float64Array,
): Turn {
  const entries = entriesOf(isTriangle);
  const wasPushing = addPush(f, push, at, kappa, entries);
  const near = least / NEAR_LIMIT;
  symmetricPart(frame, frameAt, isTriangle);
  // The third strain of a triangle has no limit: a number above all strains that do.
  if (isTriangle) gram[2] = Math.abs(gram[0]!) + Math.abs(gram[1]!) + 2 * Math.abs(gram[3]!) + 2 * near;
  // Gershgorin: no eigenvalue is less than this.
  const off = Math.max(
    Math.abs(gram[3]!) + Math.abs(gram[4]!),
    Math.abs(gram[3]!) + Math.abs(gram[5]!),
    Math.abs(gram[4]!) + Math.abs(gram[5]!),
  );
  if (!wasPushing && Math.min(gram[0]!, gram[1]!, gram[2]!) - off > near) return TURN.IDLE;
  symmetricEigen(gram, values, vectors);
  const smallest = Math.min(values[0]!, values[1]!, values[2]!);
  if (!wasPushing && smallest >= least) return smallest < near ? TURN.NEAR : TURN.IDLE;
  for (let k = 0; k < entries; k++) change[k] = -push[at + k]!;
  for (let i = 0; i < 3; i++) {
    if (values[i]! >= least) continue;
    addAlong(change, frame, frameAt, i, (values[i]! - least) / kappa, entries);
  }
  for (let k = 0; k < entries; k++) push[at + k] = push[at + k]! + change[k]!;
  return TURN.PUSHED;
}

// Shared by all calls, because there is one thread and no call reads data of another.
const z = new Float64Array(9);
const gram = new Float64Array(6);
const values = new Float64Array(3);
const vectors = new Float64Array(9);

/** z ← F + κ Λ. @returns whether Λ ≠ 0 */
function addPush(f: Float64Array, push: Float32Array, at: number, kappa: number, entries: number): boolean {
  let isPushing = false;
  for (let k = 0; k < entries; k++) {
    const entry = push[at + k]!;
    if (entry !== 0) isPushing = true;
    z[k] = f[k]! + kappa * entry;
  }
  for (let k = entries; k < 9; k++) z[k] = 0;
  return isPushing;
}

/** gram ← ½ (RᵀZ + ZᵀR); for a triangle its 2×2 block, and 0 elsewhere */
function symmetricPart(frame: Float32Array, at: number, isTriangle: boolean): void {
  gram[0] = dot(frame, at, 0);
  gram[1] = dot(frame, at + 3, 3);
  gram[3] = (dot(frame, at, 3) + dot(frame, at + 3, 0)) / 2;
  gram[2] = isTriangle ? 0 : dot(frame, at + 6, 6);
  gram[4] = isTriangle ? 0 : (dot(frame, at, 6) + dot(frame, at + 6, 0)) / 2;
  gram[5] = isTriangle ? 0 : (dot(frame, at + 3, 6) + dot(frame, at + 6, 3)) / 2;
}

function dot(a: Float32Array, i: number, j: number): number {
  return a[i]! * z[j]! + a[i + 1]! * z[j + 1]! + a[i + 2]! * z[j + 2]!;
}

/** change += share · M v_i v_iᵀ */
function addAlong(
  change: Float64Array,
  m: ArrayLike<number>,
  at: number,
  i: number,
  share: number,
  entries: number,
): void {
  const vx = vectors[3 * i]!;
  const vy = vectors[3 * i + 1]!;
  const vz = vectors[3 * i + 2]!;
  for (let r = 0; r < 3; r++) {
    const third = entries === 6 ? 0 : m[at + 6 + r]!;
    const along = share * (m[at + r]! * vx + m[at + 3 + r]! * vy + third * vz);
    change[r] = change[r]! + along * vx;
    change[3 + r] = change[3 + r]! + along * vy;
    if (entries > 6) change[6 + r] = change[6 + r]! + along * vz;
  }
}
