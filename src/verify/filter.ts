import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import { testState } from './state.js';
import type { PairRules, StateFindings } from './types.js';

/** What a filter leaves of the edge-triangle pairs of one state. */
export interface DoubtfulPairs {
  /** pairs with overlapping boxes that it looked at */
  readonly pairsTested: number;
  /** uint32[2·n] index of the edge, index of the triangle (of CollisionMesh), in any order, each pair once */
  readonly pairs: Uint32Array;
}

/**
 * Looks through the edges and triangles of one mesh for pairs that may have a common point. What it excludes certainly
 * has none, shares a vertex, or belongs to two ignored parts.
 */
export interface StateFilter {
  /**
   * @param positions [3·V], finite
   * @returns undefined for a state that it is not made for: that is to be tested without it
   */
  findDoubtful(positions: Positions): Promise<DoubtfulPairs | undefined>;
  close(): void;
}

/**
 * {@link findIntersections} for a state of which a filter has cleared most pairs: the rest is decided by the same exact
 * test, and so are the pairs of rods and particles, which no filter looks at. Counts and lists are the same; pairsTested
 * may be larger where the filter had to round.
 *
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function decideDoubtful(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  doubtful: DoubtfulPairs,
): StateFindings {
  return testState(mesh, positions, rules, doubtful);
}
