import { distanceOf, type Vector } from './nearest.js';
import type { StateRules } from './state-judge.js';
import { isPromised, type Surface } from './surface.js';
import { boxesOf, sweepPairs } from './sweep.js';

/**
 * Least distance of two elements that share no vertex, by looking at every pair within reach.
 *
 * @returns undefined when nothing is nearer than `reach`
 */
export function leastDistance(
  surface: Surface,
  x: ArrayLike<number>,
  reach: number,
  rules: StateRules,
): number | undefined {
  const { edges, triangles, rods, particles, vertices } = surface;
  let least: number | undefined;
  const relations: [readonly (readonly number[])[], readonly (readonly number[])[]][] = [
    [vertices, triangles],
    [edges, edges],
    [particles, rods],
    [particles, particles],
  ];
  const at = (v: number): Vector => [x[3 * v], x[3 * v + 1], x[3 * v + 2]];
  for (const [first, second] of relations) {
    if (first.length === 0 || second.length === 0) continue;
    // A little more than half on each side: rounding may only add candidates.
    const boxes = boxesOf(first, [x], 0.51 * reach);
    sweepPairs(boxes, first === second ? boxes : boxesOf(second, [x], 0.51 * reach), (i, j) => {
      const [a, b] = [first[i], second[j]];
      if (!isPromised(surface, a, b, rules.kinematicPairs)) return;
      const distance = distanceOf(a.map(at), b.map(at));
      if (distance <= reach && !(least !== undefined && least <= distance)) least = distance;
    });
  }
  return least;
}
