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

/** Searches are numbered in this thread, so that trees tell whose they are. */
let lastSearch = 0;

/** Thrown when P exceeds its budget; the caller tries again with smaller boxes. */
export class PairBudgetExceeded {}

/** The tree of one set of elements with what it was built from. */
class ElementTree {
  readonly tree = new Bvh();
  /** float32[6·N] grown hulls, and uint8[N] masks, by element */
  box = new Float32Array(0);
  mask = new Uint8Array(0);

  get bytes(): number {
    return this.tree.bytes + this.box.byteLength + this.mask.byteLength;
  }
}

/**
 * The trees of vertices, triangles, edges and free points. A search renews what differs from the search before: the hulls of
 * elements with a corner whose box is another one. All of it where another mesh, or other growths, were searched last.
 */
export class SearchTrees {
  vertices = new ElementTree();
  triangles = new ElementTree();
  edges = new ElementTree();
  particles = new ElementTree();
  /** float32[6·V] the boxes that the trees were built from, while `builtFor` tells what else they depend on */
  seen = new Float32Array(0);
  builtFor:
    | { readonly mesh: CollisionMesh; readonly growth: number; readonly distances: Float32Array | undefined }
    | undefined;
  /** uint8[V] 1 = the vertex has another box than in the last search */
  isChanged = new Uint8Array(0);
  /** uint32[n] scratch: elements with a changed corner */
  changed = new Uint32Array(0);
  /** the search that built the trees, 0 = none; no reference, which would keep its mesh alive */
  #search = 0;
  #growth = 0;

  get bytes(): number {
    const { vertices, triangles, edges, particles, seen, isChanged, changed } = this;
    const ofTrees = vertices.bytes + triangles.bytes + edges.bytes + particles.bytes;
    return ofTrees + seen.byteLength + isChanged.byteLength + changed.byteLength;
  }

  free(): void {
    this.vertices = new ElementTree();
    this.triangles = new ElementTree();
    this.edges = new ElementTree();
    this.particles = new ElementTree();
    this.seen = new Float32Array(0);
    this.#search = 0;
    this.isChanged = new Uint8Array(0);
    this.changed = new Uint32Array(0);
  }

  /**
   * Marks in `isChanged` the vertices whose boxes differ from those of the last search.
   *
   * @param search identifies a {@link ProximitySearch}
   * @returns false = the trees are of another search, and all void
   */
  compare({ box, growth }: TrustBoxes, search: number): boolean {
    const isSame = this.#search === search && this.#growth === growth;
    this.#search = 0;
    if (!isSame) return false;
    const vertexCount = box.length / 6;
    if (this.isChanged.length < vertexCount) this.isChanged = new Uint8Array(vertexCount);
    const { seen, isChanged } = this;
    for (let i = 0, q = 0; i < vertexCount; i++, q += 6) {
      const isKept =
        box[q] === seen[q] &&
        box[q + 1] === seen[q + 1] &&
        box[q + 2] === seen[q + 2] &&
        box[q + 3] === seen[q + 3] &&
        box[q + 4] === seen[q + 4] &&
        box[q + 5] === seen[q + 5];
      isChanged[i] = isKept ? 0 : 1;
    }
    return true;
  }

