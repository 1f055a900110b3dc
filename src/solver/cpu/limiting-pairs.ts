import type { ElementPair } from '../../contract/elements.js';
import { describePair, findLimitingPairs } from '../pair-report.js';
import type { Forward } from './forward.js';
import type { Residuals } from './motion.js';
import type { PairSet } from './pair-set.js';

/**
 * Returns a few pairs that limited the vertices with the largest residuals in the last step; distances in engine units.
 * There are none if that step was abandoned, or if P has been replaced since, because its pairs have no distances yet.
 */
export function describeLimiting(
  { r }: Residuals,
  { limiter, limitedIn }: Forward,
  epsilon: number,
  { revision, count, kind, vertex, distance, normal }: PairSet,
): readonly ElementPair[] {
  if (limitedIn !== revision) return [];
  return findLimitingPairs(r, (i) => limiter[i], epsilon, count).map((p) =>
    describePair(kind[p], vertex.subarray(4 * p, 4 * p + 4), distance[p], normal.subarray(3 * p, 3 * p + 3)),
  );
}
