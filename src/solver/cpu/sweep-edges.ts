import { NEAR_LIMIT } from '../constants.js';
import type { Coloured } from './sweep-plan.js';

/** Edges with limits in the order of their sweep (edge-limits.ts). */
export interface EdgeArrays {
  /** uint32[2·n] vertices, and float32[2·n] their inverse masses */
  readonly ends: Uint32Array;
  readonly masses: Float32Array;
  /** float32[n] R; negative = no limit */
  readonly limit: Float32Array;
  /** float32[3·n] c, and c after the previous sweep */
  readonly push: Float32Array;
  readonly lastPush: Float32Array;
}

/** Edges to be swept. */
export interface EdgeRows extends Coloured {
  readonly arrays: EdgeArrays;
}

export const NO_EDGES: EdgeRows = {
  ...{ offsets: [0], colours: 0 },
  arrays: {
    ends: new Uint32Array(0),
    masses: new Float32Array(0),
    limit: new Float32Array(0),
    push: new Float32Array(0),
    lastPush: new Float32Array(0),
  },
};

interface EdgeSweep extends EdgeArrays {
  readonly y: Float32Array;
  /** uint32[n] edges that act, ascending; a complete sweep fills it from the first edge of each chunk on */
  readonly actingEdges: Uint32Array;
}

interface EdgeNumbers {
  readonly isComplete: number;
  /** shortens every limit, engine units */
  readonly slack: number;
}

/**
 * Projects the edges of a range one after the other, or only those that act. A vertex that cannot move is not written,
 * because edges of one colour may share it.
 *
 * @returns after a visit of every edge, the number of edges that act: those that push, have been projected, or are near
 *   their limit
 */
export function sweepEdges(arrays: EdgeSweep, numbers: EdgeNumbers, first: number, end: number): number {
  const { y, ends, masses, limit: limits, push, actingEdges } = arrays;
  const { slack } = numbers;
  const isComplete = numbers.isComplete === 1;
  let found = first;
  for (let k = first; k < end; k++) {
    const n = isComplete ? k : actingEdges[k];
    if (limits[n] < 0) continue;
    const limit = Math.max(0, limits[n] - slack);
    const q = 3 * n;
    const p = 3 * ends[2 * n];
    const r = 3 * ends[2 * n + 1];
    const ex = y[p] - y[r];
    const ey = y[p + 1] - y[r + 1];
    const ez = y[p + 2] - y[r + 2];
    const squared = ex * ex + ey * ey + ez * ez;
    const px = push[q];
    const py = push[q + 1];
    const pz = push[q + 2];
    if (squared <= limit * limit && px === 0 && py === 0 && pz === 0) {
      if (isComplete && squared > NEAR_LIMIT * NEAR_LIMIT * limit * limit) actingEdges[found++] = n;
      continue;
    }
    if (isComplete) actingEdges[found++] = n;
    const wi = masses[2 * n];
    const wj = masses[2 * n + 1];
    const both = wi + wj;
    const dx = ex + both * px;
    const dy = ey + both * py;
    const dz = ez + both * pz;
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    const f = length > limit ? (1 - limit / length) / both : 0;
    const cx = f * dx - px;
    const cy = f * dy - py;
    const cz = f * dz - pz;
    push[q] = px + cx;
    push[q + 1] = py + cy;
    push[q + 2] = pz + cz;
    if (wi > 0) {
      y[p] -= wi * cx;
      y[p + 1] -= wi * cy;
      y[p + 2] -= wi * cz;
    }
    if (wj > 0) {
      y[r] += wj * cx;
      y[r + 1] += wj * cy;
      y[r + 2] += wj * cz;
    }
  }
  return found - first;
}
