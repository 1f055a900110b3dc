import type { ElementPair } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import { type Reach, reachTo } from './box-join.js';
import { ClosestPoints } from './closest.js';
import { type ContactList, FoundContacts } from './contact-list.js';
import { checkRules, collectElements, distanceRelations, gather, idsOf, readPositions } from './elements.js';
import { isExcluded } from './excluded.js';
import {
  codeOf,
  compareFindings,
  type Finding,
  FirstFindings,
  type PairCode,
  shapeOf,
  toElementPair,
} from './pair-kinds.js';
import { PairSearch, skipsKinematic, type VisitPair } from './pair-search.js';
import type { DistanceFindings, PairRules } from './types.js';

/** Receives a pair while `closest` holds its closest points; ids are those of side a, then of side b. */
type VisitClose = (code: PairCode, ids: number[], closest: ClosestPoints) => void;

/**
 * Smallest distance between elements that share no vertex, in double precision: vertex–triangle and edge–edge pairs,
 * and those of rods and particles. Pairs of ignored parts, those of `rules.excluded`, and kinematic pairs under SKIP are
 * excluded. The latter are excluded also at the border of a kinematic region, where the path test includes them, because a
 * distance between prescribed positions says nothing about the answer.
 *
 * @param positions [3·V] in any unit
 * @param closerThan ≥ 0, same unit; Infinity finds the closest pairs however far apart they are
 * @returns the smallest distance not above `closerThan`, and the closest `rules.maxPairs` pairs with unit normals from
 *   b to a, ascending by distance, then by kind and ids
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function findDistances(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  closerThan: number,
): DistanceFindings {
  checkReach(closerThan);
  checkRules(rules);
  const alone = findLeastDistance(mesh, positions, rules, closerThan);
  if (alone) return alone;
  const capacity = Math.max(1, rules.maxPairs);
  const closest = new FirstFindings(capacity, compareByDistance);
  const x = readPositions(mesh, positions, 'positions');
  const reach: Reach = { gap: reachTo(closerThan) };
  visitClosePairs(mesh, x, rules, reach, (code, ids, points) => {
    if (points.distance > closerThan) return;
    closest.offer({ code, ids, distance: points.distance, normal: points.findNormal(code) });
    // Once the list is full, only closer pairs matter: the search narrows while it runs.
    const worst = closest.worst?.distance;
    if (worst !== undefined) reach.gap = Math.min(reach.gap, reachTo(worst));
  });
  const list = closest.list();
  return {
    minDistance: list[0]?.distance,
    closePairs: list.slice(0, rules.maxPairs).map(toElementPair),
  };
}

/** Whether a pair counts as close, by its vertices, of which the first `sideA` are those of side a, and its distance. */
export type IsClose = (ids: readonly number[], sideA: number, distance: number) => boolean;

export interface CloseCount extends DistanceFindings {
  readonly closeCount: number;
  /** pairs that were measured, because the boxes of their elements are near each other */
  readonly measuredCount: number;
  /** whether all such pairs were measured; if not, only the measured ones are counted, named and considered */
  readonly isComplete: boolean;
}

/** Ends a search that has measured as many pairs as it may. */
class MeasuredEnough extends Error {}

/**
 * Counts the close pairs among those of {@link findDistances}, and names the closest `rules.maxPairs` of them.
 *
 * @param closerThan finite, ≥ 0: no pair beyond it is close
 * @param mostMeasured number of pairs that may be measured: the work of this search, which finds the same ones each time
 * @returns `minDistance` is the smallest distance not above `closerThan`, whether or not its pair counts
 * @throws like findDistances
 */
export function countClosePairs(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  closerThan: number,
  isClose: IsClose,
  mostMeasured = Number.POSITIVE_INFINITY,
): CloseCount {
  checkReach(closerThan);
  checkRules(rules);
  const x = readPositions(mesh, positions, 'positions');
  const closest = new FirstFindings(Math.max(1, rules.maxPairs), compareByDistance);
  let closeCount = 0;
  let measuredCount = 0;
  let least = Number.POSITIVE_INFINITY;
  const measures = (): void => {
    if (measuredCount === mostMeasured) throw new MeasuredEnough();
    measuredCount++;
  };
  const visit: VisitClose = (code, ids, points) => {
    const { distance } = points;
    if (distance > closerThan) return;
    least = Math.min(least, distance);
    if (!isClose(ids, shapeOf(code).a, distance)) return;
    closeCount++;
    // Of millions of close pairs few can still be named.
    if (distance > (closest.worst?.distance ?? Number.POSITIVE_INFINITY)) return;
    closest.offer({ code, ids, distance, normal: points.findNormal(code) });
  };
  let isComplete = true;
  try {
    visitClosePairs(mesh, x, rules, { gap: reachTo(closerThan) }, visit, measures);
  } catch (thrown) {
    if (!(thrown instanceof MeasuredEnough)) throw thrown;
    isComplete = false;
  }
  const closePairs = closest.list().slice(0, rules.maxPairs).map(toElementPair);
  const minDistance = least === Number.POSITIVE_INFINITY ? undefined : least;
  return { minDistance, closePairs, closeCount, measuredCount, isComplete };
}

