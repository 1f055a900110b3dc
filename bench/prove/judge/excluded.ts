import { findTouching } from './distances.js';
import { distanceOf, pointsOf } from './nearest.js';
import { Excused, nameOfPair, type Pair, proximityPairsOf, type StateRules } from './promises.js';
import { findMeetings } from './state-judge.js';
import type { Surface } from './surface.js';

/*
 * The pairs that a start under IGNORE_PAIRS may exclude, from the contract's text alone. An edge begins or ceases to
 * pierce a triangle only when one of five proximity pairs meets. For every pair that intersects, these five are not
 * kept apart, and pairs that depend on one of them are not promised either. If paths are tested as well (PATH), pairs
 * that touch without piercing anything are excluded, too, because no path from there is free of them.
 */

/** The pairs that one request may exclude. */
export interface Excluded {
  readonly excused: Excused;
  /** the limits of the report's count: they differ only while a pair is closer than the floor, or within the
   *  rounding of a path test of touching */
  readonly fewest: number;
  readonly most: number;
}

/**
 * The pairs that a session has excluded and that are not apart yet. A pair is guarded again from the first start on in
 * which it does not intersect and all of its five proximity pairs are farther apart than the floor.
 */
export class ExcludedMemory {
  #earlier: readonly Pair[] = [];
  #excused = new Excused([]);

  /** The pairs of the last request that may be excluded; none before the first one. */
  get excused(): Excused {
    return this.#excused;
  }

  /** For a new session, or another start: the service no longer knows the pairs. */
  forget(): void {
    this.#earlier = [];
  }

  /**
   * @param floor not below the service's, the caller's unit: within it a pair may be guarded or not
   * @param hasPaths whether the answer's path is tested, too, so that pairs that touch in the start are excluded
   */
  settle(surface: Surface, start: ArrayLike<number>, rules: StateRules, floor: number, hasPaths = false): Excluded {
    const meetings = findMeetings(surface, start, rules);
    const known = new Set(meetings.map(nameOfPair));
    const isNear = ({ a, b }: Pair) => !(distanceOf(pointsOf(start, a), pointsOf(start, b)) > floor);
    const near = this.#earlier.filter((pair) => !known.has(nameOfPair(pair)) && proximityPairsOf(pair).some(isNear));
    const { certain, possible } = hasPaths
      ? findTouching({ ...surface, excused: new Excused(meetings) }, start, rules)
      : { certain: [], possible: [] };
    const fewest = new Excused([...meetings, ...certain]).count(surface);
    this.#earlier = [...meetings, ...certain, ...possible, ...near];
    const excused = new Excused(this.#earlier);
    this.#excused = excused;
    const isSettled = near.length + possible.length === 0;
    return { excused, fewest, most: isSettled ? fewest : excused.count(surface) };
  }
}
