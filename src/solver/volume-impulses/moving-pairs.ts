import type { LeftOutPairs } from '../../mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { allocate, release } from '../../threads/arrays.js';
import { Bvh } from '../bvh.js';
import { PASSIVE } from '../constants.js';
import { eitherOf, findKinematicBorder, ignoredParts, type PairPredicate } from '../exclusion-rules.js';
import { EE, VT } from '../pair-kinds.js';

/** Receives a pair of vertex and triangle [a | i j k] or of two edges [a b | c d]. */
export type VisitPair = (kind: number, v0: number, v1: number, v2: number, v3: number) => void;

/** Pairs between two checks whether time is left. */
const PAIRS_PER_PULSE = 4096;

/** The tree of one set of elements over the hulls of their ways. */
class Ways {
  readonly tree = new Bvh();
  readonly #corner: Uint32Array;
  readonly #size: number;
  readonly #border: Uint8Array | undefined;
  #box: Float32Array = new Float32Array(0);
  #mask: Uint8Array = new Uint8Array(0);

  /**
   * @param corner uint32[size·N] vertices of the elements
   * @param border uint8[N] 1 = never PASSIVE; undefined = none
   */
  constructor(corner: Uint32Array, size: number, border: Uint8Array | undefined) {
    this.#corner = corner;
    this.#size = size;
    this.#border = border;
  }

