import { Excused, type Pair } from '../judge/promises.js';
import type { Element, PairList } from '../judge/surface.js';
import type { LeftOutRegion } from './traced-path.js';

/**
 * The pairs that one iteration does not promise, from the contract's text alone: the five proximity pairs of
 * intersecting pairs at its beginning, the pairs of an element with a vertex in a region and an element that lies in
 * the region's patch, and the pairs that depend on one of those.
 */
export class LeftOutPairs implements PairList {
  readonly #piercing: Excused;
  readonly #regions: readonly { readonly vertices: ReadonlySet<number>; readonly patch: ReadonlySet<number> }[];

  /** @param meetings at the beginning of the iteration */
  constructor(meetings: readonly Pair[], regions: readonly LeftOutRegion[]) {
    this.#piercing = new Excused(meetings);
    this.#regions = regions.map(({ vertices, patch }) => ({ vertices: new Set(vertices), patch: new Set(patch) }));
  }

  has(a: Element, b: Element): boolean {
    if (this.#piercing.has(a, b)) return true;
    if (a.length !== 2 || b.length !== 3) return this.#passes(a, b);
    const [i, j, k] = b;
    return (
      a.some((v) => this.#passes([v], b)) ||
      [
        [i, j],
        [j, k],
        [k, i],
      ].some((side) => this.#passes(a, side as Element))
    );
  }

  #passes(a: Element, b: Element): boolean {
    // Rods and particles have no sides: a region passes through no pair of a vertex and an edge, or of two vertices.
    if (a.length + b.length !== 4) return false;
    return this.#regions.some(
      ({ vertices, patch }) =>
        (a.some((v) => vertices.has(v)) && b.every((v) => patch.has(v))) ||
        (b.some((v) => vertices.has(v)) && a.every((v) => patch.has(v))),
    );
  }
}
