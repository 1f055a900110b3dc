import type { CollisionMesh } from '../../mesh/types.js';
import { Bvh } from '../bvh.js';
import { PASSIVE } from '../constants.js';
import type { KinematicBorder, PairPredicate } from '../exclusion-rules.js';
import { CORNERS, type ElementSet, PAIR_KINDS, SIDE_A } from '../pair-kinds.js';
import { pairActivationDistance } from '../part-distances.js';
import type { TrustBoxes } from './boxes.js';
import { CLOSEST_POINTS, closest } from './closest.js';
import type { PairSet } from './pair-set.js';

/** The pairs that a search excludes, besides those that share a vertex. */
export interface PairRules {
  /** uint8[V] PASSIVE | KEPT. An element has a bit if all its vertices do; a pair with a bit in common is excluded. */
  readonly mask: Uint8Array;
  /** elements that are never PASSIVE, even if all their vertices are; undefined = none (PROTECT) */
  readonly border?: KinematicBorder | undefined;
  /** excluded pairs and pairs of ignored parts; undefined = none */
  readonly isIgnored: PairPredicate | undefined;
  /** float32[V] δ by vertex, which replaces growth and cutoff; undefined = one δ for all */
  readonly distances?: Float32Array | undefined;
}

/** Thrown when P exceeds its budget; the caller tries again with smaller boxes. */
export class PairBudgetExceeded {}

/** The trees of vertices, triangles, edges and free points; every search builds them anew in this memory. */
export class SearchTrees {
  vertices = new Bvh();
  triangles = new Bvh();
  edges = new Bvh();
  particles = new Bvh();
  /** of the elements of the tree under construction: float32[6·N] and uint8[N] */
  box = new Float32Array(0);
  mask = new Uint8Array(0);

  get bytes(): number {
    const { vertices, triangles, edges, particles, box, mask } = this;
    const ofTrees = vertices.bytes + triangles.bytes + edges.bytes + particles.bytes;
    return ofTrees + box.byteLength + mask.byteLength;
  }

  free(): void {
    this.vertices = new Bvh();
    this.triangles = new Bvh();
    this.edges = new Bvh();
    this.particles = new Bvh();
    this.box = new Float32Array(0);
    this.mask = new Uint8Array(0);
  }
}

/** The elements of one side of a walk. */
interface SearchedElements {
  readonly tree: Bvh;
  /** uint32[size·N] */
  readonly vertices: Uint32Array;
  readonly size: number;
  /** elements before this one are not searched */
  readonly first: number;
}

/**
 * Proximity search: P ← all pairs whose hulls of trust boxes, grown on each side, overlap, except those that a direction n
 * separates by more than the cutoff at all box corners. Appends to P in a fixed order: by kind, then as the trees pair up.
 */
export class ProximitySearch {
  readonly #mesh: CollisionMesh;
  readonly #trees: SearchTrees;

  constructor(mesh: CollisionMesh, trees = new SearchTrees()) {
    this.#mesh = mesh;
    this.#trees = trees;
  }

  /**
   * @param x float32[3·V] current state
   * @param cutoff pairs that stay further apart than this anywhere in their boxes are excluded; engine units
   * @param pulse called at short intervals; may throw
   * @throws PairBudgetExceeded, and what `pulse` throws, with P in an undefined state
   */
  search(
    boxes: TrustBoxes,
    x: Float32Array,
    cutoff: number,
    rules: PairRules,
    budget: number,
    pairs: PairSet,
    pulse?: () => void,
  ): void {
    const { triangles, edges, rodStart, particles, contactVertices } = this.#mesh;
    const trees = this.#trees;
    this.#build(trees.vertices, contactVertices, 1, boxes, rules, rules.border?.contactVertices);
    this.#build(trees.triangles, triangles, 3, boxes, rules);
    pulse?.();
    this.#build(trees.edges, edges, 2, boxes, rules, rules.border?.edges);
    this.#build(trees.particles, particles, 1, boxes, rules);
    const elements: Readonly<Record<ElementSet, SearchedElements>> = {
      contactVertices: { tree: trees.vertices, vertices: contactVertices, size: 1, first: 0 },
      triangles: { tree: trees.triangles, vertices: triangles, size: 3, first: 0 },
      edges: { tree: trees.edges, vertices: edges, size: 2, first: 0 },
      rods: { tree: trees.edges, vertices: edges, size: 2, first: rodStart },
      particles: { tree: trees.particles, vertices: particles, size: 1, first: 0 },
    };
    const sink = new Sink(boxes.box, x, cutoff, rules, budget, pairs);
    PAIR_KINDS.forEach(({ a, b }, kind) => {
      const other = elements[b];
      if (other.first * other.size < other.vertices.length) pairUp(kind, elements[a], other, sink, pulse);
    });
  }

