import { NEAR_LIMIT } from '../constants.js';
import { tangentInPlane } from '../strain/symmetric-eigen.js';
import { type ElementKind, TURN, type Turn } from './strain-turn.js';
import type { ElementArrays } from './sweep-strains.js';

/*
 * A turn of a triangle in the sweep over strain limits; strain-turn.ts states what it computes. Its matrices are [6], two
 * columns; RᵀF is 2×2, and one rotation makes it diagonal. A garment has a hundred thousand triangles, and a step visits
 * them hundreds of times, so the numbers of a triangle are kept in variables where a tetrahedron has arrays.
 */

// Shared by all calls, because a thread projects one element at a time.
/** F, and Λ' − Λ, by columns */
const f = new Float64Array(6);
const change = new Float64Array(6);

/** F = Σ_k y_k b_kᵀ; the b of a triangle have two entries */
function deform({ y, strainCorners, strainGradients }: ElementArrays, e: number): void {
  const o = 3 * strainCorners[4 * e];
  const p = 3 * strainCorners[4 * e + 1];
  const q = 3 * strainCorners[4 * e + 2];
  const b1x = strainGradients[9 * e];
  const b1y = strainGradients[9 * e + 1];
  const b2x = strainGradients[9 * e + 3];
  const b2y = strainGradients[9 * e + 4];
  const px = y[p] - y[o];
  const py = y[p + 1] - y[o + 1];
  const pz = y[p + 2] - y[o + 2];
  const qx = y[q] - y[o];
  const qy = y[q + 1] - y[o + 1];
  const qz = y[q + 2] - y[o + 2];
  f[0] = px * b1x + qx * b2x;
  f[1] = py * b1x + qy * b2x;
  f[2] = pz * b1x + qz * b2x;
  f[3] = px * b1y + qx * b2y;
  f[4] = py * b1y + qy * b2y;
  f[5] = pz * b1y + qz * b2y;
}

/** Set A: Λ ← Λ', and `change` if it has changed. */
function boundStretch({ strainPush: push, strainLimits }: ElementArrays, e: number, most: number): Turn {
  const at = 18 * e;
  const kappa = strainLimits[4 * e + 2];
  const p0 = push[at];
  const p1 = push[at + 1];
  const p2 = push[at + 2];
  const p3 = push[at + 3];
  const p4 = push[at + 4];
  const p5 = push[at + 5];
  const wasPushing = p0 !== 0 || p1 !== 0 || p2 !== 0 || p3 !== 0 || p4 !== 0 || p5 !== 0;
  const z0 = f[0] + kappa * p0;
  const z1 = f[1] + kappa * p1;
  const z2 = f[2] + kappa * p2;
  const z3 = f[3] + kappa * p3;
  const z4 = f[4] + kappa * p4;
  const z5 = f[5] + kappa * p5;
  const c00 = z0 * z0 + z1 * z1 + z2 * z2;
  const c11 = z3 * z3 + z4 * z4 + z5 * z5;
  const near = NEAR_LIMIT * most;
  // The trace is the sum of the squares of both strains.
  if (!wasPushing && c00 + c11 <= near * near) return TURN.IDLE;
  const c01 = z0 * z3 + z1 * z4 + z2 * z5;
  const t = tangentInPlane(c00, c11, c01, c00 + c11 + Math.abs(c01));
  const d0 = c00 - t * c01;
  const d1 = c11 + t * c01;
  const square = most * most;
  const largest = Math.max(d0, d1);
  if (!wasPushing && largest <= square) return largest > near * near ? TURN.NEAR : TURN.IDLE;
  // The eigenvectors are (cos, −sin) and (sin, cos).
  const cos = 1 / Math.sqrt(1 + t * t);
  const sin = t * cos;
  change[0] = -p0;
  change[1] = -p1;
  change[2] = -p2;
  change[3] = -p3;
  change[4] = -p4;
  change[5] = -p5;
  // Written so that a NaN, of numbers that have overflowed, spreads to all corners, which then stay where they are.
  if (!(d0 <= square)) addAlong(z0, z1, z2, z3, z4, z5, cos, -sin, (1 - most / Math.sqrt(d0)) / kappa);
  if (!(d1 <= square)) addAlong(z0, z1, z2, z3, z4, z5, sin, cos, (1 - most / Math.sqrt(d1)) / kappa);
  for (let k = 0; k < 6; k++) push[at + k] += change[k];
  return TURN.PUSHED;
}

