import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import { DISTANCE_ERROR, type Reach, reachTo } from './box-join.js';
import {
  type Clearance,
  findCalm,
  LARGEST_LISTED,
  ListMaker,
  MOST_RESTLESS,
  measureMotion,
  reachOf,
} from './clearance.js';
import { ClosestPoints, DISTANCE_EXCESS } from './closest.js';
import { findDistances } from './distance.js';
import { checkRules, collectElements, distanceRelations, gather, type Relation, readPositions } from './elements.js';
import { compareStates, isPairResting, type KnownDistances, type NearPair, type VerifierMemory } from './memory.js';
import type { PairCode } from './pair-kinds.js';
import { PairSearch, skipsKinematic } from './pair-search.js';
import type { PairRules } from './types.js';

/** Number of remembered pairs: if the nearest one moves apart, the next nearest takes its place. */
const REMEMBERED = 4;

/**
 * How far the gap of a pair in a list is below its computed distance, as a share of its extent: the true distance may
 * be less than that by the first, and what is computed for the pair in a later state less than the true one by the
 * second.
 */
const LIST_MARGIN = DISTANCE_EXCESS + DISTANCE_ERROR;

/**
 * The smallest distance between elements that share no vertex: that of `findDistances`, to the bit, with less work if a
 * state of the mesh is remembered (memory.ts): its nearest pairs, and a distance `beyond` which all others lie.
 *
 * If few vertices have moved, a pair of two resting elements is as far apart as before, so it is remembered or lies
 * beyond. A search up to `beyond` finds the pairs with an element that moved. The nearest of both is the nearest of all
 * if it is not farther than `beyond`. If there is none, no pair is nearer than `beyond`, but a pair that did not fit
 * into a full list may be exactly as far apart.
 *
 * If many have moved, nothing is known about most pairs, but the remembered pairs are pairs of this state, too, so none
 * of the smallest distances now exceeds theirs. A search within this reach visits few neighbours.
 *
 * If all have moved a little, the nearest of the listed pairs (clearance.ts) is the nearest of all if the pairs that
 * are not listed are farther apart.
 *
 * @param positions [3·V] in any unit
 * @param closerThan ≥ 0, same unit
 * @returns undefined = no pair is that near
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function findMinDistance(
  mesh: CollisionMesh,
  positions: Positions,
  rules: PairRules,
  closerThan: number,
  memory?: VerifierMemory,
): number | undefined {
  // The excluded pairs differ from step to step, and an excluded pair may not be remembered in place of another one.
  if (!memory || memory.mesh !== mesh || rules.excluded) {
    return findDistances(mesh, positions, { ...rules, maxPairs: 1 }, closerThan).minDistance;
  }
  checkRules(rules);
  const search = new NearSearch(mesh, readPositions(mesh, positions, 'positions'), rules);
  const known = memory.distances?.skipsKinematic === search.skips ? memory.distances : undefined;
  const listed = search.among(memory.distanceClearance, closerThan);
  if (listed !== undefined) {
    memory.distancePlan.noteServed();
    return listed <= closerThan ? listed : undefined;
  }
  const updated = known && search.update(known, closerThan);
  const found = updated ?? search.searchAll(known, closerThan, memory, positions);
  const skipsKinematic = search.skips;
  memory.distances = found === known ? known : { ...found, x: positions.slice(), skipsKinematic };
  const [first] = found.nearest;
  return first && first.distance <= closerThan ? first.distance : undefined;
}

type Nearest = Pick<KnownDistances, 'beyond' | 'mayTie' | 'nearest'>;

class NearSearch {
  readonly skips: boolean;
  readonly #mesh: CollisionMesh;
  readonly #x: Float64Array;
  readonly #rules: PairRules;
  readonly #relations: readonly Relation[];
  readonly #closest = new ClosestPoints();
  readonly #points = new Float64Array(12);

  constructor(mesh: CollisionMesh, x: Float64Array, rules: PairRules) {
    this.#mesh = mesh;
    this.#x = x;
    this.#rules = rules;
    this.#relations = distanceRelations(collectElements(mesh));
    this.skips = skipsKinematic(rules);
  }

  /** @returns undefined = everything must be searched */
  update(known: KnownDistances, closerThan: number): Nearest | undefined {
    const { resting, moved, isWorthwhile } = compareStates(this.#x, known.x);
    const isEnough = ({ nearest, beyond, mayTie }: Nearest): boolean =>
      nearest.length > 0 || closerThan < beyond || (closerThan === beyond && !mayTie);
    if (moved === 0) return isEnough(known) ? known : undefined;
    if (!isWorthwhile) return undefined;
    const kept = known.nearest.filter(({ code, i, j }) => isPairResting(resting, this.#relationOf(code), i, j));
    if (!isEnough({ ...known, nearest: kept })) return undefined;
    const found = this.#search(known.beyond, resting);
    const beyond = Math.min(known.beyond, found.beyond);
    const nearest = [...kept, ...found.nearest].filter(({ distance }) => distance <= beyond).sort(byDistance);
    const mayTie = known.mayTie || found.mayTie;
    const updated = limitTo(REMEMBERED, { beyond, mayTie, nearest });
    return isEnough(updated) ? updated : undefined;
  }

  searchAll(
    known: KnownDistances | undefined,
    closerThan: number,
    memory: VerifierMemory,
    positions: Positions,
  ): Nearest {
    const now = known?.nearest.map(({ code, i, j }) => this.#measure(this.#relationOf(code), i, j)) ?? [];
    const within = now.length === 0 ? closerThan : Math.min(closerThan, Math.max(...now));
    const isHurried = this.#rules.hasTimeToPrepare?.() === false;
    const room = isHurried ? undefined : memory.distancePlan.begin(memory.motions, this.#mesh, this.#x);
    if (room === undefined || within + room.room > LARGEST_LISTED) return this.#sift(within) ?? this.#search(within);
    const list = new ListMaker(this.#relations, within, room);
    const found = this.#search(within, undefined, list);
    const made = list.finish(positions.slice(), !this.skips);
    memory.distancePlan.noteMade(made !== undefined);
    memory.distanceClearance = made;
    return found;
  }

  /**
   * The smallest distance, from the listed pairs and a search for pairs with a vertex that is not calm.
   *
   * @returns a number above `closerThan` = no pair is that near; undefined = the list does not suffice
   */
  among(clearance: Clearance | undefined, closerThan: number): number | undefined {
    if (!clearance || clearance.hasKinematic === this.skips) return undefined;
    const lengths = measureMotion(this.#x, clearance.x);
    const { codes, pairs, gaps } = clearance.list;
    const { marks, moved, most } = findCalm(lengths, clearance, 0);
    let least = Infinity;
    const reach = reachOf({ marks, moved, most });
    for (let n = 0; n < codes.length; n++) {
      // Among calm elements no later pair is nearer; the search covers the others.
      const limit = Math.min(least, closerThan);
      if (gaps[n] - reach > limit) break;
      const code = codes[n] as PairCode;
      gather(this.#x, this.#relationOf(code), pairs[2 * n], pairs[2 * n + 1], this.#points);
      if (this.#closest.findWithin(code, this.#points, limit)) least = this.#closest.distance;
    }
    const within = Math.min(least, closerThan);
    const calm = findCalm(lengths, clearance, within);
    if (calm.moved > MOST_RESTLESS * marks.length) return undefined;
    if (calm.moved === 0) return least;
    return Math.min(least, this.#search(within, calm.marks).nearest[0]?.distance ?? Infinity);
  }

  /** The nearest pairs within a distance, by several threads. @returns undefined = several threads cannot find them */
  #sift(within: number): Nearest | undefined {
    const by = { kind: 'NEAR', skipsKinematic: this.skips, keeps: REMEMBERED } as const;
    const search = new PairSearch(this.#mesh, this.#rules.checkpoint);
    const found = search.sift([this.#x], this.#relations, reachTo(within), by, () => {});
    const nearest = found?.nearest
      .filter(({ distance }) => distance <= within)
      .map(({ relation: { code }, i, j, distance }) => ({ code, i, j, distance }));
    return nearest && limitTo(REMEMBERED, { beyond: within, mayTie: false, nearest });
  }

  /**
   * The nearest pairs within a distance, except those of two resting elements.
   *
   * @param list collects all pairs within a larger distance
   */
  #search(within: number, resting?: Uint8Array, list?: ListMaker): Nearest {
    const reach: Reach = { gap: reachTo(list ? list.width : within) };
    const visited = new PairSearch(this.#mesh, this.#rules.checkpoint);
    const nearest: NearPair[] = [];
    let beyond = within;
    const visit = (relation: Relation, i: number, j: number, isKinematic: boolean): void => {
      if (isKinematic && this.skips) return;
      const { code } = relation;
      gather(this.#x, relation, i, j, this.#points);
      const isListed = list !== undefined && !list.isGivenUp;
      if (!this.#closest.findWithin(code, this.#points, reach.gap, isListed ? LIST_MARGIN : 0)) return;
      const { distance } = this.#closest;
      if (isListed) {
        list.add(code, i, j, Math.max(0, distance - LIST_MARGIN * this.#closest.pairExtent));
        reach.gap = reachTo(list.isGivenUp ? beyond : list.width);
      }
      if (distance > beyond) return;
      nearest.push({ code, i, j, distance });
      nearest.sort(byDistance);
      if (nearest.length > REMEMBERED) nearest.pop();
      if (nearest.length < REMEMBERED) return;
      // From here on only nearer pairs matter: the search narrows while it runs.
      beyond = nearest[REMEMBERED - 1].distance;
      if (!list || list.isGivenUp) reach.gap = Math.min(reach.gap, reachTo(beyond));
    };
    visited.forEach([this.#x], this.#relations, reach, this.skips, visit, resting, true);
    return { beyond, mayTie: nearest.length === REMEMBERED, nearest };
  }

  #measure(relation: Relation, i: number, j: number): number {
    gather(this.#x, relation, i, j, this.#points);
    this.#closest.find(relation.code, this.#points);
    return this.#closest.distance;
  }

  #relationOf(code: NearPair['code']): Relation {
    return this.#relations.find((relation) => relation.code === code)!;
  }
}

/** A list that is full says nothing about pairs as far apart as its last one. */
function limitTo(count: number, known: Nearest): Nearest {
  const { nearest } = known;
  if (nearest.length < count) return known;
  return { beyond: nearest[count - 1].distance, mayTie: true, nearest: nearest.slice(0, count) };
}

const byDistance = (p: NearPair, q: NearPair): number => p.distance - q.distance;
