import { elementsMeet } from './exact-meeting.js';
import { GuardedPairs } from './guarded.js';
import { distanceOf, type Vector } from './nearest.js';
import { toWholePoints } from './points.js';
import type { Meeting, StateRules } from './state-judge.js';
import type { Surface } from './surface.js';
import { boxesOf, sweepPairs } from './sweep.js';

/** Pairs that touch although the test of a state has nothing against it. */
export interface Touching {
  /** those that have a common point, exactly */
  readonly certain: readonly Meeting[];
  /** those so near that a test of paths in doubles may take them for touching */
  readonly possible: readonly Meeting[];
}

/**
 * Of the size of a pair: a test of paths in doubles goes by a few hundred 2⁻⁵³ of it, by as much more as its elements are
 * slivers or nearly parallel.
 */
const WITHIN_ROUNDING = 2 ** -34;

/**
 * Pairs of vertices with triangles and of edges with edges that may not meet on a path ({@link GuardedPairs}) and touch in a
 * state. Where the elements at them share vertices, no edge of them pierces a triangle that it is judged against: a rod across
 * the side of a triangle whose corner it has in common. What pierces nothing else is in the test of a state itself.
 *
 * @param x [3·V], float32 or float64
 */
export function findTouching(surface: Surface, x: ArrayLike<number>, rules: StateRules): Touching {
  const certain: Meeting[] = [];
  const possible: Meeting[] = [];
  const guarded = new GuardedPairs(surface, rules.kinematicPairs);
  const at = (v: number): Vector => [x[3 * v], x[3 * v + 1], x[3 * v + 2]];
  const margin = WITHIN_ROUNDING * sizeOf(x);
  const { vertices, triangles, edges } = surface;
  for (const [first, second] of [
    [vertices, triangles],
    [edges, edges],
  ]) {
    if (first.length === 0 || second.length === 0) continue;
    const boxes = boxesOf(first, [x], margin);
    sweepPairs(boxes, first === second ? boxes : boxesOf(second, [x], margin), (i, j) => {
      const [a, b] = [first[i], second[j]];
      if (!guarded.has(a, b)) return;
      const corners = [...a, ...b].map(at);
      const distance = distanceOf(corners.slice(0, a.length), corners.slice(a.length));
      if (!(distance <= WITHIN_ROUNDING * extentOf(corners))) return;
      const points = toWholePoints(x, [...a, ...b]);
      const isMeeting = elementsMeet(points.slice(0, a.length), points.slice(a.length));
      (isMeeting ? certain : possible).push({ a, b });
    });
  }
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
