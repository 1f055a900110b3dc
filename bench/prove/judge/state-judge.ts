import { elementsMeet } from './exact-meeting.js';
import { toWholePoints } from './points.js';
import { volumeSign } from './sign-filter.js';
import { isPromised, type Surface } from './surface.js';
import { boxesOf, sweepPairs } from './sweep.js';

export interface Meeting {
  readonly a: readonly number[];
  readonly b: readonly number[];
}

export interface StateRules {
  readonly kinematicPairs: 'SKIP' | 'PROTECT';
}

/**
 * Every promised pair of elements with a common point in a state, decided on the very numbers given.
 *
 * @param x [3·V], float32 or float64
 */
export function findMeetings(surface: Surface, x: ArrayLike<number>, rules: StateRules): Meeting[] {
  const { edges, triangles, rods, particles } = surface;
  const found: Meeting[] = [];
  const relations: [readonly (readonly number[])[], readonly (readonly number[])[]][] = [
    [edges, triangles],
    [particles, triangles],
    [rods, rods],
    [particles, rods],
    [particles, particles],
  ];
  for (const [first, second] of relations) {
    if (first.length === 0 || second.length === 0) continue;
    const boxes = boxesOf(first, [x]);
    sweepPairs(boxes, first === second ? boxes : boxesOf(second, [x]), (i, j) => {
      const [a, b] = [first[i], second[j]];
      if (isPromised(surface, a, b, rules.kinematicPairs) && hasCommonPoint(x, a, b)) found.push({ a, b });
    });
  }
  return found;
}

/** Floating point where it is certain, whole numbers where it is not. */
export function hasCommonPoint(x: ArrayLike<number>, a: readonly number[], b: readonly number[]): boolean {
  if (a.length === 2 && b.length === 3) {
    const atP = volumeSign(x, b[0], b[1], b[2], a[0]);
    const atQ = volumeSign(x, b[0], b[1], b[2], a[1]);
    if (atP !== undefined && atP === atQ) return false;
    if (atP !== undefined && atQ !== undefined) {
      const hands = [0, 1, 2].map((k) => volumeSign(x, a[0], a[1], b[k], b[(k + 1) % 3]));
      if (hands.includes(1) && hands.includes(-1)) return false;
      if (!hands.includes(undefined)) return true;
    }
  } else if (a.length + b.length === 4) {
    const corners = [...a, ...b];
    if (volumeSign(x, corners[0], corners[1], corners[2], corners[3]) !== undefined) return false;
  }
  const points = toWholePoints(x, [...a, ...b]);
  return elementsMeet(points.slice(0, a.length), points.slice(a.length));
}
