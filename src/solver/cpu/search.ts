import type { CollisionMesh } from '../../mesh/types.js';
import { Bvh } from '../bvh.js';
import type { KinematicBorder } from '../kinematic-border.js';
import { PASSIVE } from './bars.js';
import type { TrustBoxes } from './boxes.js';
import { closest, closestEdgeEdge, closestVertexEdge, closestVertexTriangle, closestVertexVertex } from './closest.js';
import { distanceOfPair } from './pair-distances.js';
import { EE, type PairSet, VE, VT, VV } from './pairs.js';

/** Which pairs are not looked for, besides those that share a vertex. */
export interface PairRules {
  /** uint8[V] PASSIVE | KEPT */
  readonly bar: Uint8Array;
  /** elements that are never PASSIVE, though all their vertices are; undefined = none (PROTECT) */
  readonly border?: KinematicBorder | undefined;
  /** true for a pair of elements of two ignored parts, or one that is excluded; undefined when there are none */
  readonly isIgnored: ((kind: number, v0: number, v1: number, v2: number, v3: number) => boolean) | undefined;
  /** float32[V] δ by vertex, in the place of the boxes' growth and of the cut; undefined = one δ for all */
  readonly distances?: Float32Array | undefined;
}

/** Thrown halfway when P passes its budget; the caller tries again with smaller boxes. */
export class PairBudgetExceeded {}

/** One tree each for the vertices, triangles, edges and free points, built anew by every search: memory, and nothing else. */
export class SearchTrees {
  vertices = new Bvh();
  triangles = new Bvh();
  edges = new Bvh();
  particles = new Bvh();
  /** of the primitives that a tree is being built of: float32[6·N] and uint8[N] */
  box = new Float32Array(0);
  bar = new Uint8Array(0);

  get bytes(): number {
    const { vertices, triangles, edges, particles, box, bar } = this;
    const ofTrees = vertices.bytes + triangles.bytes + edges.bytes + particles.bytes;
    return ofTrees + box.byteLength + bar.byteLength;
  }

  release(): void {
    this.vertices = new Bvh();
    this.triangles = new Bvh();
    this.edges = new Bvh();
    this.particles = new Bvh();
    this.box = new Float32Array(0);
    this.bar = new Uint8Array(0);
  }
}

/**
 * Proximity search: P ← all pairs whose hulls of trust boxes, grown on each side, overlap, less those that a direction n
 * keeps further apart than the cut over all box corners. Appends to P in a fixed order (kind, then as the trees pair up).
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
   * @param cut pairs certainly further apart than this, wherever in their boxes they are, are excluded
   * @param pulse called every so often
   * @throws PairBudgetExceeded, and what `pulse` throws, with P in an undefined state
   */
  search(
    boxes: TrustBoxes,
    x: Float32Array,
    cut: number,
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
    const sink = new Sink(boxes.box, x, cut, rules, budget, pairs);
    const vertexOrder = trees.vertices.order;
    const triangleOrder = trees.triangles.order;
    const edgeOrder = trees.edges.order;
    trees.vertices.forEachOverlap(
      trees.triangles,
      (s, t) => {
        const a = contactVertices[vertexOrder[s]];
        const corner = 3 * triangleOrder[t];
        const i = triangles[corner];
        const j = triangles[corner + 1];
        const k = triangles[corner + 2];
        if (a !== i && a !== j && a !== k) sink.add(VT, a, i, j, k);
      },
      pulse,
    );
    trees.edges.forEachOverlap(
      trees.edges,
      (s, t) => {
        const e = 2 * edgeOrder[s];
        const other = 2 * edgeOrder[t];
        const a = edges[e];
        const b = edges[e + 1];
        const c = edges[other];
        const d = edges[other + 1];
        if (a !== c && a !== d && b !== c && b !== d) sink.add(EE, a, b, c, d);
      },
      pulse,
    );
    if (particles.length === 0) return;
    this.#build(trees.particles, particles, 1, boxes, rules);
    const pointOrder = trees.particles.order;
    // Free points against rods: a triangle's edges belong to the triangle and are covered by VT.
    if (2 * rodStart < edges.length) {
      trees.particles.forEachOverlap(
        trees.edges,
        (s, t) => {
          const e = edgeOrder[t];
          if (e >= rodStart) sink.add(VE, particles[pointOrder[s]], edges[2 * e], edges[2 * e + 1], -1);
        },
        pulse,
      );
    }
    trees.particles.forEachOverlap(
      trees.particles,
      (s, t) => {
        sink.add(VV, particles[pointOrder[s]], particles[pointOrder[t]], -1, -1);
      },
      pulse,
    );
  }

  /** @param border uint8 by element; undefined = none is at the border */
  #build(
    tree: Bvh,
    corner: Uint32Array,
    size: number,
    boxes: TrustBoxes,
    { bar, distances }: PairRules,
    border?: Uint8Array,
  ): void {
    const count = corner.length / size;
    const trees = this.#trees;
    if (trees.bar.length < count) {
      trees.box = new Float32Array(6 * count);
      trees.bar = new Uint8Array(count);
    }
    const { box: out, bar: bars } = trees;
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
      for (let s = 0; s < size; s++) bits &= bar[corner[size * e + s]];
      bars[e] = border?.[e] === 1 ? bits & ~PASSIVE : bits;
    }
    tree.build(count, out, bars);
  }
}

