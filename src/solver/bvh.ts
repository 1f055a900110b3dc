import { allocate, release } from '../threads/arrays.js';
import { team } from '../threads/here.js';
import { defineStage } from '../threads/stage.js';
import { LEAF_SIZE } from './constants.js';
import { type Grid, gridOf, isSameGrid, mortonCode, moveInOrder, sortByCode } from './morton.js';

const LEAF_SHIFT = Math.log2(LEAF_SIZE);

/** If more than this share of the boxes has changed, sorting all of them costs no more than moving the changed ones. */
const MOVED_SHARE = 1 / 4;

/** The fields of a {@link Bvh} that a walk reads. */
export interface Tree {
  readonly count: number;
  readonly leaves: number;
  readonly box: Float32Array;
  readonly mask: Uint8Array;
  readonly node: Float32Array;
  readonly nodeMask: Uint8Array;
}

/**
 * Implicit bounding volume hierarchy over axis-aligned boxes: primitives sorted by Morton code, leaves of eight, node k
 * with children 2k and 2k + 1, leaves padded to a power of two. The walk needs no stack: after a hit go to 2k, after a
 * miss or a leaf to (k + 1) >> ctz(k + 1), and stop on reaching 1 again.
 *
 * Exact for boxes of any mix of sizes: the order of the primitives decides only how tight the nodes are.
 */
export class Bvh {
  // The arrays have the length of the largest set so far; N elements and m leaves are those of the current set.
  /** uint32[N] primitives in leaf order: order[s] is the primitive in position s */
  order: Uint32Array = new Uint32Array(0);
  /** float32[6·N] boxes in leaf order: lo xyz, hi xyz */
  box: Float32Array = new Float32Array(0);
  /** uint8[N] masks in leaf order: a pair with a bit in common is excluded */
  mask: Uint8Array = new Uint8Array(0);
  /** float32[6·2m] node boxes, root at 1, leaf i at m + i; empty nodes are inverted */
  node: Float32Array = new Float32Array(0);
  /** uint8[2m] bits that all primitives below have */
  nodeMask: Uint8Array = new Uint8Array(0);
  /** number of leaves, a power of two */
  leaves = 1;
  count = 0;

  /** uint32[N] Morton code of each primitive, in the caller's numbering, and the grid whose cells the code counts */
  #code: Uint32Array = new Uint32Array(0);
  #grid: Grid = { x: 0, y: 0, z: 0, cells: 0 };

  get bytes(): number {
    const { order, box, mask, node, nodeMask } = this;
    const sorted = order.byteLength + box.byteLength + mask.byteLength;
    return sorted + this.#code.byteLength + node.byteLength + nodeMask.byteLength;
  }

