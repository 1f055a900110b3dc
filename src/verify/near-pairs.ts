import type { Relation } from './elements.js';

/*
 * The k nearest pairs of many tasks: each task keeps its own k nearest, and the k nearest of all are among those. None
 * of them is farther apart than the k-th pair of any task, so a search may skip pairs that are.
 */

export interface FoundPair {
  readonly relation: Relation;
  readonly i: number;
  readonly j: number;
  readonly distance: number;
}

/** Inserts a pair that is nearer than the one at `last` at its place among those from `first` on. */
export function keepNear(
  least: Float64Array,
  nearest: Uint32Array,
  first: number,
  last: number,
  distance: number,
  relation: number,
  i: number,
  j: number,
): void {
  let at = last;
  for (; at > first && least[at - 1] > distance; at--) {
    least[at] = least[at - 1];
    nearest.copyWithin(3 * at, 3 * at - 3, 3 * at);
  }
  least[at] = distance;
  nearest[3 * at] = relation;
  nearest[3 * at + 1] = i;
  nearest[3 * at + 2] = j;
}

/** The nearest pairs of all tasks; of pairs at the same distance the first. */
export function nearestOf(
  least: Float64Array,
  nearest: Uint32Array,
  relations: readonly Relation[],
  wanted: number,
): FoundPair[] {
  const found: FoundPair[] = [];
  for (let n = 0; n < least.length; n++) {
    const distance = least[n];
    if (distance === Number.POSITIVE_INFINITY || (found.length === wanted && distance >= found[wanted - 1].distance))
      continue;
    if (found.length === wanted) found.pop();
    const at = found.findIndex((pair) => pair.distance > distance);
    const pair = { relation: relations[nearest[3 * n]], i: nearest[3 * n + 1], j: nearest[3 * n + 2], distance };
    found.splice(at < 0 ? found.length : at, 0, pair);
  }
  return found;
}
