import type { LeftOutPairs } from '../../mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { Bvh, overlapLeaf, overlaps } from '../bvh.js';
import { LEAF_SIZE, PASSIVE } from '../constants.js';
import { findKinematicBorder, ignoredParts, type KinematicBorder, type PairPredicate } from '../exclusion-rules.js';
import { CORNERS, ELEMENT_SIZE, type ElementSet, PAIR_KINDS } from '../pair-kinds.js';
import { MAX_GROUPS } from './groups.js';
import { GuardedElements } from './guarded-elements.js';
import { MotionTree } from './motion-tree.js';
import { boxesOfLabels, elementsThatMayMeet } from './moving-boxes.js';

/** Leaves between two pulses. */
const LEAVES_PER_PULSE = 64;

/** Returns the mask bit of the elements with this label (groups.ts); PASSIVE has the lowest one. */
const bitOf = (label: number): number => PASSIVE << (label + 1);

type TreeSet = 'contactVertices' | 'triangles' | 'edges' | 'particles';

/** A pair of elements, its kind and vertices in slot order; ends the walk when it returns false. */
type Visit = (kind: number, v0: number, v1: number, v2: number, v3: number) => boolean;

/** Finds pairs of elements that are near each other, or may come near while their corners go straight from x to z. */
export class MovingElements {
  readonly #mesh: CollisionMesh;
  readonly guarded: GuardedElements;
  readonly #border: KinematicBorder | undefined;
  readonly #ignoredParts: PairPredicate | undefined;
  readonly #areKinematicPairsSkipped: boolean;
  readonly #motionTrees: Readonly<Record<TreeSet, MotionTree>> = {
    contactVertices: new MotionTree(),
    triangles: new MotionTree(),
    edges: new MotionTree(),
    particles: new MotionTree(),
  };
  readonly #trees: Readonly<Record<TreeSet, Bvh>> = {
    contactVertices: new Bvh(),
    triangles: new Bvh(),
    edges: new Bvh(),
    particles: new Bvh(),
  };

  constructor(mesh: CollisionMesh, areKinematicPairsSkipped: boolean) {
    this.#mesh = mesh;
    this.guarded = new GuardedElements(mesh);
    this.#areKinematicPairsSkipped = areKinematicPairsSkipped;
    this.#border = areKinematicPairsSkipped ? findKinematicBorder(mesh) : undefined;
    this.#ignoredParts = ignoredParts(mesh);
  }

  /**
   * Visits every pair of different groups (or of a group and elements at rest) that a search would list and that no
   * axis keeps more than `margin` apart at x and at z, in a fixed order.
   *
   * @param label uint8[V] 0 = rests
   * @param visit ends the walk when it returns false
   */
  forEachMeeting(
    x: Float32Array,
    z: Float32Array,
    label: Uint8Array,
    margin: number,
    excluded: LeftOutPairs | undefined,
    visit: Visit,
    pulse?: () => void,
  ): void {
    const trees = this.#motionTrees;
    const boxes = boxesOfLabels(this.#mesh.contactVertices, label, MAX_GROUPS + 1, x, z);
    const treeOf = this.#builtOnce((set, corner, size, kept) => {
      pulse?.();
      const ids = elementsThatMayMeet(corner, size, label, boxes, x, z, margin);
      trees[set].build(corner, size, ids, x, z, this.#maskOf(corner, size, ids, label, bitOf, kept));
      return trees[set];
    });
    this.#pairUp(excluded, visit, (a, b, offer) => treeOf(a).forEachMeeting(treeOf(b), margin, offer, pulse));
  }

  /**
   * Visits every pair of elements of groups, the same or different ones, that a search would list and that may be
   * closer than `radius` at x, in a fixed order.
   */
  forEachNear(
    x: Float32Array,
    label: Uint8Array,
    radius: number,
    excluded: LeftOutPairs | undefined,
    visit: Visit,
    pulse?: () => void,
  ): void {
    const trees = this.#trees;
    const treeOf = this.#builtOnce((set, corner, size, kept) => {
      pulse?.();
      const mask = this.#maskOf(corner, size, undefined, label, (own) => (own === 0 ? bitOf(0) : 0), kept);
      // Each side grows by the whole radius, so that rounding cannot matter.
      trees[set].build(corner.length / size, hullsOf(corner, size, x, radius), mask);
      return trees[set];
    });
    this.#pairUp(excluded, visit, (a, b, offer) => {
      const [own, other] = [treeOf(a), treeOf(b)];
      const pair = (count: number): void => {
        for (let n = 0; n < 2 * count; n += 2) offer(own.order[overlaps[n]], other.order[overlaps[n + 1]]);
      };
      for (let leaf = 0; LEAF_SIZE * leaf < own.count && other.count > 0; leaf++) {
        if (leaf % LEAVES_PER_PULSE === 0) pulse?.();
        overlapLeaf(own, other, leaf, own === other, pair);
      }
    });
  }

  /** Frees the memory of the trees until the next walk. */
  free(): void {
    for (const tree of Object.values(this.#trees)) tree.free();
    for (const tree of Object.values(this.#motionTrees)) tree.free();
  }

  /** Returns the tree of a set, built when a walk first needs it: one that ends early needs few. */
  #builtOnce<T>(
    build: (set: TreeSet, corner: Uint32Array, size: number, kept: Uint8Array | undefined) => T,
  ): (set: TreeSet) => T {
    const kept: Partial<Record<TreeSet, Uint8Array>> = this.#border ?? {};
    const built: Partial<Record<TreeSet, T>> = {};
    return (set) => {
      built[set] ??= build(set, this.#mesh[set], ELEMENT_SIZE[set], kept[set]);
      return built[set];
    };
  }

  /** Converts pairs of elements from a walk into pairs of vertices, without those that no search lists. */
  #pairUp(
    excluded: LeftOutPairs | undefined,
    visit: Visit,
    walk: (a: TreeSet, b: TreeSet, offer: (e: number, f: number) => boolean) => void,
  ): void {
    const { rodStart } = this.#mesh;
    const v = [-1, -1, -1, -1];
    let goesOn = true;
    for (const [kind, { a, b, isExcluded }] of PAIR_KINDS.entries()) {
      const size = ELEMENT_SIZE[a];
      const corners = CORNERS[kind];
      const from = this.#mesh[treeSetOf(a)];
      const to = this.#mesh[treeSetOf(b)];
      const first = b === 'rods' ? rodStart : 0;
      if (!goesOn || first * ELEMENT_SIZE[b] >= to.length) continue;
      v.fill(-1);
      walk(treeSetOf(a), treeSetOf(b), (e, f) => {
        if (f < first) return true;
        for (let s = 0; s < size; s++) v[s] = from[size * e + s];
        for (let s = size; s < corners; s++) v[s] = to[(corners - size) * f + s - size];
        for (let s = size; s < corners; s++) if (v[s] === v[0] || (size === 2 && v[s] === v[1])) return true;
        if (this.#ignoredParts?.(kind, v[0], v[1], v[2], v[3])) return true;
        if (excluded && isExcluded(excluded, v[0], v[1], v[2], v[3])) return true;
        goesOn = visit(kind, v[0], v[1], v[2], v[3]);
        return goesOn;
      });
    }
  }

  /** @param ids undefined = all elements @param bit of a label @param kept uint8 by element, 1 = never PASSIVE */
  #maskOf(
    corner: Uint32Array,
    size: number,
    ids: Uint32Array | undefined,
    label: Uint8Array,
    bit: (label: number) => number,
    kept?: Uint8Array,
  ): Uint8Array {
    const { kinematic } = this.#mesh;
    const masks = new Uint8Array(ids?.length ?? corner.length / size);
    for (let n = 0; n < masks.length; n++) {
      const e = ids ? ids[n] : n;
      // All corners of an element belong to one component.
      let mask = bit(label[corner[size * e]]);
      if (this.#areKinematicPairsSkipped && kept?.[e] !== 1) {
        let isKinematic = true;
        for (let s = size * e; s < size * e + size; s++) if (kinematic[corner[s]] === 0) isKinematic = false;
        if (isKinematic) mask |= PASSIVE;
      }
      masks[n] = mask;
    }
    return masks;
  }
}

const treeSetOf = (set: ElementSet): TreeSet => (set === 'rods' ? 'edges' : set);

/** float32[6·N] the boxes of elements, grown by `growth` on every side */
function hullsOf(corner: Uint32Array, size: number, x: Float32Array, growth: number): Float32Array {
  const hull = new Float32Array((6 * corner.length) / size);
  for (let e = 0, q = 0; q < hull.length; e += size, q += 6) {
    for (let c = 0; c < 3; c++) {
      let lo = x[3 * corner[e] + c];
      let hi = lo;
      for (let s = e + 1; s < e + size; s++) {
        const at = x[3 * corner[s] + c];
        if (at < lo) lo = at;
        if (at > hi) hi = at;
      }
      hull[q + c] = lo - growth;
      hull[q + 3 + c] = hi + growth;
    }
  }
  return hull;
}
