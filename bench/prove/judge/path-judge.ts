import { findMeeting } from './moving-pair.js';
import { pointsOf } from './nearest.js';
import { GuardedPairs, isPromised, type Pair, type StateRules } from './promises.js';
import { proximityRelations, type Surface } from './surface.js';
import { forEachNear } from './sweep.js';

export interface Collision extends Pair {
  /** no meeting, or approach, before this time */
  readonly time: number;
  /** false = they certainly do not meet, but may come nearer than they should */
  readonly meets: boolean;
}

/**
 * Promised pairs, and pairs through which these begin to meet ({@link GuardedPairs}), that may meet while every vertex
 * moves straight from `start` to `end`, and promised pairs that may come nearer than `apart`: a grain that passes a rod
 * hardly ever meets it. The list is complete: a pair that is not listed certainly does neither.
 *
 * @param start [3·V]
 * @param end [3·V]
 */
export function findCollisions(
  surface: Surface,
  start: ArrayLike<number>,
  end: ArrayLike<number>,
  rules: StateRules,
  apart = 0,
): Collision[] {
  const found: Collision[] = [];
  const guarded = new GuardedPairs(surface, rules);
  const moves = new Uint8Array(surface.vertexCount);
  for (let i = 0; i < start.length; i++) if (start[i] !== end[i]) moves[Math.floor(i / 3)] = 1;
  // A little more than half on each side: rounding may only add candidates.
  forEachNear(proximityRelations(surface), [start, end], 0.51 * apart, (a, b) => {
    // A pair at rest is covered by the state test: it met at the start or never does.
    if (!a.some((v) => moves[v]) && !b.some((v) => moves[v])) return;
    const isKeptApart = apart > 0 && isPromised(surface, a, b, rules);
    if (!isKeptApart && !guarded.has(a, b)) return;
    const [from, to] = [start, end].map((x) => pointsOf(x, [...a, ...b]));
    const meeting = (distance: number) => findMeeting(from, to, a.length, distance);
    const time = meeting(isKeptApart ? apart : 0);
    if (time === undefined) return;
    const certain = isKeptApart ? meeting(0) : time;
    found.push({ a, b, time: certain ?? time, meets: certain !== undefined });
  });
  return found;
}

/**
 * Whether a path reaches its last state, leaves it, and comes back to it: what lies between does not lead to the answer.
 * A coordinate must have changed by more than `least`, because the caller's scalar may round smaller motions to the same
 * numbers.
 *
 * @returns the index of the state that it leaves; undefined = it does not
 */
export function findReturn(states: readonly ArrayLike<number>[], least: number): number | undefined {
  const last = states[states.length - 1];
  const isWithin = (state: ArrayLike<number>, distance: number): boolean => {
    for (let i = 0; i < last.length; i++) if (!(Math.abs(state[i] - last[i]) <= distance)) return false;
    return true;
  };
  const reached = states.findIndex((state) => isWithin(state, 0));
  return states.slice(reached).every((state) => isWithin(state, least)) ? undefined : reached;
}
