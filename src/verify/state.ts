import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import {
  type Calm,
  countWithin,
  findCalm,
  ListMaker,
  MOST_RESTLESS,
  measureMotion,
  type Room,
  reachOf,
  usualMotion,
} from './clearance.js';
import { checkRules, collectElements, idsOf, type Relation, readPositions, stateRelations } from './elements.js';
import { ExactMeeting, hasCommonPoint } from './exact-meeting.js';
import { isExcluded } from './excluded.js';
import { type Comparison, compareStates, isPairResting, type KnownMeetings, type VerifierMemory } from './memory.js';
import { compareFindings, EDGE_TRIANGLE, type Finding, FirstFindings, toElementPair } from './pair-kinds.js';
import { PairSearch, skipsKinematic, type VisitPair } from './pair-search.js';
import { Separation } from './separation.js';
import type { PairRules, StateFindings } from './types.js';

/**
 * Every pair of elements with a common point in one state, decided exactly on the given numbers (touching counts):
 * contact edges against contact triangles; rods and particles among themselves; particles against triangles.
 * An edge counts once however many triangles own it. Pairs that share a vertex and pairs of ignored parts are excluded;
 * those of `rules.excluded` are listed separately.
 *
 * @param memory of the same mesh: pairs of elements that are at rest since the remembered state are not tested again
 * @param positions [3·V] in any unit
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function findIntersections(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  memory?: VerifierMemory,
): StateFindings {
  return testState(mesh, positions, rules, undefined, memory);
}

/** Findings of a test that may end before it has found all pairs; no start or answer is free because of them. */
export interface SomeIntersections
  extends Pick<StateFindings, 'intersectionCount' | 'intersections' | 'kinematicIntersectionCount'> {
  /** false = more pairs have a common point, and only those found until then are counted and listed */
  readonly isComplete: boolean;
}

/**
 * {@link findIntersections}, which ends when it finds more than `most` pairs with a common point: if most elements
 * intersect each other, pairs grow with their square.
 *
 * @throws like findIntersections
 */
export function findSomeIntersections(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  most: number,
): SomeIntersections {
  const verdict = new Verdict(rules, most);
  let isComplete = true;
  try {
    testState(mesh, positions, rules, undefined, undefined, verdict);
  } catch (thrown) {
    if (!(thrown instanceof FoundEnough)) throw thrown;
    isComplete = false;
  }
  const { intersectionCount, intersections, kinematicIntersectionCount } = verdict.findings;
  return { intersectionCount, intersections, kinematicIntersectionCount, isComplete };
}

/** Whether so little has changed since the remembered states that {@link findIntersections} is fast. */
export function isMostlyKnown(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  memory?: VerifierMemory,
): boolean {
  if (!memory) return false;
  const x = readPositions(mesh, positions, 'positions');
  const known = usable(memory, mesh, rules);
  if (known && compareStates(x, known.x).isWorthwhile) return true;
  return findCalmOf(memory, mesh, x, rules) !== undefined;
}

/** The calm vertices, if a list of the memory serves this test. */
function findCalmOf(memory: VerifierMemory, of: CollisionMesh, x: Float64Array, rules: PairRules): Calm | undefined {
  const clearance = memory.meetingClearance;
  if (!clearance || memory.mesh !== of || !(clearance.hasKinematic || passesOverKinematic(rules))) return undefined;
  const calm = findCalm(measureMotion(x, clearance.x), clearance, 0);
  return calm.moved <= MOST_RESTLESS * calm.marks.length ? calm : undefined;
}

/** Pairs of kinematic elements that no test searched for are unknown; they matter unless these rules skip them. */
function usable({ mesh, meetings }: VerifierMemory, of: CollisionMesh, rules: PairRules): KnownMeetings | undefined {
  return mesh === of && (meetings?.hasKinematic === true || passesOverKinematic(rules)) ? meetings : undefined;
}

/** Whether pairs of two kinematic elements are not even searched for. */
const passesOverKinematic = (rules: PairRules): boolean => skipsKinematic(rules) && rules.countsKinematic === false;

