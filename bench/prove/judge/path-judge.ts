import { GuardedPairs } from './guarded.js';
import { findMeeting } from './moving-pair.js';
import type { Vector } from './nearest.js';
import type { StateRules } from './state-judge.js';
import type { Surface } from './surface.js';
import { boxesOf, sweepPairs } from './sweep.js';

export interface Collision {
  readonly a: readonly number[];
  readonly b: readonly number[];
  /** no meeting before this time */
  readonly time: number;
}

/**
 * Promised pairs, and pairs through which those begin to meet ({@link GuardedPairs}), that may meet while every vertex goes straight from `start` to `end`. Complete: what is not listed
 * certainly does not meet.
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
  const { edges, triangles, rods, particles, vertices } = surface;
  const found: Collision[] = [];
  const guarded = new GuardedPairs(surface, rules.kinematicPairs);
  const moves = new Uint8Array(surface.vertexCount);
  for (let i = 0; i < start.length; i++) if (start[i] !== end[i]) moves[Math.floor(i / 3)] = 1;
  const relations: [readonly (readonly number[])[], readonly (readonly number[])[]][] = [
    [vertices, triangles],
    [edges, edges],
    [particles, rods],
    [particles, particles],
  ];
  for (const [first, second] of relations) {
    if (first.length === 0 || second.length === 0) continue;
    const boxes = boxesOf(first, [start, end]);
    sweepPairs(boxes, first === second ? boxes : boxesOf(second, [start, end]), (i, j) => {
      const [a, b] = [first[i], second[j]];
      // A pair at rest is what the state test is for: it met at the start or never does.
      if (!a.some((v) => moves[v]) && !b.some((v) => moves[v])) return;
      if (!guarded.has(a, b)) return;
      const corners = [...a, ...b];
      const time = findMeeting(
        corners.map((v) => at(start, v)),
        corners.map((v) => at(end, v)),
        a.length,
      );
      if (time !== undefined) found.push({ a, b, time });
    });
  }
  return found;
}

const at = (x: ArrayLike<number>, v: number): Vector => [x[3 * v], x[3 * v + 1], x[3 * v + 2]];
