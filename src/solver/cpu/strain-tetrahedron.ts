import { NEAR_LIMIT } from '../constants.js';
import { deformationGradient, gramMatrix } from '../strain/deformation.js';
import { symmetricEigen } from '../strain/symmetric-eigen.js';
import { type ElementKind, TURN, type Turn } from './strain-turn.js';
import type { ElementArrays } from './sweep-strains.js';

// Shared by all calls, because a thread projects one element at a time. Matrices are [9] by columns.
/** F, Z and Λ' − Λ */
const f = new Float64Array(9);
const z = new Float64Array(9);
const change = new Float64Array(9);
/** a symmetric matrix and its eigenvectors, in the form of symmetricEigen */
const gram = new Float64Array(6);
const values = new Float64Array(3);
const vectors = new Float64Array(9);

/** Set A: Λ ← Λ', and `change` if it has changed. */
function boundStretch({ strainPush, strainLimits }: ElementArrays, e: number, most: number): Turn {
  const at = 18 * e;
  const kappa = strainLimits[4 * e + 2];
  const wasPushing = addPush(strainPush, at, kappa);
  gramMatrix(z, gram);
  const near = NEAR_LIMIT * most;
  // The trace is the sum of the squares of all strains.
  if (!wasPushing && gram[0] + gram[1] + gram[2] <= near * near) return TURN.IDLE;
  symmetricEigen(gram, values, vectors);
  const largest = Math.max(values[0], values[1], values[2]);
  if (!wasPushing && largest <= most * most) return largest > near * near ? TURN.NEAR : TURN.IDLE;
  for (let k = 0; k < 9; k++) change[k] = -strainPush[at + k];
  for (let i = 0; i < 3; i++) {
    // Written so that a NaN, of numbers that have overflowed, spreads to all corners, which then stay where they are.
    if (!(values[i] <= most * most)) addAlong(z, 0, i, (1 - most / Math.sqrt(values[i])) / kappa);
  }
  for (let k = 0; k < 9; k++) strainPush[at + k] += change[k];
  return TURN.PUSHED;
}

/** Set B: Λ ← Λ', and `change` if it has changed. */
function boundShrink({ strainPush, strainLimits, strainFrames }: ElementArrays, e: number, least: number): Turn {
  const at = 18 * e + 9;
  const kappa = strainLimits[4 * e + 2];
  const wasPushing = addPush(strainPush, at, kappa);
  const near = least / NEAR_LIMIT;
  symmetricPart(strainFrames, 9 * e);
  // Gershgorin: no eigenvalue is less than this.
  const off = Math.max(
    Math.abs(gram[3]) + Math.abs(gram[4]),
    Math.abs(gram[3]) + Math.abs(gram[5]),
    Math.abs(gram[4]) + Math.abs(gram[5]),
  );
  if (!wasPushing && Math.min(gram[0], gram[1], gram[2]) - off > near) return TURN.IDLE;
  symmetricEigen(gram, values, vectors);
  const smallest = Math.min(values[0], values[1], values[2]);
  if (!wasPushing && smallest >= least) return smallest < near ? TURN.NEAR : TURN.IDLE;
  for (let k = 0; k < 9; k++) change[k] = -strainPush[at + k];
  for (let i = 0; i < 3; i++) {
    if (!(values[i] >= least)) addAlong(strainFrames, 9 * e, i, (values[i] - least) / kappa);
  }
  for (let k = 0; k < 9; k++) strainPush[at + k] += change[k];
  return TURN.PUSHED;
}

/**
 * y_k ← y_k − w_k Δ b_k, also for a triangle, whose fourth corner has no mass; a vertex that cannot move is not written,
 * because elements of one colour may share it.
 *
 * @param change [9] Δ by columns
 */
export function moveCorners(
  { y, strainCorners, strainMasses, strainGradients }: ElementArrays,
  e: number,
  change: Float64Array,
): void {
  let ox = 0;
  let oy = 0;
  let oz = 0;
  for (let k = 1; k < 4; k++) {
    const g = 9 * e + 3 * (k - 1);
    const mx = change[0] * strainGradients[g] + change[3] * strainGradients[g + 1] + change[6] * strainGradients[g + 2];
    const my = change[1] * strainGradients[g] + change[4] * strainGradients[g + 1] + change[7] * strainGradients[g + 2];
    const mz = change[2] * strainGradients[g] + change[5] * strainGradients[g + 1] + change[8] * strainGradients[g + 2];
    ox += mx;
    oy += my;
    oz += mz;
    const w = strainMasses[4 * e + k];
    if (w === 0) continue;
    const v = 3 * strainCorners[4 * e + k];
    y[v] -= w * mx;
    y[v + 1] -= w * my;
    y[v + 2] -= w * mz;
  }
  const w = strainMasses[4 * e];
  if (w === 0) return;
  const o = 3 * strainCorners[4 * e];
  y[o] += w * ox;
  y[o + 1] += w * oy;
  y[o + 2] += w * oz;
}

/** z ← F + κ Λ. @returns whether Λ ≠ 0 */
function addPush(push: Float32Array, at: number, kappa: number): boolean {
  let isPushing = false;
  for (let k = 0; k < 9; k++) {
    const entry = push[at + k];
    if (entry !== 0) isPushing = true;
    z[k] = f[k] + kappa * entry;
  }
  return isPushing;
}

/** gram ← ½ (RᵀZ + ZᵀR) */
function symmetricPart(frame: Float32Array, at: number): void {
  gram[0] = dot(frame, at, 0);
  gram[1] = dot(frame, at + 3, 3);
  gram[2] = dot(frame, at + 6, 6);
  gram[3] = (dot(frame, at, 3) + dot(frame, at + 3, 0)) / 2;
  gram[4] = (dot(frame, at, 6) + dot(frame, at + 6, 0)) / 2;
  gram[5] = (dot(frame, at + 3, 6) + dot(frame, at + 6, 3)) / 2;
}

function dot(a: Float32Array, i: number, j: number): number {
  return a[i] * z[j] + a[i + 1] * z[j + 1] + a[i + 2] * z[j + 2];
}

/** change += share · M v_i v_iᵀ */
function addAlong(m: ArrayLike<number>, at: number, i: number, share: number): void {
  const vx = vectors[3 * i];
  const vy = vectors[3 * i + 1];
  const vz = vectors[3 * i + 2];
  for (let r = 0; r < 3; r++) {
    const along = share * (m[at + r]! * vx + m[at + 3 + r]! * vy + m[at + 6 + r]! * vz);
    change[r] += along * vx;
    change[3 + r] += along * vy;
    change[6 + r] += along * vz;
  }
}

export const TETRAHEDRON: ElementKind = {
  deform: ({ y, strainCorners, strainGradients }, e) => deformationGradient(y, strainCorners, strainGradients, e, f),
  boundStretch,
  boundShrink,
  move: (arrays, e) => moveCorners(arrays, e, change),
};
