import type { ElementPair } from '../../contract/elements.js';
import { describePair, findLimitingPairs } from '../pair-report.js';
import type { Forward } from './forward.js';
import type { Residuals } from './motion.js';
import type { PairSet } from './pair-set.js';

/**
 * A few pairs that limit the vertices with the largest residuals; distances in engine units.
 *
 * @param count pairs that may be named: 0 where P is not the one that the last step was bounded by
 */
export function describeLimiting(
  { r }: Residuals,
  { limiter }: Forward,
  epsilon: number,
  { kind, vertex, distance, normal }: PairSet,
  count: number,
): readonly ElementPair[] {
  return findLimitingPairs(r, (i) => limiter[i], epsilon, count).map((p) =>
    describePair(kind[p], vertex.subarray(4 * p, 4 * p + 4), distance[p], normal.subarray(3 * p, 3 * p + 3)),
  );
}