  /** Frees the memory; the tree must be rebuilt. */
  free(): void {
    release(this.order, this.box, this.mask, this.node, this.nodeMask, this.#code);
    this.order = new Uint32Array(0);
    this.box = new Float32Array(0);
    this.mask = new Uint8Array(0);
    this.node = new Float32Array(0);
    this.nodeMask = new Uint8Array(0);
    this.#code = new Uint32Array(0);
    this.count = 0;
  }

  /**
   * @param count N
   * @param box float32[6·N] lo xyz, hi xyz of each primitive, finite
   * @param mask uint8[N] pairs of primitives with a bit in common are excluded
   */
  build(count: number, box: Float32Array, mask: Uint8Array): void {
    this.count = count;
    const leafCount = Math.max(1, Math.ceil(count / LEAF_SIZE));
    this.leaves = 1 << (32 - Math.clz32(leafCount - 1));
    if (this.order.length < count) {
      release(this.order, this.box, this.mask);
      this.order = allocate(Uint32Array, count);
      this.box = allocate(Float32Array, 6 * count);
      this.mask = allocate(Uint8Array, count);
      release(this.#code);
      this.#code = allocate(Uint32Array, count);
    }
    if (this.nodeMask.length < 2 * this.leaves) {
      release(this.node, this.nodeMask);
      this.node = allocate(Float32Array, 12 * this.leaves);
      this.nodeMask = allocate(Uint8Array, 2 * this.leaves);
    }
    this.#grid = gridOf(count, box);
    const arrays = { box, code: this.#code };
    team.run({ stage: CODES, arrays, numbers: { ...this.#grid }, count, chunk: CODE_CHUNK, cost: CODE_COST });
    sortByCode(count, this.#code, this.order);
    this.#fill(box, mask);
  }

  /**
   * Gives the same tree as {@link build}, bit for bit, when only some primitives have other boxes than when the tree
   * was last built. Most of the cost is that of copying boxes.
   *
   * @param box float32[6·N] as for {@link build}
   * @param mask uint8[N] as for {@link build}; any may have changed
   * @param changed uint32[changedCount] the primitives with another box, ascending
   */
  update(box: Float32Array, mask: Uint8Array, changed: Uint32Array, changedCount: number): void {
    const { count } = this;
    const grid = gridOf(count, box);
    if (!isSameGrid(grid, this.#grid) || changedCount > count * MOVED_SHARE) {
      this.build(count, box, mask);
      return;
    }
    const code = this.#code;
    const moved: number[] = [];
    for (let n = 0; n < changedCount; n++) {
      const i = changed[n];
      const now = mortonCode(box, i, grid);
      if (now === code[i]) continue;
      code[i] = now;
      moved.push(i);
    }
    if (moved.length > 0) moveInOrder(this.order, count, code, moved);
    this.#fill(box, mask);
  }

  /** Fills boxes and masks in leaf order, then the nodes above them. */
  #fill(box: Float32Array, mask: Uint8Array): void {
    const { order, count, leaves, node, nodeMask } = this;
    const arrays = { order, fromBox: box, fromMask: mask, box: this.box, mask: this.mask, node, nodeMask };
    team.run({
      stage: LEAVES,
      arrays,
      numbers: { count, leaves },
      count: leaves,
      chunk: LEAVES_PER_CHUNK,
      cost: LEAF_COST,
    });
    this.#refit();
  }

  /** Computes the nodes above the leaves. */
  #refit(): void {
    const { node, nodeMask, leaves } = this;
    for (let k = leaves - 1; k >= 1; k--) {
      const l = 12 * k;
      const r = l + 6;
      for (let c = 0; c < 3; c++) {
        const lo = node[l + c];
        const otherLo = node[r + c];
        node[6 * k + c] = otherLo < lo ? otherLo : lo;
        const hi = node[l + 3 + c];
        const otherHi = node[r + 3 + c];
        node[6 * k + 3 + c] = otherHi > hi ? otherHi : hi;
      }
      nodeMask[k] = nodeMask[2 * k] & nodeMask[2 * k + 1];
    }
  }

  /**
   * Calls back with every pair of positions (s in this tree, t in `other`) whose boxes overlap (touching counts),
   * except pairs with a common mask bit. If other === this, every unordered pair of two different positions occurs
   * once, with s < t. Walks the other tree once per leaf of this one; the order is fixed by the two trees.
   *
   * @param visit must not begin another walk on this thread, of any trees: all walks write {@link overlaps}
   */
  forEachOverlap(other: Bvh, visit: (s: number, t: number) => void): void {
    if (this.count === 0 || other.count === 0) return;
    const ownLeaves = Math.ceil(this.count / LEAF_SIZE);
    const visitAll = (count: number): void => {
      for (let n = 0; n < 2 * count; n += 2) visit(overlaps[n], overlaps[n + 1]);
    };
    for (let own = 0; own < ownLeaves; own++) overlapLeaf(this, other, own, other === this, visitAll);
  }
}

interface LeafArrays {
  readonly order: Uint32Array;
  /** by primitive */
  readonly fromBox: Float32Array;
  readonly fromMask: Uint8Array;
  /** in leaf order */
  readonly box: Float32Array;
  readonly mask: Uint8Array;
  readonly node: Float32Array;
  readonly nodeMask: Uint8Array;
}

interface CodeArrays {
  readonly box: Float32Array;
  readonly code: Uint32Array;
}

/** Primitives of a chunk, and nanoseconds of one. */
const CODE_CHUNK = 4096;
const CODE_COST = 15;

const CODES = defineStage(import.meta.url, 'codes', computeCodes);

function computeCodes({ box, code }: CodeArrays, grid: Grid, from: number, to: number): void {
  for (let i = from; i < to; i++) code[i] = mortonCode(box, i, grid);
}

const LEAVES_PER_CHUNK = 256;
/** Nanoseconds. */
const LEAF_COST = 200;

const LEAVES = defineStage(import.meta.url, 'leaves', fillLeaves);

/** Fills boxes and masks in leaf order, and the nodes of the leaves. */
function fillLeaves(
  { order, fromBox, fromMask, box, mask, node, nodeMask }: LeafArrays,
  { count, leaves }: { readonly count: number; readonly leaves: number },
  from: number,
  to: number,
): void {
  for (let leaf = from; leaf < to; leaf++) {
    const end = Math.min(count, (leaf + 1) << LEAF_SHIFT);
    let common = 0xff;
    let lx = Number.POSITIVE_INFINITY;
    let ly = lx;
    let lz = lx;
    let hx = Number.NEGATIVE_INFINITY;
    let hy = hx;
    let hz = hx;
    for (let s = leaf << LEAF_SHIFT; s < end; s++) {
      const i = order[s];
      const p = 6 * i;
      const q = 6 * s;
      const ax = fromBox[p];
      const ay = fromBox[p + 1];
      const az = fromBox[p + 2];
      const bx = fromBox[p + 3];
      const by = fromBox[p + 4];
      const bz = fromBox[p + 5];
      box[q] = ax;
      box[q + 1] = ay;
      box[q + 2] = az;
      box[q + 3] = bx;
      box[q + 4] = by;
      box[q + 5] = bz;
      if (ax < lx) lx = ax;
      if (ay < ly) ly = ay;
      if (az < lz) lz = az;
      if (bx > hx) hx = bx;
      if (by > hy) hy = by;
      if (bz > hz) hz = bz;
      mask[s] = fromMask[i];
      common &= fromMask[i];
    }
    const k = leaves + leaf;
    node[6 * k] = lx;
    node[6 * k + 1] = ly;
    node[6 * k + 2] = lz;
    node[6 * k + 3] = hx;
    node[6 * k + 4] = hy;
    node[6 * k + 5] = hz;
    nodeMask[k] = common;
  }
}

/**
 * uint32[2·LEAF_SIZE²] the positions, in `a` and in `b`, of the overlapping pairs of two leaves that
 * {@link overlapLeaf} reported last.
 */
export const overlaps = new Uint32Array(2 * LEAF_SIZE * LEAF_SIZE);

/**
 * {@link Bvh.forEachOverlap} for one leaf.
 *
 * @param leaf leaf of `a` @param isSelf whether the trees are the same
 * @param visit receives the number of {@link overlaps}, for one leaf of `b` after the other; it must read them before
 *   the next walk begins
 */
export function overlapLeaf(a: Tree, b: Tree, leaf: number, isSelf: boolean, visit: (count: number) => void): void {
  const { node: tree, nodeMask: treeMask, leaves } = b;
  const depth = Math.clz32(leaves);
  const o = 6 * (a.leaves + leaf);
  const lx = a.node[o];
  const ly = a.node[o + 1];
  const lz = a.node[o + 2];
  const hx = a.node[o + 3];
  const hy = a.node[o + 4];
  const hz = a.node[o + 5];
  const common = a.nodeMask[a.leaves + leaf];
  const fromLeaf = isSelf ? leaf : 0;
  let k = 1;
  do {
    const q = 6 * k;
    // The last leaf under node k; in a self walk everything before the own leaf has been paired already.
    const lastLeaf = ((k + 1) << (Math.clz32(k) - depth)) - 1 - leaves;
    if (
      lastLeaf >= fromLeaf &&
      tree[q] <= hx &&
      tree[q + 3] >= lx &&
      tree[q + 1] <= hy &&
      tree[q + 4] >= ly &&
      tree[q + 2] <= hz &&
      tree[q + 5] >= lz &&
      (common & treeMask[k]) === 0
    ) {
      if (k < leaves) {
        k <<= 1;
        continue;
      }
      const count = pairLeaves(a, leaf, b, k - leaves, isSelf);
      if (count > 0) visit(count);
    }
    k++;
    k >>= 31 - Math.clz32(k & -k);
  } while (k !== 1);
}

/** Elements of the other leaf that overlap the box of this leaf. */
const near = new Uint32Array(LEAF_SIZE);

/** Fills {@link overlaps}. @returns the number of pairs */
function pairLeaves(a: Tree, own: number, other: Tree, leaf: number, isSelf: boolean): number {
  const { box, mask } = a;
  const { box: otherBox, mask: otherMask, node } = other;
  const end = Math.min(a.count, (own + 1) << LEAF_SHIFT);
  const otherEnd = Math.min(other.count, (leaf + 1) << LEAF_SHIFT);
  const isSameLeaf = isSelf && leaf === own;
  // Only primitives of the other leaf that overlap the box of this leaf need to be compared with its primitives.
  let nearCount = 0;
  const p = 6 * (a.leaves + own);
  for (let t = leaf << LEAF_SHIFT; t < otherEnd; t++) {
    const b = 6 * t;
    if (
      otherBox[b] <= a.node[p + 3] &&
      otherBox[b + 3] >= a.node[p] &&
      otherBox[b + 1] <= a.node[p + 4] &&
      otherBox[b + 4] >= a.node[p + 1] &&
      otherBox[b + 2] <= a.node[p + 5] &&
      otherBox[b + 5] >= a.node[p + 2]
    ) {
      near[nearCount++] = t;
    }
  }
  if (nearCount === 0) return 0;
  let count = 0;
  const q = 6 * (other.leaves + leaf);
  for (let s = own << LEAF_SHIFT; s < end; s++) {
    const q0 = 6 * s;
    const lx = box[q0];
    const ly = box[q0 + 1];
    const lz = box[q0 + 2];
    const hx = box[q0 + 3];
    const hy = box[q0 + 4];
    const hz = box[q0 + 5];
    if (
      lx > node[q + 3] ||
      hx < node[q] ||
      ly > node[q + 4] ||
      hy < node[q + 1] ||
      lz > node[q + 5] ||
      hz < node[q + 2]
    ) {
      continue;
    }
    const common = mask[s];
    for (let n = 0; n < nearCount; n++) {
      const t = near[n];
      if (isSameLeaf && t <= s) continue;
      const b = 6 * t;
      if (
        (common & otherMask[t]) === 0 &&
        otherBox[b] <= hx &&
        otherBox[b + 3] >= lx &&
        otherBox[b + 1] <= hy &&
        otherBox[b + 4] >= ly &&
        otherBox[b + 2] <= hz &&
        otherBox[b + 5] >= lz
      ) {
        overlaps[count] = s;
        overlaps[count + 1] = t;
        count += 2;
      }
    }
  }
  return count >> 1;
}