  /** The trees are built from these boxes. */
  settle({ box, growth }: TrustBoxes, search: number): void {
    if (this.seen.length < box.length) this.seen = new Float32Array(box.length);
    this.seen.set(box);
    this.#search = search;
    this.#growth = growth;
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
  readonly #id = ++lastSearch;
  readonly #mesh: CollisionMesh;
  readonly #trees: SearchTrees;

  constructor(mesh: CollisionMesh, trees = new SearchTrees()) {
    this.#mesh = mesh;
    this.#trees = trees;
  }

  /**
   * @param x float32[3·V] current state
   * @param rules with the same `distances` in every search
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
    const isUpdate = trees.compare(boxes, this.#id);
    this.#renew(trees.vertices, contactVertices, 1, boxes, rules, isUpdate, rules.border?.contactVertices);
    this.#renew(trees.triangles, triangles, 3, boxes, rules, isUpdate);
    pulse?.();
    this.#renew(trees.edges, edges, 2, boxes, rules, isUpdate, rules.border?.edges);
    this.#renew(trees.particles, particles, 1, boxes, rules, isUpdate);
    trees.settle(boxes, this.#id);
    const elements: Readonly<Record<ElementSet, SearchedElements>> = {
      contactVertices: { tree: trees.vertices.tree, vertices: contactVertices, size: 1, first: 0 },
      triangles: { tree: trees.triangles.tree, vertices: triangles, size: 3, first: 0 },
      edges: { tree: trees.edges.tree, vertices: edges, size: 2, first: 0 },
      rods: { tree: trees.edges.tree, vertices: edges, size: 2, first: rodStart },
      particles: { tree: trees.particles.tree, vertices: particles, size: 1, first: 0 },
    };
    const sink = new Sink(boxes.box, x, cutoff, rules, budget, pairs);
    PAIR_KINDS.forEach(({ a, b }, kind) => {
      const other = elements[b];
      if (other.first * other.size < other.vertices.length) pairUp(kind, elements[a], other, sink, pulse);
    });
  }

  /**
   * @param isUpdate only elements with a changed corner have another hull than when the tree was built
   * @param border uint8 by element, 1 = at the border of a kinematic region; undefined = none
   */
  #renew(
    of: ElementTree,
    corner: Uint32Array,
    size: number,
    boxes: TrustBoxes,
    { mask, distances }: PairRules,
    isUpdate: boolean,
    border?: Uint8Array,
  ): void {
    const count = corner.length / size;
    const trees = this.#trees;
    if (of.mask.length < count) {
      of.box = new Float32Array(6 * count);
      of.mask = new Uint8Array(count);
    }
    if (trees.changed.length < count) trees.changed = new Uint32Array(count);
    const { isChanged, changed } = trees;
    let changedCount = 0;
    for (let e = 0; e < count; e++) {
      const first = corner[size * e];
      let bits = mask[first];
      let isOther = !isUpdate || isChanged[first] === 1;
      for (let s = 1; s < size; s++) {
        const v = corner[size * e + s];
        bits &= mask[v];
        if (isUpdate && isChanged[v] === 1) isOther = true;
      }
      of.mask[e] = border?.[e] === 1 ? bits & ~PASSIVE : bits;
      if (!isOther) continue;
      changed[changedCount++] = e;
      fillHull(of.box, e, corner, size, boxes, distances);
    }
    if (isUpdate) of.tree.update(of.box, of.mask, changed, changedCount);
    else of.tree.build(count, of.box, of.mask);
  }
}

/** The hull of the corners' boxes, grown. */
function fillHull(
  out: Float32Array,
  e: number,
  corner: Uint32Array,
  size: number,
  { box, growth }: TrustBoxes,
  distances: Float32Array | undefined,
): void {
  let q = 6 * corner[size * e];
  let lx = box[q];
  let ly = box[q + 1];
  let lz = box[q + 2];
  let hx = box[q + 3];
  let hy = box[q + 4];
  let hz = box[q + 5];
  let grow = distances ? distances[corner[size * e]] / 2 : growth;
  for (let s = 1; s < size; s++) {
    const v = corner[size * e + s];
    if (distances) grow = Math.max(grow, distances[v] / 2);
    q = 6 * v;
    if (box[q] < lx) lx = box[q];
    if (box[q + 1] < ly) ly = box[q + 1];
    if (box[q + 2] < lz) lz = box[q + 2];
    if (box[q + 3] > hx) hx = box[q + 3];
    if (box[q + 4] > hy) hy = box[q + 4];
    if (box[q + 5] > hz) hz = box[q + 5];
  }
  out[6 * e] = lx - grow;
  out[6 * e + 1] = ly - grow;
  out[6 * e + 2] = lz - grow;
  out[6 * e + 3] = hx + grow;
  out[6 * e + 4] = hy + grow;
  out[6 * e + 5] = hz + grow;
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
