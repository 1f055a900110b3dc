import type { CollisionMesh } from '../../mesh/types.js';
import { allocate, release } from '../../threads/arrays.js';
import { team } from '../../threads/here.js';
import { Bvh } from '../bvh.js';
import { PASSIVE } from '../constants.js';
import type { KinematicBorder, PairPredicate } from '../exclusion-rules.js';
import { type ElementSet, PAIR_KINDS } from '../pair-kinds.js';
import type { TrustBoxes } from './boxes.js';
import { HULL_CHUNK, HULL_COST, HULLS } from './hulls.js';
import { closeGaps } from './lists.js';
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
  /** float32[V] δ by vertex, which replaces growth and a finite cutoff; undefined = one δ for all */
  readonly distances?: Float32Array | undefined;
}

/** Searches are numbered in this thread, so that trees identify the search that built them. */
let lastSearch = 0;

/** The tree of one set of elements with the data from which it was built. */
class ElementTree {
  readonly tree = new Bvh();
  /** float32[6·N] grown hulls, and uint8[N] masks, by element */
  box: Float32Array = new Float32Array(0);
  mask: Uint8Array = new Uint8Array(0);
  /** uint32[size·N] vertices of the elements, in memory that walks can read */
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

/**
 * The progress of a search: all pairs before it are in P. Runs of leaves are searched and appended one after the other.
 */
export class SearchCursor {
  /** index into PAIR_KINDS */
  kind = 0;
  /** first leaf of the next run. Equal boxes and masks give equal trees, so it is valid for rebuilt trees, too */
  leaf = 0;
}

/** An interrupted search, and its progress. */
export interface UnfinishedSearch {
  readonly cursor: SearchCursor;
  /** largest number of pairs */
  readonly budget: number;
  /** whether all vertices have new boxes */
  readonly isWhole: boolean;
  /** it counts only if it finds more pairs; absent = it counts */
  readonly least?: number;
}

/**
 * The trees of vertices, triangles, edges and particles. A search renews only the parts that differ from the last
 * search: the hulls of elements with a corner whose box has changed. It renews everything if the last search was of
 * another mesh or with other growths.
 */
export class SearchTrees {
  vertices = new ElementTree();
  triangles = new ElementTree();
  edges = new ElementTree();
  particles = new ElementTree();
  readonly found = new FoundPairs();
  /** float32[6·V] the boxes from which the trees were built */
  seen = new Float32Array(0);
  /** uint8[V] 1 = the box of the vertex differs from that in the last search */
  isChanged: Uint8Array = new Uint8Array(0);
  /** uint32[n] elements with a changed corner, and int32[chunks] their number in each chunk (hulls.ts) */
  changed: Uint32Array = new Uint32Array(0);
  counts: Int32Array = new Int32Array(0);
  /** number of the search that built the trees, 0 = none; a reference would keep its mesh alive */
  #search = 0;
  #growth = 0;

  get bytes(): number {
    const { vertices, triangles, edges, particles, seen, isChanged, changed } = this;
    const ofTrees = vertices.bytes + triangles.bytes + edges.bytes + particles.bytes;
    return (
      ofTrees + this.found.bytes + seen.byteLength + isChanged.byteLength + changed.byteLength + this.counts.byteLength
    );
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
    release(this.isChanged, this.changed, this.counts);
    this.isChanged = new Uint8Array(0);
    this.changed = new Uint32Array(0);
    this.counts = new Int32Array(0);
  }

  /** Makes room for the changed elements among this many. */
  reserve(elements: number): void {
    if (this.changed.length >= elements) return;
    release(this.changed, this.counts);
    this.changed = allocate(Uint32Array, elements);
    this.counts = allocate(Int32Array, Math.ceil(elements / HULL_CHUNK));
  }

  /**
   * Marks in `isChanged` the vertices whose boxes differ from those of the last search.
   *
   * @param search identifies a {@link ProximitySearch}
   * @returns false = the trees belong to another search, and are invalid
   */
  compare({ box, growth }: TrustBoxes, search: number): boolean {
    const isSame = this.#search === search && this.#growth === growth;
    this.#search = 0;
    if (!isSame) return false;
    const vertexCount = box.length / 6;
    if (this.isChanged.length < vertexCount) {
      release(this.isChanged);
      this.isChanged = allocate(Uint8Array, vertexCount);
    }
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

  /** Declares that the trees are built from these boxes. */
  settle({ box, growth }: TrustBoxes, search: number): void {
    if (this.seen.length < box.length) this.seen = new Float32Array(box.length);
    this.seen.set(box);
    this.#search = search;
    this.#growth = growth;
  }
}

/**
 * Proximity search: P ← all pairs whose hulls of trust boxes, grown on each side, overlap, except those that a
 * direction n separates by more than the cutoff at all box corners. Appends to P in a fixed order: by kind, then in the
 * order of the walk.
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
   * @param cutoff pairs that stay farther apart than this anywhere in their boxes are excluded; engine units; infinity =
   *   none is, whatever the `distances` (cutoffOver)
   * @param pulse called at short intervals; may throw
   * @param cursor where to begin, with the boxes and masks of the search that moved it; if `pulse` throws, it states
   *   the progress of the search, and P contains all pairs before it
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
    const { isIgnored } = rules;
    const distances = cutoff < Number.POSITIVE_INFINITY ? rules.distances : undefined;
    const input = { box: boxes.box, x, cutoff, distances, isIgnored, budget, pulse };
    for (; cursor.kind < PAIR_KINDS.length; cursor.kind++, cursor.leaf = 0) {
      const { a, b } = PAIR_KINDS[cursor.kind];
      const other = elements[b];
      if (other.first < other.tree.count) pairUp(cursor, elements[a], other, input, pairs, trees.found);
    }
  }

  /**
   * @param isUpdate only the hulls of elements with a changed corner differ from those in the tree
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
    if (of.mask.length < count) {
      release(of.box, of.mask);
      of.box = allocate(Float32Array, 6 * count);
      of.mask = allocate(Uint8Array, count);
    }
    if (!isUpdate) {
      if (of.corners.length < corner.length) {
        release(of.corners);
        of.corners = allocate(Uint32Array, corner.length);
      }
      of.corners.set(corner);
    }
    const trees = this.#trees;
    trees.reserve(count);
    const { changed, counts } = trees;
    const arrays = {
      ...{ corners: of.corners, ofVertex: boxes.box, maskOfVertex: mask, distances: distances ?? new Float32Array(0) },
      ...{ isChanged: isUpdate ? trees.isChanged : new Uint8Array(0), box: of.box, mask: of.mask, changed, counts },
    };
    const numbers = { size, growth: boxes.growth };
    team.run({ stage: HULLS, arrays, numbers, count, chunk: HULL_CHUNK, cost: HULL_COST });
    if (border) for (let e = 0; e < count; e++) if (border[e] === 1) of.mask[e] &= ~PASSIVE;
    if (isUpdate) of.tree.update(of.box, of.mask, changed, closeGaps(changed, counts, count, HULL_CHUNK));
    else of.tree.build(count, of.box, of.mask);
  }
}