/**
 * @param doubtful the edge-triangle pairs to decide, if a filter has cleared all others; undefined = find them all
 * @param verdict an empty one of these rules
 */
export function testState(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  doubtful: DoubtfulPairs | undefined,
  memory?: VerifierMemory,
  verdict = new Verdict(rules),
): StateFindings {
  checkRules(rules);
  const x = readPositions(mesh, positions, 'positions');
  const search = new PairSearch(mesh, rules.checkpoint);
  const meeting = new ExactMeeting(x);
  const { passesOver } = verdict;
  let pairsTested = 0;
  const decide: VisitPair = (relation, i, j, isKinematic) => {
    const { code, a, b } = relation;
    const isMeeting = hasCommonPoint(meeting, code, a.vertices, a.size * i, b.vertices, b.size * j);
    if (isMeeting) verdict.add(relation, i, j, isKinematic);
  };
  const relations = stateRelations(collectElements(mesh));
  const isFiltered = ({ code }: Relation): boolean => doubtful !== undefined && code === EDGE_TRIANGLE;
  for (const relation of relations) {
    if (!doubtful || !isFiltered(relation)) continue;
    pairsTested += doubtful.pairsTested;
    search.forEachOf(relation, doubtful.pairs, decide);
  }
  const unfiltered = relations.filter((relation) => !isFiltered(relation));
  const count: VisitPair = (relation, i, j, isKinematic) => {
    if (isKinematic && passesOver) return;
    pairsTested++;
    decide(relation, i, j, isKinematic);
  };
  const held = doubtful || memory?.mesh !== mesh ? undefined : memory;
  const known = held && usable(held, mesh, rules);
  const since = known && compareStates(x, known.x);
  if (known && since && since.moved > 0) held?.noteMotion(usualMotion(measureMotion(x, known.x)));
  const calm = held && since?.moved !== 0 ? findCalmOf(held, mesh, x, rules) : undefined;
  let served: Calm | undefined;
  if (known && since?.isWorthwhile && !isCalmer(calm, since)) {
    const { resting, moved } = since;
    search.forEachOfCodes(relations, known.pairs, (relation, i, j, isKinematic) => {
      if (isPairResting(resting, relation, i, j)) verdict.add(relation, i, j, isKinematic);
    });
    if (moved > 0) search.forEach([x], unfiltered, { gap: 0 }, passesOver, count, resting);
  } else if (held && calm) {
    const { marks, moved } = calm;
    held.meetingPlan.noteServed();
    served = calm;
    const { list } = held.meetingClearance!;
    search.forEachListed(relations, list, countWithin(list, reachOf(calm)), (relation, i, j, isKinematic) => {
      if (moved === 0 || isPairResting(marks, relation, i, j)) count(relation, i, j, isKinematic);
    });
    if (moved > 0) search.forEach([x], unfiltered, { gap: 0 }, passesOver, count, marks);
  } else {
    const room = rules.hasTimeToPrepare?.() === false ? undefined : held?.meetingPlan.begin(held.motions, mesh, x);
    const sifted =
      room === undefined
        ? search.sift([x], unfiltered, 0, { kind: 'MEET', skipsKinematic: passesOver }, decide)
        : undefined;
    pairsTested += sifted?.pairsTested ?? 0;
    if (held && room !== undefined) searchListing(search, x, relations, room, held, positions, passesOver, count);
    else if (!sifted) search.forEach([x], unfiltered, { gap: 0 }, passesOver, count);
  }
  memory?.noteTest(since?.isWorthwhile !== true && !calm, served);
  if (memory?.mesh === mesh && since?.moved !== 0) memory.meetings = verdict.toMemory(positions);
  return { ...verdict.findings, pairsTested, doubtfulPairs: meeting.doubtfulPairs };
}

/** Whether a list leaves fewer vertices to search for than the test for rest. */
const isCalmer = (calm: Calm | undefined, { moved }: Comparison): boolean => calm !== undefined && calm.moved < moved;

