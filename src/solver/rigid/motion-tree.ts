import { Bvh } from '../bvh.js';
import { LEAF_SIZE } from '../constants.js';
import { areApart } from './moving-boxes.js';

/** Leaves between two pulses. */
const LEAVES_PER_PULSE = 64;

/**
 * A tree over elements whose corners move straight from x to z. The height of a corner along a fixed axis is linear in
 * time, so the least height of one element minus the largest of another is concave: if an axis separates both at x and
 * at z, on the same side, it separates them all the way. Nodes therefore contain two boxes, at x and at z, and two
 * nodes are apart if an axis keeps more than `margin` between them at both ends. This is tighter than a comparison of
 * the hulls of both ends: elements that move side by side stay apart.
 *
 * Minimum, maximum and comparison are exact, and the differences of float32 numbers in double have a relative error of
 * 2⁻⁵³.
 */
export class MotionTree {
  readonly tree = new Bvh();
  /** float32[12·N] in leaf order, and float32[12·2m] by node: lo xyz, hi xyz at x, then at z */
  #ends = new Float32Array(0);
  #node = new Float32Array(0);
  #ids: Uint32Array = new Uint32Array(0);

  /** Frees the memory; the tree must be rebuilt before its next use. */
  free(): void {
    this.tree.free();
    this.#ids = new Uint32Array(0);
    this.#ends = new Float32Array(0);
    this.#node = new Float32Array(0);
  }

  /**
   * @param corner uint32[size·E] the corners of the elements of a mesh
   * @param ids uint32[N] the elements of this tree
   * @param mask uint8[N] pairs of elements with a bit in common are excluded
   */
  build(corner: Uint32Array, size: number, ids: Uint32Array, x: Float32Array, z: Float32Array, mask: Uint8Array): void {
    const count = ids.length;
    this.#ids = ids;
    if (this.#ends.length < 12 * count) this.#ends = new Float32Array(12 * count);
    const ends = new Float32Array(12 * count);
    const hull = new Float32Array(6 * count);
    for (let n = 0; n < count; n++) {
      for (let c = 0; c < 3; c++) {
        const first = size * ids[n];
        const k = 3 * corner[first] + c;
        let [lo, hi, lowest, highest] = [x[k], x[k], z[k], z[k]];
        for (let s = first + 1; s < first + size; s++) {
          const q = 3 * corner[s] + c;
          if (x[q] < lo) lo = x[q];
          if (x[q] > hi) hi = x[q];
          if (z[q] < lowest) lowest = z[q];
          if (z[q] > highest) highest = z[q];
        }
        ends[12 * n + c] = lo;
        ends[12 * n + 3 + c] = hi;
        ends[12 * n + 6 + c] = lowest;
        ends[12 * n + 9 + c] = highest;
        hull[6 * n + c] = Math.min(lo, lowest);
        hull[6 * n + 3 + c] = Math.max(hi, highest);
      }
    }
    this.tree.build(count, hull, mask);
    const { order } = this.tree;
    for (let t = 0; t < count; t++) this.#ends.set(ends.subarray(12 * order[t], 12 * order[t] + 12), 12 * t);
    this.#refit();
  }

  #refit(): void {
    const { leaves, count } = this.tree;
    if (this.#node.length < 24 * leaves) this.#node = new Float32Array(24 * leaves);
    const node = this.#node;
    const ends = this.#ends;
    for (let leaf = 0; leaf < leaves; leaf++) {
      const q = 12 * (leaves + leaf);
      const end = Math.min(count, (leaf + 1) * LEAF_SIZE);
      for (let c = 0; c < 12; c++) {
        const isLow = c % 6 < 3;
        let value = isLow ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
        for (let t = leaf * LEAF_SIZE; t < end; t++) {
          const bound = ends[12 * t + c];
          if (isLow ? bound < value : bound > value) value = bound;
        }
        node[q + c] = value;
      }
    }
    for (let k = leaves - 1; k >= 1; k--) {
      for (let c = 0; c < 12; c++) {
        const l = node[24 * k + c];
        const r = node[24 * k + 12 + c];
        node[12 * k + c] = c % 6 < 3 ? Math.min(l, r) : Math.max(l, r);
      }
    }
  }

  /**
   * Calls back with every pair of elements (e of this tree, f of `other`) that no axis keeps more than `margin` apart
   * at both ends, except pairs with a common mask bit. If other === this, every unordered pair occurs once. The order
   * is fixed.
   *
   * @param visit ends the walk when it returns false
   * @param pulse called at short intervals; may throw
   */
  forEachMeeting(
    other: MotionTree,
    margin: number,
    visit: (e: number, f: number) => boolean,
    pulse: () => void = () => {},
  ): void {
    const own = this.tree;
    const { tree } = other;
    if (own.count === 0 || tree.count === 0) return;
    const isSelf = other === this;
    const depth = Math.clz32(tree.leaves);
    const ownLeaves = Math.ceil(own.count / LEAF_SIZE);
    for (let leaf = 0; leaf < ownLeaves; leaf++) {
      if (leaf % LEAVES_PER_PULSE === 0) pulse();
      const q = 12 * (own.leaves + leaf);
      const common = own.nodeMask[own.leaves + leaf];
      const fromLeaf = isSelf ? leaf : 0;
      let k = 1;
      do {
        // The last leaf under node k; in a self walk everything before the own leaf has been paired already.
        const lastLeaf = ((k + 1) << (Math.clz32(k) - depth)) - 1 - tree.leaves;
        if (
          lastLeaf >= fromLeaf &&
          (common & tree.nodeMask[k]) === 0 &&
          !areApart(this.#node, q, other.#node, 12 * k, margin)
        ) {
          if (k < tree.leaves) {
            k <<= 1;
            continue;
          }
          if (!this.#pairLeaves(leaf, other, k - tree.leaves, margin, visit)) return;
        }
        k++;
        k >>= 31 - Math.clz32(k & -k);
      } while (k !== 1);
    }
  }

  #pairLeaves(
    ownLeaf: number,
    other: MotionTree,
    leaf: number,
    margin: number,
    visit: (e: number, f: number) => boolean,
  ): boolean {
    const own = this.tree;
    const { tree } = other;
    const isWithin = other === this && leaf === ownLeaf;
    const ownEnd = Math.min(own.count, (ownLeaf + 1) * LEAF_SIZE);
    const end = Math.min(tree.count, (leaf + 1) * LEAF_SIZE);
    for (let s = ownLeaf * LEAF_SIZE; s < ownEnd; s++) {
      for (let t = isWithin ? s + 1 : leaf * LEAF_SIZE; t < end; t++) {
        if ((own.mask[s] & tree.mask[t]) !== 0 || areApart(this.#ends, 12 * s, other.#ends, 12 * t, margin)) continue;
        if (!visit(this.#ids[own.order[s]], other.#ids[tree.order[t]])) return false;
      }
    }
    return true;
  }
}