  /** @param box float32[6·V] of the vertices' ways @param mask uint8[V] */
  build(box: Float32Array, mask: Uint8Array): void {
    const corner = this.#corner;
    const size = this.#size;
    const count = corner.length / size;
    if (this.#mask.length < count) {
      this.#box = allocate(Float32Array, 6 * count);
      this.#mask = allocate(Uint8Array, count);
    }
    const out = this.#box;
    for (let e = 0; e < count; e++) {
      let bits = PASSIVE;
      for (let c = 0; c < 6; c++) out[6 * e + c] = box[6 * corner[size * e] + c];
      for (let s = 0; s < size; s++) {
        const v = corner[size * e + s];
        bits &= mask[v];
        for (let c = 0; c < 3; c++) {
          const low = box[6 * v + c];
          const high = box[6 * v + 3 + c];
          if (low < out[6 * e + c]) out[6 * e + c] = low;
          if (high > out[6 * e + 3 + c]) out[6 * e + 3 + c] = high;
        }
      }
      this.#mask[e] = this.#border?.[e] === 1 ? 0 : bits;
    }
    this.tree.build(count, out, this.#mask);
  }

  free(): void {
    this.tree.free();
    release(this.#box, this.#mask);
  }
}

/** The pairs that a search excludes besides those of elements that share a vertex. */
export interface MovingPairRules {
  readonly skipsKinematic: boolean;
  readonly excluded: LeftOutPairs | undefined;
}

/**
 * The broad phase of one resolve: all pairs of elements whose ways may come near each other while every vertex moves
 * straight from x to z. The way of an element lies in the hull of its corners at both ends.
 */
export class MovingPairs {
  readonly #mesh: CollisionMesh;
  readonly #rules: MovingPairRules;
  readonly #isIgnored: PairPredicate | undefined;
  readonly #vertices: Ways;
  readonly #triangles: Ways;
  readonly #edges: Ways;
  readonly #box: Float32Array;
  readonly #mask: Uint8Array;

  constructor(mesh: CollisionMesh, rules: MovingPairRules) {
    const border = rules.skipsKinematic ? findKinematicBorder(mesh) : undefined;
    this.#mesh = mesh;
    this.#rules = rules;
    this.#isIgnored = eitherOf(ignoredParts(mesh), rules.excluded);
    this.#vertices = new Ways(mesh.contactVertices, 1, border?.contactVertices);
    this.#triangles = new Ways(mesh.triangles, 3, undefined);
    this.#edges = new Ways(mesh.edges, 2, border?.edges);
    this.#box = new Float32Array(6 * mesh.vertexCount);
    this.#mask = new Uint8Array(mesh.vertexCount);
  }

  free(): void {
    for (const ways of [this.#vertices, this.#triangles, this.#edges]) ways.free();
  }

  /**
   * Calls back with every pair that may come within `reach` anywhere on its way, in a fixed order, and possibly with
   * others.
   *
   * The common part of the motion of all vertices is subtracted first, because it brings no two of them nearer and
   * would stretch every hull. Boxes are computed in double, whose rounding is far below the reach, and stored as
   * float32 rounded outward, so two hulls that do not overlap are more than `reach` apart at any time.
   *
   * @param x float32[3·V] @param z float32[3·V], engine units
   * @param reach engine units
   * @param pulse called at short intervals; may throw
   */
  find(x: Float32Array, z: Float32Array, reach: number, pulse: () => void, visit: VisitPair): void {
    this.#fillBoxes(x, z, reach);
    const { triangles, edges, contactVertices } = this.#mesh;
    for (const ways of [this.#vertices, this.#triangles, this.#edges]) ways.build(this.#box, this.#mask);
    const isIgnored = this.#isIgnored;
    let seen = 0;
    const { order: vertexAt } = this.#vertices.tree;
    const { order: triangleAt } = this.#triangles.tree;
    this.#vertices.tree.forEachOverlap(this.#triangles.tree, (s, t) => {
      if (++seen % PAIRS_PER_PULSE === 0) pulse();
      const a = contactVertices[vertexAt[s]];
      const k = 3 * triangleAt[t];
      const [v1, v2, v3] = [triangles[k], triangles[k + 1], triangles[k + 2]];
      if (a === v1 || a === v2 || a === v3) return;
      if (isIgnored?.(VT, a, v1, v2, v3)) return;
      visit(VT, a, v1, v2, v3);
    });
    const { order: edgeAt } = this.#edges.tree;
    this.#edges.tree.forEachOverlap(this.#edges.tree, (s, t) => {
      if (++seen % PAIRS_PER_PULSE === 0) pulse();
      const e = 2 * Math.min(edgeAt[s], edgeAt[t]);
      const f = 2 * Math.max(edgeAt[s], edgeAt[t]);
      const [v0, v1, v2, v3] = [edges[e], edges[e + 1], edges[f], edges[f + 1]];
      if (v0 === v2 || v0 === v3 || v1 === v2 || v1 === v3) return;
      if (isIgnored?.(EE, v0, v1, v2, v3)) return;
      visit(EE, v0, v1, v2, v3);
    });
  }

  #fillBoxes(x: Float32Array, z: Float32Array, reach: number): void {
    const { kinematic, contactVertices } = this.#mesh;
    const { skipsKinematic } = this.#rules;
    const box = this.#box;
    const shift = [0, 0, 0];
    for (const v of contactVertices) for (let c = 0; c < 3; c++) shift[c] += z[3 * v + c] - x[3 * v + c];
    for (let c = 0; c < 3; c++) shift[c] /= Math.max(1, contactVertices.length);
    for (let v = 0; v < kinematic.length; v++) {
      let rests = true;
      for (let c = 0; c < 3; c++) {
        const from = x[3 * v + c];
        const to = z[3 * v + c] - shift[c];
        box[6 * v + c] = -roundedUp(reach - Math.min(from, to));
        box[6 * v + 3 + c] = roundedUp(Math.max(from, to) + reach);
        if (from !== z[3 * v + c]) rests = false;
      }
      this.#mask[v] = kinematic[v] !== 0 && (skipsKinematic || rests) ? PASSIVE : 0;
    }
  }
}

/**
 * Returns a float32 that is not below `value`: rounding to nearest removes at most half of the added 2⁻²³ of the
 * number.
 */
function roundedUp(value: number): number {
  const nearest = Math.fround(value);
  return nearest >= value ? nearest : Math.fround(value + Math.abs(value) * 2 ** -23 + SMALLEST);
}

/** the smallest float32 above 0 */
const SMALLEST = 2 ** -149;
