import { findMeeting } from './moving-pair.js';
import { pointsOf } from './nearest.js';
import { GuardedPairs, type Pair, type StateRules } from './promises.js';
import { proximityRelations, type Surface } from './surface.js';
import { forEachNear } from './sweep.js';

export interface Collision extends Pair {
  /** no meeting before this time */
  readonly time: number;
}

/**
 * Promised pairs, and pairs through which these begin to meet ({@link GuardedPairs}), that may meet while every vertex
 * moves straight from `start` to `end`. The list is complete: a pair that is not listed certainly does not meet.
 *
 * @param start [3·V]
 * @param end [3·V]
 */
export function findCollisions(
  surface: Surface,
  start: ArrayLike<number>,
  end: ArrayLike<number>,
  rules: StateRules,
): Collision[] {
  const found: Collision[] = [];
  const guarded = new GuardedPairs(surface, rules);
  const moves = new Uint8Array(surface.vertexCount);
  for (let i = 0; i < start.length; i++) if (start[i] !== end[i]) moves[Math.floor(i / 3)] = 1;
  forEachNear(proximityRelations(surface), [start, end], 0, (a, b) => {
    // A pair at rest is covered by the state test: it met at the start or never does.
    if (!a.some((v) => moves[v]) && !b.some((v) => moves[v])) return;
    if (!guarded.has(a, b)) return;
    const corners = [...a, ...b];
    const time = findMeeting(pointsOf(start, corners), pointsOf(end, corners), a.length);
    if (time !== undefined) found.push({ a, b, time });
  });
  return found;
}