/** Searches up to `room`, and remembers the pairs that are not certainly farther apart; visits all that may meet. */
function searchListing(
  search: PairSearch,
  x: Float64Array,
  relations: readonly Relation[],
  room: Room,
  memory: VerifierMemory,
  positions: Positions,
  passesOver: boolean,
  visit: VisitPair,
): void {
  const list = new ListMaker(relations, 0, room);
  const separation = new Separation(x);
  const reach = { gap: list.width };
  search.forEach([x], relations, reach, passesOver, (relation, i, j, isKinematic) => {
    if (isKinematic && passesOver) return;
    const { code, a, b } = relation;
    if (!list.isGivenUp) {
      const gap = separation.gapOf(a.vertices, a.size * i, a.size, b.vertices, b.size * j, b.size, list.width);
      list.add(code, i, j, Math.max(0, gap));
      reach.gap = list.isGivenUp ? 0 : list.width;
      if (gap > 0) return;
    }
    visit(relation, i, j, isKinematic);
  });
  const made = list.finish(positions.slice(), !passesOver);
  memory.meetingPlan.noteMade(made !== undefined);
  memory.meetingClearance = made;
}

/** More pairs with a common point than this are not remembered. */
const MOST_MEETINGS = 4096;

/** Ends a test that has found as many pairs as it may. */
class FoundEnough extends Error {}

/** Applies the rules of a test to the pairs that have a common point. */
class Verdict {
  readonly passesOver: boolean;
  readonly #most: number;
  #found = 0;
  readonly #rules: PairRules;
  readonly #skips: boolean;
  readonly #listed: FirstFindings;
  readonly #excluded: Finding[] = [];
  /** code, i, j of every pair */
  readonly #pairs: number[] = [];
  #count = 0;
  #kinematicCount = 0;

  /** @param most number of pairs that it takes */
  constructor(rules: PairRules, most = Number.POSITIVE_INFINITY) {
    this.#most = most;
    this.#rules = rules;
    this.#skips = skipsKinematic(rules);
    this.passesOver = passesOverKinematic(rules);
    this.#listed = new FirstFindings(rules.maxPairs, compareFindings);
  }

  /** Adds a pair that has a common point. @throws FoundEnough if it takes no more */
  add(relation: Relation, i: number, j: number, isKinematic: boolean): void {
    if (isKinematic && this.passesOver) return;
    if (this.#found === this.#most) throw new FoundEnough();
    this.#found++;
    if (this.#pairs.length <= 3 * MOST_MEETINGS) this.#pairs.push(relation.code, i, j);
    if (isKinematic) this.#kinematicCount++;
    if (isKinematic && this.#skips) return;
    const finding = { code: relation.code, ids: idsOf(relation, i, j) };
    // Only pairs that meet are checked for exclusion; the search visits hundreds of others for each of them.
    if (isExcluded(this.#rules.excluded, finding.code, finding.ids)) {
      this.#excluded.push(finding);
      return;
    }
    this.#count++;
    this.#listed.offer(finding);
  }

  get findings() {
    return {
      intersectionCount: this.#count,
      intersections: this.#listed.list().map(toElementPair),
      kinematicIntersectionCount: this.#kinematicCount,
      ...(this.#rules.excluded ? { excludedPairs: this.#excluded.sort(compareFindings).map(toElementPair) } : {}),
    };
  }

  /** undefined = too many pairs to remember */
  toMemory(positions: Positions): KnownMeetings | undefined {
    if (this.#pairs.length > 3 * MOST_MEETINGS) return undefined;
    return { x: positions.slice(), hasKinematic: !this.passesOver, pairs: Uint32Array.from(this.#pairs) };
  }
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
 * {@link findIntersections} for a state of which a filter has cleared most pairs: the same exact test decides the rest
 * and the pairs of rods and particles, which no filter covers. Counts and lists are the same; pairsTested
 * may be larger if the filter had to round.
 *
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function decideDoubtful(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  doubtful: DoubtfulPairs,
  memory?: VerifierMemory,
): StateFindings {
  return testState(mesh, positions, rules, doubtful, memory);
}
