import type { ElementPair } from '../contract/elements.js';
import { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { LeftOutPairs } from '../mesh/left-out-pairs.js';
import { ITEMS_PER_PULSE, type Pulse } from './pulse.js';
import type { Region } from './regions.js';
import type { Topology } from './topology.js';

/**
 * The pairs that one iteration leaves out, so that regions can pass through the sheets behind which they lie:
 *
 * - the five proximity pairs of every pair that intersects (ExcludedPairs);
 * - for each region, the pairs of an element with a vertex in the region and an element wholly in the patch of its
 *   partner.
 *
 * Safety. Every other proximity pair is bounded and checked in every step, so it does not meet on the way
 * (docs/guarantee.md). Let an edge and a triangle be free at the start of the iteration, with none of their five
 * proximity pairs left out. While all vertices move continuously, the edge can begin to pierce the triangle only at a
 * moment when one of the five is at distance 0, and none is. So the pair is free on the whole path of the iteration. If
 * it were not free at the start of the iteration, its five would have been left out as those of a pair that intersects.
 * Hence, over all iterations: an edge and a triangle of which no proximity pair was left out in any iteration are free
 * on the whole path. The pull-back of a free state leaves nothing out; that of another one leaves out pairs whose
 * vertices it does not move (pull-back.ts).
 *
 * Marks of vertices decide whether a pair is left out. They take memory by vertices, not by pairs, of which there are
 * millions.
 */
export class RegionsLeftOut implements LeftOutPairs {
  readonly items: readonly ElementPair[];
  readonly #listed: ExcludedPairs;
  /** by vertex: the regions that contain it, and the regions whose partner patch contains it */
  readonly #own = new Map<number, number[]>();
  readonly #patch = new Map<number, number[]>();
  /** uint8[V] 1 = in a region, 2 = in a patch */
  readonly #marks: Uint8Array;

  constructor(
    { mesh }: Topology,
    pairs: readonly ElementPair[],
    readonly regions: readonly Region[],
    pulse: Pulse = () => {},
  ) {
    this.items = pairs;
    this.#listed = new ExcludedPairs(pairs, pulse);
    this.#marks = new Uint8Array(mesh.vertexCount);
    let seen = 0;
    regions.forEach(({ vertices, partner }, n) => {
      pulse();
      for (const v of vertices) this.#add(this.#own, v, n, 1);
      for (const t of partner) {
        if (++seen % ITEMS_PER_PULSE === 0) pulse();
        for (let k = 3 * t; k < 3 * t + 3; k++) this.#add(this.#patch, mesh.triangles[k], n, 2);
      }
    });
  }

  #add(to: Map<number, number[]>, v: number, region: number, mark: number): void {
    this.#marks[v] |= mark;
    const known = to.get(v);
    if (!known) to.set(v, [region]);
    else if (known.at(-1) !== region) known.push(region);
  }

  isSameAs(other: LeftOutPairs | undefined): boolean {
    return this === other;
  }

  hasVertexTriangle(a: number, i: number, j: number, k: number): boolean {
    return this.#passes([a], [i, j, k]) || this.#passes([i, j, k], [a]) || this.#listed.hasVertexTriangle(a, i, j, k);
  }

  hasEdgeEdge(a: number, b: number, c: number, d: number): boolean {
    return this.#passes([a, b], [c, d]) || this.#passes([c, d], [a, b]) || this.#listed.hasEdgeEdge(a, b, c, d);
  }

  hasVertexEdge(a: number, i: number, j: number): boolean {
    return this.#listed.hasVertexEdge(a, i, j);
  }

  hasVertexVertex(a: number, i: number): boolean {
    return this.#listed.hasVertexVertex(a, i);
  }

  hasEdgeTriangle(a: number, b: number, i: number, j: number, k: number): boolean {
    return (
      this.hasVertexTriangle(a, i, j, k) ||
      this.hasVertexTriangle(b, i, j, k) ||
      this.hasEdgeEdge(a, b, i, j) ||
      this.hasEdgeEdge(a, b, j, k) ||
      this.hasEdgeEdge(a, b, k, i)
    );
  }

  /** Whether one of these vertices belongs to a region whose partner patch contains all the others. */
  #passes(moving: readonly number[], others: readonly number[]): boolean {
    const marks = this.#marks;
    for (const v of others) if ((marks[v] & 2) === 0) return false;
    for (const v of moving) {
      if ((marks[v] & 1) === 0) continue;
      for (const region of this.#own.get(v)!) {
        if (others.every((w) => this.#patch.get(w)!.includes(region))) return true;
      }
    }
    return false;
  }
}
