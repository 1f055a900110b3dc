import type { CollisionMesh } from '../../mesh/types.js';
import { allocate, release } from '../../threads/arrays.js';
import { Bvh } from '../bvh.js';
import { PASSIVE } from '../constants.js';
import type { KinematicBorder, PairPredicate } from '../exclusion-rules.js';
import { type ElementSet, PAIR_KINDS } from '../pair-kinds.js';
import type { TrustBoxes } from './boxes.js';
import type { PairSet } from './pair-set.js';
import { FoundPairs, pairUp, type WalkedElements } from './walk.js';

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

/** The tree of one set of elements with what it was built from. */
class ElementTree {
  readonly tree = new Bvh();
  /** float32[6·N] grown hulls, and uint8[N] masks, by element */
  box: Float32Array = new Float32Array(0);
  mask: Uint8Array = new Uint8Array(0);
  /** uint32[size·N] vertices of the elements, where walks can read them */
  corners: Uint32Array = new Uint32Array(0);

  get bytes(): number {
    return this.tree.bytes + this.box.byteLength + this.mask.byteLength + this.corners.byteLength;
  }

  get walked(): Pick<WalkedElements, 'tree' | 'corners'> {
    return { tree: this.tree, corners: this.corners };
  }

  free(): void {
    this.tree.free();
    release(this.corners, this.box, this.mask);
  }
}

/** How far a search has come: everything before it is in P. Runs of leaves are found and appended one after the other. */
export class SearchCursor {
  /** index into PAIR_KINDS */
  kind = 0;
  /** first leaf of the next run. Equal boxes and masks give equal trees, so it counts in trees that are built anew as well */
  leaf = 0;
}

/** A search that was given up, and where. */
export interface UnfinishedSearch {
  readonly cursor: SearchCursor;
  /** most pairs */
  readonly budget: number;
  /** of all vertices */
  readonly isWhole: boolean;
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
  readonly found = new FoundPairs();
  /** float32[6·V] the boxes that the trees were built from */
  seen = new Float32Array(0);
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
    return ofTrees + this.found.bytes + seen.byteLength + isChanged.byteLength + changed.byteLength;
  }

  free(): void {
    for (const of of [this.vertices, this.triangles, this.edges, this.particles]) of.free();
    this.found.free();
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
   * @param cursor where to begin, with the boxes and masks of the search that moved it; where `pulse` throws it says how far the
   *   search has come, and P holds what comes before
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
    cursor = new SearchCursor(),
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
    const elements: Readonly<Record<ElementSet, WalkedElements>> = {
      contactVertices: { ...trees.vertices.walked, size: 1, first: 0 },
      triangles: { ...trees.triangles.walked, size: 3, first: 0 },
      edges: { ...trees.edges.walked, size: 2, first: 0 },
      rods: { ...trees.edges.walked, size: 2, first: rodStart },
      particles: { ...trees.particles.walked, size: 1, first: 0 },
    };
    const { isIgnored, distances } = rules;
    const input = { box: boxes.box, x, cutoff, distances, isIgnored, budget, pulse };
    for (; cursor.kind < PAIR_KINDS.length; cursor.kind++, cursor.leaf = 0) {
      const { a, b } = PAIR_KINDS[cursor.kind];
      const other = elements[b];
      if (other.first < other.tree.count) pairUp(cursor, elements[a], other, input, pairs, trees.found);
    }
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
      release(of.box, of.mask);
      of.box = allocate(Float32Array, 6 * count);
      of.mask = allocate(Uint8Array, count);
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
    if (!isUpdate) {
      if (of.corners.length < corner.length) {
        release(of.corners);
        of.corners = allocate(Uint32Array, corner.length);
      }
      of.corners.set(corner);
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
