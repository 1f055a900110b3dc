import { elementsMeet, toWholePoints, volumeSign } from './exact-meeting.js';
import { isPromised, type Pair, type StateRules } from './promises.js';
import type { Element, Surface } from './surface.js';
import { forEachNear } from './sweep.js';

/**
 * Every promised pair of elements with a common point in a state, decided on exactly the numbers given.
 *
 * @param x [3·V], float32 or float64
 */
export function findMeetings(surface: Surface, x: ArrayLike<number>, rules: StateRules): Pair[] {
  const { edges, triangles, rods, particles } = surface;
  const found: Pair[] = [];
  const relations = [
    [edges, triangles],
    [particles, triangles],
    [rods, rods],
    [particles, rods],
    [particles, particles],
  ] as const;
  forEachNear(relations, [x], 0, (a, b) => {
    if (isPromised(surface, a, b, rules) && hasCommonPoint(x, a, b)) found.push({ a, b });
  });
  return found;
}

/** Decided in floating point if that is certain, otherwise in whole numbers. */
export function hasCommonPoint(x: ArrayLike<number>, a: Element, b: Element): boolean {
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