  /** @param border uint8 by element, 1 = at the border of a kinematic region; undefined = none */
  #build(
    tree: Bvh,
    corner: Uint32Array,
    size: number,
    boxes: TrustBoxes,
    { mask, distances }: PairRules,
    border?: Uint8Array,
  ): void {
    const count = corner.length / size;
    const trees = this.#trees;
    if (trees.mask.length < count) {
      trees.box = new Float32Array(6 * count);
      trees.mask = new Uint8Array(count);
    }
    const { box: out, mask: masks } = trees;
    const { box } = boxes;
    for (let e = 0; e < count; e++) {
      let bits = 0xff;
      let growth = boxes.growth;
      if (distances) {
        growth = 0;
        for (let s = 0; s < size; s++) growth = Math.max(growth, distances[corner[size * e + s]] / 2);
      }
      for (let c = 0; c < 3; c++) {
        let lo = Number.POSITIVE_INFINITY;
        let hi = Number.NEGATIVE_INFINITY;
        for (let s = 0; s < size; s++) {
          const q = 6 * corner[size * e + s] + c;
          lo = Math.min(lo, box[q]);
          hi = Math.max(hi, box[q + 3]);
        }
        out[6 * e + c] = lo - growth;
        out[6 * e + 3 + c] = hi + growth;
      }
      for (let s = 0; s < size; s++) bits &= mask[corner[size * e + s]];
      masks[e] = border?.[e] === 1 ? bits & ~PASSIVE : bits;
    }
    tree.build(count, out, masks);
  }
}

/** Offers every pair of overlapping elements that share no vertex to P. */
function pairUp(kind: number, a: SearchedElements, b: SearchedElements, sink: Sink, pulse?: () => void): void {
  const { size, tree, vertices } = a;
  const corners = CORNERS[kind];
  const slot = [-1, -1, -1, -1];
  tree.forEachOverlap(
    b.tree,
    (s, t) => {
      const other = b.tree.order[t];
      if (other < b.first) return;
      const q = size * tree.order[s];
      const r = b.size * other - size;
      for (let c = 0; c < size; c++) slot[c] = vertices[q + c];
      for (let c = size; c < corners; c++) slot[c] = b.vertices[r + c];
      for (let c = size; c < corners; c++) if (slot[c] === slot[0] || (size === 2 && slot[c] === slot[1])) return;
      sink.add(kind, slot[0], slot[1], slot[2], slot[3]);
    },
    pulse,
  );
}

/** Takes candidates, drops those that a direction separates anywhere in their boxes, and appends the rest to P. */
class Sink {
  constructor(
    readonly box: Float32Array,
    readonly x: Float32Array,
    readonly cutoff: number,
    readonly rules: PairRules,
    readonly budget: number,
    readonly pairs: PairSet,
  ) {}

  add(kind: number, v0: number, v1: number, v2: number, v3: number): void {
    const { x, rules } = this;
    if (rules.isIgnored?.(kind, v0, v1, v2, v3)) return;
    CLOSEST_POINTS[kind](x, v0, v1, v2, v3);
    const d = Math.sqrt(closest.squared);
    if (d === 0) {
      this.#keep(kind, v0, v1, v2, v3, 0, 0, 0);
      return;
    }
    const nx = closest.x / d;
    const ny = closest.y / d;
    const nz = closest.z / d;
    const { distances } = rules;
    const cutoff = distances ? pairActivationDistance(distances, kind, v0, v1, v2, v3) : this.cutoff;
    if (d > cutoff && this.#separation(kind, v0, v1, v2, v3, nx, ny, nz) > cutoff) return;
    this.#keep(kind, v0, v1, v2, v3, nx, ny, nz);
  }

  #keep(kind: number, v0: number, v1: number, v2: number, v3: number, nx: number, ny: number, nz: number): void {
    if (this.pairs.count >= this.budget) throw new PairBudgetExceeded();
    this.pairs.push(kind, v0, v1, v2, v3, nx, ny, nz);
  }

  /**
   * min over side a of n·(box corner) − max over side b, in double: with float32 boxes its rounding is 2⁻²⁹ of the
   * float32 one, and the cutoff (δ or Dmax) is far above either, so no margin is needed.
   */
  #separation(
    kind: number,
    v0: number,
    v1: number,
    v2: number,
    v3: number,
    nx: number,
    ny: number,
    nz: number,
  ): number {
    const corners = CORNERS[kind];
    let lo = this.#lowest(v0, v0, nx, ny, nz);
    let hi = Number.NEGATIVE_INFINITY;
    // max n·c = −min (−n)·c
    if (SIDE_A[kind] === 1) hi = -this.#lowest(v1, v0, -nx, -ny, -nz);
    else lo = Math.min(lo, this.#lowest(v1, v0, nx, ny, nz));
    if (corners > 2) hi = Math.max(hi, -this.#lowest(v2, v0, -nx, -ny, -nz));
    if (corners > 3) hi = Math.max(hi, -this.#lowest(v3, v0, -nx, -ny, -nz));
    return lo - hi;
  }

  /** min of n·(c − o) over the corners c of vertex v's box, o = x of the pair's first vertex. */
  #lowest(v: number, o: number, nx: number, ny: number, nz: number): number {
    const { box, x } = this;
    const q = 6 * v;
    return (
      nx * (box[nx > 0 ? q : q + 3] - x[3 * o]) +
      ny * (box[ny > 0 ? q + 1 : q + 4] - x[3 * o + 1]) +
      nz * (box[nz > 0 ? q + 2 : q + 5] - x[3 * o + 2])
    );
  }
}