/** Takes candidates, drops what a separating direction keeps apart for good, and hands the rest to P. */
class Sink {
  constructor(
    readonly box: Float32Array,
    readonly x: Float32Array,
    readonly cut: number,
    readonly rules: PairRules,
    readonly budget: number,
    readonly pairs: PairSet,
  ) {}

  add(kind: number, v0: number, v1: number, v2: number, v3: number): void {
    const { x, rules } = this;
    if (rules.isIgnored?.(kind, v0, v1, v2, v3)) return;
    if (kind === VT) closestVertexTriangle(x, v0, v1, v2, v3);
    else if (kind === EE) closestEdgeEdge(x, v0, v1, v2, v3);
    else if (kind === VE) closestVertexEdge(x, v0, v1, v2);
    else closestVertexVertex(x, v0, v1);
    const d = Math.sqrt(closest.squared);
    if (d === 0) {
      this.#keep(kind, v0, v1, v2, v3, 0, 0, 0);
      return;
    }
    const nx = closest.x / d;
    const ny = closest.y / d;
    const nz = closest.z / d;
    const cut = rules.distances ? distanceOfPair(rules.distances, kind, v0, v1, v2, v3) : this.cut;
    if (d > cut && this.#separation(kind, v0, v1, v2, v3, nx, ny, nz) > cut) return;
    this.#keep(kind, v0, v1, v2, v3, nx, ny, nz);
  }

  #keep(kind: number, v0: number, v1: number, v2: number, v3: number, nx: number, ny: number, nz: number): void {
    if (this.pairs.count >= this.budget) throw new PairBudgetExceeded();
    this.pairs.push(kind, v0, v1, v2, v3, nx, ny, nz);
  }

  /**
   * min over side a of n·(box corner) − max over side b, in double: with float32 boxes its rounding is 2⁻²⁹ of the
   * float32 one, and the cut (δ or Dmax) is far above either, so no margin is needed.
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
    let lo = this.#lowest(v0, v0, nx, ny, nz);
    // max n·c = −min (−n)·c
    let hi = kind === EE ? Number.NEGATIVE_INFINITY : -this.#lowest(v1, v0, -nx, -ny, -nz);
    if (kind === EE) lo = Math.min(lo, this.#lowest(v1, v0, nx, ny, nz));
    if (kind !== VV) hi = Math.max(hi, -this.#lowest(v2, v0, -nx, -ny, -nz));
    if (kind === VT || kind === EE) hi = Math.max(hi, -this.#lowest(v3, v0, -nx, -ny, -nz));
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
