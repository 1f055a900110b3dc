import type { ElementPair } from '../contract/elements.js';
import type { PairCounts } from '../contract/report.js';
import { LIMITING_PAIRS } from './constants.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from './pair-kinds.js';

/** Pairs of P by kind, for a report. @param countOf returns the number of pairs of a kind */
export function countPairs(
  countOf: (kind: number) => number,
): Pick<PairCounts, 'vertexTriangle' | 'edgeEdge' | 'vertexEdge' | 'vertexVertex'> {
  const counts = { vertexTriangle: 0, edgeEdge: 0, vertexEdge: 0, vertexVertex: 0 };
  PAIR_KINDS.forEach(({ count }, kind) => {
    counts[count] = countOf(kind);
  });
  return counts;
}

/**
 * The pairs that limited the vertices with the largest residuals in the last step.
 *
 * @param residuals float32[V] r of Eq. 17
 * @param limiterOf the last pair that limited a vertex, an index into P; negative = none
 * @param epsilon ε: vertices below it are finished
 * @returns up to LIMITING_PAIRS different indices into P
 */
export function findLimitingPairs(
  residuals: Float32Array,
  limiterOf: (vertex: number) => number,
  epsilon: number,
  pairCount: number,
): number[] {
  const worst: number[] = [];
  for (let i = 0; i < residuals.length; i++) {
    if (residuals[i] < epsilon || limiterOf(i) < 0) continue;
    let n = worst.length;
    while (n > 0 && residuals[worst[n - 1]] < residuals[i]) n--;
    if (n < LIMITING_PAIRS) worst.splice(n, 0, i);
    if (worst.length > LIMITING_PAIRS) worst.pop();
  }
  return [...new Set(worst.map(limiterOf))].filter((p) => p < pairCount);
}

/**
 * Describes a pair of P for reports; distance and normal in engine units.
 *
 * @param slots the four vertex slots
 */
export function describePair(
  kind: number,
  slots: ArrayLike<number>,
  distance: number,
  [nx, ny, nz]: ArrayLike<number> & Iterable<number>,
): ElementPair {
  const ids = Array.from(slots).slice(0, CORNERS[kind]);
  return {
    kind: PAIR_KINDS[kind].name,
    a: ids.slice(0, SIDE_A[kind]),
    b: ids.slice(SIDE_A[kind]),
    distance,
    normal: [nx, ny, nz],
  };
}