/** If only the smallest distance is requested, several threads can search for it. @returns undefined = they cannot */
function findLeastDistance(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  closerThan: number,
): DistanceFindings | undefined {
  if (rules.maxPairs > 0 || rules.excluded) return undefined;
  const x = readPositions(mesh, positions, 'positions');
  const relations = distanceRelations(collectElements(mesh));
  const by = { kind: 'NEAR', skipsKinematic: skipsKinematic(rules) } as const;
  const gap = reachTo(closerThan);
  const found = new PairSearch(mesh, rules.checkpoint).sift([x], relations, gap, by, () => {});
  const least = found?.nearest[0]?.distance;
  return found && { minDistance: least !== undefined && least <= closerThan ? least : undefined, closePairs: [] };
}

/**
 * Pairs of elements with the distance and the unit normal, from b to a, that they have in a state.
 *
 * @param positions [3·V] finite, in any unit
 */
export function measurePairs(pairs: readonly ElementPair[], positions: Positions): ElementPair[] {
  const closest = new ClosestPoints();
  const points = new Float64Array(12);
  return pairs.map(({ kind, a, b }) => {
    const code = codeOf(kind);
    const ids = [...a, ...b];
    ids.forEach((v, k) => {
      for (let c = 0; c < 3; c++) points[3 * k + c] = positions[3 * v + c];
    });
    closest.find(code, points);
    return toElementPair({ code, ids, distance: closest.distance, normal: closest.findNormal(code) });
  });
}

function compareByDistance(left: Finding, right: Finding): number {
  return (left.distance as number) - (right.distance as number) || compareFindings(left, right);
}

/**
 * The number of contacts, at 49 bytes each, that fits into the largest message of the default configuration. A distance
 * larger than the mesh itself would list every pair of elements, which are forty million for 2,500 vertices.
 */
const MAX_CONTACTS = 5_000_000;

/**
 * Every pair not farther apart than `closerThan`, among the pairs of {@link findDistances}.
 *
 * @param closerThan finite, ≥ 0
 * @param maxContacts largest number of pairs that may be listed
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER; TOO_LARGE if there are more; MemoryShort if the threads of this
 * process may not hold so much together
 */
export function findContacts(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  closerThan: number,
  maxContacts = MAX_CONTACTS,
): ContactList {
  checkReach(closerThan);
  if (closerThan === Infinity) {
    throw new IntersticeError('INVALID_PARAMETER', 'closerThan is Infinity; contacts need a finite distance.');
  }
  checkRules(rules);
  const x = readPositions(mesh, positions, 'positions');
  const found = new FoundContacts(maxContacts);
  try {
    visitClosePairs(mesh, x, rules, { gap: reachTo(closerThan) }, (code, ids, points) => {
      if (points.distance > closerThan) return;
      if (found.count === maxContacts) throw tooMany(maxContacts, closerThan);
      found.add(code, ids, points);
    });
    return found.list();
  } finally {
    found.free();
  }
}

function tooMany(maxContacts: number, closerThan: number): IntersticeError {
  return new IntersticeError(
    'TOO_LARGE',
    `More than ${maxContacts} pairs are within a contact distance of ${closerThan}; at most ${maxContacts} contacts can be listed.`,
    { hint: 'Ask for a smaller contactDistance, or for no contacts.' },
  );
}

/** @param measures called before a pair is measured; may throw */
function visitClosePairs(
  mesh: CollisionMesh,
  x: Float64Array,
  rules: PairRules,
  reach: Reach,
  visitClose: VisitClose,
  measures: () => void = () => {},
): void {
  const search = new PairSearch(mesh, rules.checkpoint);
  const closest = new ClosestPoints();
  const points = new Float64Array(12);
  const skips = skipsKinematic(rules);
  const relations = distanceRelations(collectElements(mesh));
  const visit: VisitPair = (relation, i, j, isKinematic) => {
    if (isKinematic && skips) return;
    const { code } = relation;
    measures();
    gather(x, relation, i, j, points);
    // Most pairs whose boxes are close are farther apart than the gap, and do not need their ids.
    if (!closest.findWithin(code, points, reach.gap)) return;
    const ids = idsOf(relation, i, j);
    if (!isExcluded(rules.excluded, code, ids)) visitClose(code, ids, closest);
  };
  search.forEach([x], relations, reach, skips, visit, undefined, true);
}

function checkReach(closerThan: number): void {
  if (closerThan >= 0) return;
  throw new IntersticeError('INVALID_PARAMETER', `closerThan is ${closerThan}; it must be a number ≥ 0.`);
}
