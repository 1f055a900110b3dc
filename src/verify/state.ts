import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import { checkRules, collectElements, idsOf, type Relation, readPositions, stateRelations } from './elements.js';
import { ExactMeeting, hasCommonPoint } from './exact-meeting.js';
import { isExcluded } from './excluded.js';
import { compareFindings, EDGE_TRIANGLE, type Finding, FirstFindings, toElementPair } from './pair-kinds.js';
import { PairSearch, skipsKinematic, type VisitPair } from './pair-search.js';
import type { PairRules, StateFindings } from './types.js';

/**
 * Every pair of elements with a common point in one state, decided exactly on the given numbers (touching counts):
 * contact edges against contact triangles; rods and particles among themselves; particles against triangles.
 * An edge counts once however many triangles own it. Pairs that share a vertex and pairs of ignored parts are excluded;
 * those of `rules.excluded` are listed separately.
 *
 * @param positions [3·V] in any unit
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function findIntersections(mesh: CollisionMesh, positions: Positions, rules: PairRules): StateFindings {
  return testState(mesh, positions, rules, undefined);
}

/** @param doubtful the edge-triangle pairs to decide, where a filter has cleared the others; undefined = find them all */
export function testState(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  doubtful: DoubtfulPairs | undefined,
): StateFindings {
  checkRules(rules);
  const x = readPositions(mesh, positions, 'positions');
  const search = new PairSearch(mesh, rules.checkpoint);
  const meeting = new ExactMeeting(x);
  const listed = new FirstFindings(rules.maxPairs, compareFindings);
  const skips = skipsKinematic(rules);
  const excluded: Finding[] = [];
  let intersectionCount = 0;
  let kinematicIntersectionCount = 0;
  let pairsTested = 0;
  const decide: VisitPair = (relation, i, j, isKinematic) => {
    const { code, a, b } = relation;
    if (!hasCommonPoint(meeting, code, a.vertices, a.size * i, b.vertices, b.size * j)) return;
    if (isKinematic) kinematicIntersectionCount++;
    if (isKinematic && skips) return;
    const finding = { code: relation.code, ids: idsOf(relation, i, j) };
    // Only pairs that meet are checked for exclusion; the search visits hundreds of others for each of them.
    if (isExcluded(rules.excluded, finding.code, finding.ids)) {
      excluded.push(finding);
      return;
    }
    intersectionCount++;
    listed.offer(finding);
  };
  const relations = stateRelations(collectElements(mesh));
  const isFiltered = ({ code }: Relation): boolean => doubtful !== undefined && code === EDGE_TRIANGLE;
  for (const relation of relations) {
    if (!doubtful || !isFiltered(relation)) continue;
    pairsTested += doubtful.pairsTested;
    search.forEachOf(relation, doubtful.pairs, decide);
  }
  const unfiltered = relations.filter((relation) => !isFiltered(relation));
  // Kinematic pairs are counted even if they are not reported, so the search skips none.
  const sifted = search.sift([x], unfiltered, 0, { kind: 'MEET', skipsKinematic: false }, decide);
  pairsTested += sifted?.pairsTested ?? 0;
  if (!sifted) {
    search.forEach([x], unfiltered, { gap: 0 }, false, (relation, i, j, isKinematic) => {
      pairsTested++;
      decide(relation, i, j, isKinematic);
    });
  }
  return {
    intersectionCount,
    intersections: listed.list().map(toElementPair),
    kinematicIntersectionCount,
    pairsTested,
    doubtfulPairs: meeting.doubtfulPairs,
    ...(rules.excluded ? { excludedPairs: excluded.sort(compareFindings).map(toElementPair) } : {}),
  };
}

/** The edge-triangle pairs of one state that a filter could not exclude. */
export interface DoubtfulPairs {
  /** pairs with overlapping boxes that the filter tested */
  readonly pairsTested: number;
  /** uint32[2·n] index of the edge, index of the triangle (of CollisionMesh), in any order, each pair once */
  readonly pairs: Uint32Array;
}

/**
 * Searches the edges and triangles of one mesh for pairs that may have a common point. A pair that it excludes certainly has
 * none, shares a vertex, or belongs to two ignored parts.
 */
export interface StateFilter {
  /**
   * @param positions [3·V], finite
   * @returns undefined for a state that it cannot handle, which must be tested without it
   */
  findDoubtful(positions: Positions): Promise<DoubtfulPairs | undefined>;
  close(): void;
}

/**
 * {@link findIntersections} for a state of which a filter has cleared most pairs: the rest is decided by the same exact
 * test, and so are the pairs of rods and particles, which no filter covers. Counts and lists are the same; pairsTested
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
