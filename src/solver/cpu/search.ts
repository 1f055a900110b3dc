import type { CollisionMesh } from '../../mesh/types.js';
import type { TrustBoxes } from './boxes.js';
import { Bvh } from './bvh.js';
import { UNIT_ROUNDOFF } from './certificate.js';
import { closest, closestEdgeEdge, closestVertexEdge, closestVertexTriangle, closestVertexVertex } from './closest.js';
import { EE, type PairSet, VE, VT, VV } from './pairs.js';

/** Which pairs never enter P, besides those that share a vertex. */
export interface PairRules {
  /** uint8[V] 1 = passive: a pair all of whose vertices are passive on both sides is left out */
  readonly passive: Uint8Array;
  /** true for a pair of elements of two ignored parts; undefined when no parts are ignored */
  readonly isIgnored: ((kind: number, v0: number, v1: number, v2: number, v3: number) => boolean) | undefined;
}

/** Thrown away halfway when P passes its budget; the caller tries again with smaller boxes. */
export class PairBudgetExceeded {
  constructor(readonly demandAtLeast: number) {}
}

/**
 * Proximity search: P ← all pairs whose hulls of trust boxes, grown on each side, overlap, less those that a direction n
 * keeps further apart than the cut over all box corners. Fills P in a fixed order (kind, then the query's number, then
 * the walk's). One tree holds the triangles, one the edges, one the free points.
 */
export class ProximitySearch {
  readonly #mesh: CollisionMesh;
  readonly #triangles = new Bvh();
  readonly #edges = new Bvh();
  readonly #particles = new Bvh();
  #box = new Float32Array(0);
  #passive = new Uint8Array(0);

  constructor(mesh: CollisionMesh) {
    this.#mesh = mesh;
  }

  /**
   * @param x float32[3·V] current state
   * @param cut pairs certainly further apart than this, wherever in their boxes they are, are left out
   * @throws PairBudgetExceeded with P in an undefined state
   */
  search(boxes: TrustBoxes, x: Float32Array, cut: number, rules: PairRules, budget: number, pairs: PairSet): void {
    const mesh = this.#mesh;
    pairs.clear();
    this.#build(this.#triangles, mesh.triangles, 3, mesh.triangles.length / 3, boxes, rules.passive);
    this.#build(this.#edges, mesh.edges, 2, mesh.edges.length / 2, boxes, rules.passive);
    this.#build(this.#particles, mesh.particles, 1, mesh.particles.length, boxes, rules.passive);
    const sink = new Sink(boxes.box, x, cut, rules, budget, pairs);
    this.#vertexTriangle(boxes, rules, sink);
    this.#edgeEdge(sink);
    if (mesh.particles.length > 0) {
      this.#particleRod(boxes, rules, sink);
      this.#particleParticle(sink);
    }
  }

  #build(tree: Bvh, corner: Uint32Array, size: number, count: number, boxes: TrustBoxes, passive: Uint8Array): void {
    if (this.#passive.length < count) {
      this.#box = new Float32Array(6 * count);
      this.#passive = new Uint8Array(count);
    }
    const out = this.#box;
    const { box, growth } = boxes;
    for (let e = 0; e < count; e++) {
      let isPassive = 1;
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
      for (let s = 0; s < size; s++) isPassive &= passive[corner[size * e + s]];
      this.#passive[e] = isPassive;
    }
    tree.build(count, out, this.#passive);
  }

