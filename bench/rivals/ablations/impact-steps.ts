import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { CORNERS } from '../../../src/solver/pair-kinds.js';
import type { PairCode } from '../../../src/verify/pair-kinds.js';
import { PathMeeting } from '../../../src/verify/path-pair.js';

/**
 * Step sizes by continuous collision detection, instead of Eqs. 15–17: γ times the first impact of x + t(y − x).
 *
 * SHARED: one α for all vertices, the smallest. The piece is then a part of the tested motion, and safe. OWN: each
 * vertex has the smallest α of its own pairs. Vertices with different α do not follow the tested motion: **unsafe**.
 */
export type ImpactSteps = 'SHARED' | 'OWN';

const meeting = new PathMeeting();
const [from, to] = [new Float64Array(12), new Float64Array(12)];

/** @param alpha float32[V] reduced in place */
export function limitByImpacts(
  steps: ImpactSteps,
  pairs: PairSet,
  list: Uint32Array,
  x: Float32Array,
  y: Float32Array,
  gamma: number,
  alpha: Float32Array,
): void {
  for (const p of list) {
    const v = pairs.vertex.subarray(4 * p, 4 * p + CORNERS[pairs.kind[p]]);
    for (let s = 0; s < v.length; s++) {
      for (let c = 0; c < 3; c++) {
        from[3 * s + c] = x[3 * v[s] + c];
        to[3 * s + c] = y[3 * v[s] + c];
      }
    }
    // The verifier numbers the same kinds, in the same order, from 1.
    const impact = meeting.findImpact((pairs.kind[p] + 1) as PairCode, from, to);
    if (impact !== undefined) for (const i of v) alpha[i] = Math.min(alpha[i], gamma * impact);
  }
  if (steps === 'SHARED') {
    let least = 1;
    for (let i = 0; i < alpha.length; i++) if (isMoving(x, y, i)) least = Math.min(least, alpha[i]);
    for (let i = 0; i < alpha.length; i++) alpha[i] = Math.min(alpha[i], least);
  }
}

const isMoving = (x: Float32Array, y: Float32Array, i: number): boolean =>
  x[3 * i] !== y[3 * i] || x[3 * i + 1] !== y[3 * i + 1] || x[3 * i + 2] !== y[3 * i + 2];