/** Set B: Λ ← Λ', and `change` if it has changed. */
function boundShrink(
  { strainPush: push, strainLimits, strainFrames: frame }: ElementArrays,
  e: number,
  least: number,
): Turn {
  const at = 18 * e + 9;
  const kappa = strainLimits[4 * e + 2];
  const p0 = push[at];
  const p1 = push[at + 1];
  const p2 = push[at + 2];
  const p3 = push[at + 3];
  const p4 = push[at + 4];
  const p5 = push[at + 5];
  const wasPushing = p0 !== 0 || p1 !== 0 || p2 !== 0 || p3 !== 0 || p4 !== 0 || p5 !== 0;
  const z0 = f[0] + kappa * p0;
  const z1 = f[1] + kappa * p1;
  const z2 = f[2] + kappa * p2;
  const z3 = f[3] + kappa * p3;
  const z4 = f[4] + kappa * p4;
  const z5 = f[5] + kappa * p5;
  const r0 = frame[9 * e];
  const r1 = frame[9 * e + 1];
  const r2 = frame[9 * e + 2];
  const r3 = frame[9 * e + 3];
  const r4 = frame[9 * e + 4];
  const r5 = frame[9 * e + 5];
  const near = least / NEAR_LIMIT;
  const c00 = r0 * z0 + r1 * z1 + r2 * z2;
  const c11 = r3 * z3 + r4 * z4 + r5 * z5;
  const c01 = (r0 * z3 + r1 * z4 + r2 * z5 + (r3 * z0 + r4 * z1 + r5 * z2)) / 2;
  const off = Math.abs(c01);
  // Gershgorin: no eigenvalue is less than this.
  if (!wasPushing && Math.min(c00, c11) - off > near) return TURN.IDLE;
  const diagonal = Math.abs(c00) + Math.abs(c11);
  const t = tangentInPlane(c00, c11, c01, diagonal + (diagonal + 2 * off + 2 * near) + off);
  const d0 = c00 - t * c01;
  const d1 = c11 + t * c01;
  const smallest = Math.min(d0, d1);
  if (!wasPushing && smallest >= least) return smallest < near ? TURN.NEAR : TURN.IDLE;
  const cos = 1 / Math.sqrt(1 + t * t);
  const sin = t * cos;
  change[0] = -p0;
  change[1] = -p1;
  change[2] = -p2;
  change[3] = -p3;
  change[4] = -p4;
  change[5] = -p5;
  if (!(d0 >= least)) addAlong(r0, r1, r2, r3, r4, r5, cos, -sin, (d0 - least) / kappa);
  if (!(d1 >= least)) addAlong(r0, r1, r2, r3, r4, r5, sin, cos, (d1 - least) / kappa);
  for (let k = 0; k < 6; k++) push[at + k] += change[k];
  return TURN.PUSHED;
}

/** change += share · M v vᵀ, M [6] by columns, v = (vx, vy) */
function addAlong(
  m0: number,
  m1: number,
  m2: number,
  m3: number,
  m4: number,
  m5: number,
  vx: number,
  vy: number,
  share: number,
): void {
  const ax = share * (m0 * vx + m3 * vy);
  const ay = share * (m1 * vx + m4 * vy);
  const az = share * (m2 * vx + m5 * vy);
  change[0] += ax * vx;
  change[1] += ay * vx;
  change[2] += az * vx;
  change[3] += ax * vy;
  change[4] += ay * vy;
  change[5] += az * vy;
}

/** y_k ← y_k − w_k (Λ' − Λ) b_k; a vertex that cannot move is not written, because triangles of one colour may share it */
function move({ y, strainCorners, strainMasses, strainGradients }: ElementArrays, e: number): void {
  const b1x = strainGradients[9 * e];
  const b1y = strainGradients[9 * e + 1];
  const b2x = strainGradients[9 * e + 3];
  const b2y = strainGradients[9 * e + 4];
  const px = change[0] * b1x + change[3] * b1y;
  const py = change[1] * b1x + change[4] * b1y;
  const pz = change[2] * b1x + change[5] * b1y;
  const qx = change[0] * b2x + change[3] * b2y;
  const qy = change[1] * b2x + change[4] * b2y;
  const qz = change[2] * b2x + change[5] * b2y;
  const w0 = strainMasses[4 * e];
  const w1 = strainMasses[4 * e + 1];
  const w2 = strainMasses[4 * e + 2];
  if (w1 !== 0) {
    const p = 3 * strainCorners[4 * e + 1];
    y[p] -= w1 * px;
    y[p + 1] -= w1 * py;
    y[p + 2] -= w1 * pz;
  }
  if (w2 !== 0) {
    const q = 3 * strainCorners[4 * e + 2];
    y[q] -= w2 * qx;
    y[q + 1] -= w2 * qy;
    y[q + 2] -= w2 * qz;
  }
  if (w0 !== 0) {
    const o = 3 * strainCorners[4 * e];
    y[o] += w0 * (px + qx);
    y[o + 1] += w0 * (py + qy);
    y[o + 2] += w0 * (pz + qz);
  }
}

export const TRIANGLE: ElementKind = { deform, boundStretch, boundShrink, move };