  #vertexTriangle(boxes: TrustBoxes, rules: PairRules, sink: Sink): void {
    const { contactVertices, triangles } = this.#mesh;
    const tree = this.#triangles;
    const { box, growth } = boxes;
    for (let n = 0; n < contactVertices.length; n++) {
      const a = contactVertices[n];
      const q = 6 * a;
      const count = tree.query(
        box[q] - growth,
        box[q + 1] - growth,
        box[q + 2] - growth,
        box[q + 3] + growth,
        box[q + 4] + growth,
        box[q + 5] + growth,
        rules.passive[a],
        0,
      );
      for (let h = 0; h < count; h++) {
        const t = 3 * tree.order[tree.found[h]];
        const i = triangles[t];
        const j = triangles[t + 1];
        const k = triangles[t + 2];
        if (a !== i && a !== j && a !== k) sink.add(VT, a, i, j, k);
      }
    }
  }

  #edgeEdge(sink: Sink): void {
    const { edges } = this.#mesh;
    const tree = this.#edges;
    const { box } = tree;
    for (let s = 0; s < tree.count; s++) {
      const a = edges[2 * tree.order[s]];
      const b = edges[2 * tree.order[s] + 1];
      const q = 6 * s;
      const count = tree.query(
        box[q],
        box[q + 1],
        box[q + 2],
        box[q + 3],
        box[q + 4],
        box[q + 5],
        tree.passive[s],
        s + 1,
      );
      for (let h = 0; h < count; h++) {
        const other = 2 * tree.order[tree.found[h]];
        const c = edges[other];
        const d = edges[other + 1];
        if (a !== c && a !== d && b !== c && b !== d) sink.add(EE, a, b, c, d);
      }
    }
  }

  /** Free points against rods: a triangle's edges belong to the triangle and are covered by VT. */
  #particleRod(boxes: TrustBoxes, rules: PairRules, sink: Sink): void {
    const { particles, edges, rodStart } = this.#mesh;
    const tree = this.#edges;
    if (2 * rodStart === edges.length) return;
    const { box, growth } = boxes;
    for (let n = 0; n < particles.length; n++) {
      const a = particles[n];
      const q = 6 * a;
      const count = tree.query(
        box[q] - growth,
        box[q + 1] - growth,
        box[q + 2] - growth,
        box[q + 3] + growth,
        box[q + 4] + growth,
        box[q + 5] + growth,
        rules.passive[a],
        0,
      );
      for (let h = 0; h < count; h++) {
        const e = tree.order[tree.found[h]];
        if (e >= rodStart) sink.add(VE, a, edges[2 * e], edges[2 * e + 1], -1);
      }
    }
  }

  #particleParticle(sink: Sink): void {
    const { particles } = this.#mesh;
    const tree = this.#particles;
    const { box } = tree;
    for (let s = 0; s < tree.count; s++) {
      const q = 6 * s;
      const count = tree.query(
        box[q],
        box[q + 1],
        box[q + 2],
        box[q + 3],
        box[q + 4],
        box[q + 5],
        tree.passive[s],
        s + 1,
      );
      for (let h = 0; h < count; h++) {
        sink.add(VV, particles[tree.order[s]], particles[tree.order[tree.found[h]]], -1, -1);
      }
    }
  }
}

/** A pair is dropped only if it is separated by more than the cut plus this many u of its size, the rounding of heights. */
const CUT_MARGIN = 16 * UNIT_ROUNDOFF;

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
    if (d > this.cut && this.#separation(kind, v0, v1, v2, v3, nx, ny, nz) > this.cut) return;
    this.#keep(kind, v0, v1, v2, v3, nx, ny, nz);
  }

  #keep(kind: number, v0: number, v1: number, v2: number, v3: number, nx: number, ny: number, nz: number): void {
    if (this.pairs.count >= this.budget) throw new PairBudgetExceeded(this.pairs.count + 1);
    this.pairs.push(kind, v0, v1, v2, v3, nx, ny, nz);
  }

  /** min over side a of n·(box corner) − max over side b, less the rounding margin. */
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
    let lo = this.#support(v0, v0, nx, ny, nz, -1);
    let reach = support.reach;
    let hi = Number.NEGATIVE_INFINITY;
    for (let slot = 1; slot < 4; slot++) {
      const v = slot === 1 ? v1 : slot === 2 ? v2 : v3;
      if (v < 0) break;
      if (slot === 1 && kind === EE) lo = Math.min(lo, this.#support(v, v0, nx, ny, nz, -1));
      else hi = Math.max(hi, this.#support(v, v0, nx, ny, nz, 1));
      reach = Math.max(reach, support.reach);
    }
    return lo - hi - CUT_MARGIN * reach;
  }

  /** Extreme of n·(c − o) over the corners c of vertex v's box, o = x of the pair's first vertex. */
  #support(v: number, o: number, nx: number, ny: number, nz: number, side: 1 | -1): number {
    const { box, x } = this;
    const q = 6 * v;
    const lx = box[q] - x[3 * o];
    const ly = box[q + 1] - x[3 * o + 1];
    const lz = box[q + 2] - x[3 * o + 2];
    const hx = box[q + 3] - x[3 * o];
    const hy = box[q + 4] - x[3 * o + 1];
    const hz = box[q + 5] - x[3 * o + 2];
    support.reach =
      Math.max(Math.abs(lx), Math.abs(hx)) +
      Math.max(Math.abs(ly), Math.abs(hy)) +
      Math.max(Math.abs(lz), Math.abs(hz));
    return side < 0
      ? Math.min(nx * lx, nx * hx) + Math.min(ny * ly, ny * hy) + Math.min(nz * lz, nz * hz)
      : Math.max(nx * lx, nx * hx) + Math.max(ny * ly, ny * hy) + Math.max(nz * lz, nz * hz);
  }
}

const support = { reach: 0 };
