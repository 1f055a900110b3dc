import { elementsMeet, toWholePoints } from './exact-meeting.js';
import { distanceOf, pointsOf, type Vector } from './nearest.js';
import { GuardedPairs, isPromised, type Pair, type StateRules } from './promises.js';
import { proximityRelations, type Surface } from './surface.js';
import { forEachNear } from './sweep.js';

/**
 * Least distance of two elements that share no vertex, from all pairs within reach.
 *
 * @returns undefined if nothing is nearer than `reach`
 */
export function leastDistance(
  surface: Surface,
  x: ArrayLike<number>,
  reach: number,
  rules: StateRules,
): number | undefined {
  let least: number | undefined;
  // A little more than half on each side: rounding may only add candidates.
  forEachNear(proximityRelations(surface), [x], 0.51 * reach, (a, b) => {
    if (!isPromised(surface, a, b, rules)) return;
    const distance = distanceOf(pointsOf(x, a), pointsOf(x, b));
    if (distance <= reach && !(least !== undefined && least <= distance)) least = distance;
  });
  return least;
}

/** Pairs that touch although the test of a state allows it. */
export interface Touching {
  /** those that have a common point, exactly */
  readonly certain: readonly Pair[];
  /** those so near that a test of paths in doubles may take them for touching */
  readonly possible: readonly Pair[];
}

/**
 * As a share of the size of a pair: a test of paths in doubles has an error of a few hundred 2⁻⁵³ of it, and more if
 * its elements are slivers or nearly parallel.
 */
const WITHIN_ROUNDING = 2 ** -34;

/**
 * Pairs of vertices with triangles and of edges with edges that may not meet on a path ({@link GuardedPairs}) and touch
 * in a state. If the elements at them share vertices, no edge of them pierces a triangle against which it is judged: a
 * rod across the side of a triangle with which it has a corner in common. Pairs that pierce nothing else are part of
 * the test of a state.
 *
 * @param x [3·V], float32 or float64
 */
export function findTouching(surface: Surface, x: ArrayLike<number>, rules: StateRules): Touching {
  const certain: Pair[] = [];
  const possible: Pair[] = [];
  const guarded = new GuardedPairs(surface, rules);
  const { vertices, triangles, edges } = surface;
  const relations = [
    [vertices, triangles],
    [edges, edges],
  ] as const;
  forEachNear(relations, [x], WITHIN_ROUNDING * sizeOf(x), (a, b) => {
    if (!guarded.has(a, b)) return;
    const corners = pointsOf(x, [...a, ...b]);
    const distance = distanceOf(corners.slice(0, a.length), corners.slice(a.length));
    if (!(distance <= WITHIN_ROUNDING * extentOf(corners))) return;
    const points = toWholePoints(x, [...a, ...b]);
    const isMeeting = elementsMeet(points.slice(0, a.length), points.slice(a.length));
    (isMeeting ? certain : possible).push({ a, b });
  });
  return { certain, possible };
}

const extentOf = (corners: readonly Vector[]): number =>
  corners.reduce((most, p) => Math.max(most, ...p.map((coordinate, c) => Math.abs(coordinate - corners[0][c]))), 0);

/** No pair is larger. */
function sizeOf(x: ArrayLike<number>): number {
  let size = 0;
  for (let c = 0; c < 3; c++) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = c; i < x.length; i += 3) {
      low = Math.min(low, x[i]);
      high = Math.max(high, x[i]);
    }
    size = Math.max(size, high - low);
  }
  return size;
}
