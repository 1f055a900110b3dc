import { LEAF_SIZE } from './constants.js';

const LEAF_SHIFT = Math.log2(LEAF_SIZE);
/** Leaves between two pulses: some 10,000 pairs where everything is in contact, about ten milliseconds. */
const LEAVES_PER_PULSE = 64;

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
  order = new Uint32Array(0);
  /** float32[6·N] boxes in leaf order: lo xyz, hi xyz */
  box = new Float32Array(0);
  /** uint8[N] masks in leaf order: a pair with a bit in common is excluded */
  mask = new Uint8Array(0);
  /** float32[6·2m] node boxes, root at 1, leaf i at m + i; empty nodes are inverted */
  node = new Float32Array(0);
  /** uint8[2m] bits that all primitives below have */
  nodeMask = new Uint8Array(0);
  /** number of leaves, a power of two */
  leaves = 1;
  count = 0;

  get bytes(): number {
    const { order, box, mask, node, nodeMask } = this;
    return order.byteLength + box.byteLength + mask.byteLength + node.byteLength + nodeMask.byteLength;
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
      this.order = new Uint32Array(count);
      this.box = new Float32Array(6 * count);
      this.mask = new Uint8Array(count);
    }
    if (this.nodeMask.length < 2 * this.leaves) {
      this.node = new Float32Array(12 * this.leaves);
      this.nodeMask = new Uint8Array(2 * this.leaves);
    }
    sortByMorton(count, box, this.order);
    const order = this.order;
    const sorted = this.box;
    for (let s = 0; s < count; s++) {
      const q = 6 * order[s];
      for (let c = 0; c < 6; c++) sorted[6 * s + c] = box[q + c];
      this.mask[s] = mask[order[s]];
    }
    this.#refit();
  }

  #refit(): void {
    const { node, nodeMask, leaves, count, box, mask } = this;
    for (let leaf = 0; leaf < leaves; leaf++) {
      const k = leaves + leaf;
      const end = Math.min(count, (leaf + 1) << LEAF_SHIFT);
      let common = 0xff;
      let lx = Number.POSITIVE_INFINITY;
      let ly = lx;
      let lz = lx;
      let hx = Number.NEGATIVE_INFINITY;
      let hy = hx;
      let hz = hx;
      for (let s = leaf << LEAF_SHIFT; s < end; s++) {
        lx = Math.min(lx, box[6 * s]);
        ly = Math.min(ly, box[6 * s + 1]);
        lz = Math.min(lz, box[6 * s + 2]);
        hx = Math.max(hx, box[6 * s + 3]);
        hy = Math.max(hy, box[6 * s + 4]);
        hz = Math.max(hz, box[6 * s + 5]);
        common &= mask[s];
      }
      node[6 * k] = lx;
      node[6 * k + 1] = ly;
      node[6 * k + 2] = lz;
      node[6 * k + 3] = hx;
      node[6 * k + 4] = hy;
      node[6 * k + 5] = hz;
      nodeMask[k] = common;
    }
    for (let k = leaves - 1; k >= 1; k--) {
      const l = 12 * k;
      const r = l + 6;
      for (let c = 0; c < 3; c++) {
        node[6 * k + c] = Math.min(node[l + c], node[r + c]);
        node[6 * k + 3 + c] = Math.max(node[l + 3 + c], node[r + 3 + c]);
      }
      nodeMask[k] = nodeMask[2 * k] & nodeMask[2 * k + 1];
    }
  }

  /**
   * Calls back with every pair of positions (s here, t in `other`) whose boxes overlap (touching counts), less those
   * with a mask bit in common. With other === this every unordered pair of two different positions comes once, s < t.
   * Walks the other tree once per leaf of this one; the order is fixed by the two trees.
   *
   * @param pulse called at short intervals; may throw
   */
  forEachOverlap(other: Bvh, visit: (s: number, t: number) => void, pulse: () => void = () => {}): void {
    if (this.count === 0 || other.count === 0) return;
    const isSelf = other === this;
    const { node: tree, nodeMask: treeMask, leaves } = other;
    const depth = Math.clz32(leaves);
    const ownLeaves = Math.ceil(this.count / LEAF_SIZE);
    for (let own = 0; own < ownLeaves; own++) {
      if (own % LEAVES_PER_PULSE === 0) pulse();
      const o = 6 * (this.leaves + own);
      const lx = this.node[o];
      const ly = this.node[o + 1];
      const lz = this.node[o + 2];
      const hx = this.node[o + 3];
      const hy = this.node[o + 4];
      const hz = this.node[o + 5];
      const common = this.nodeMask[this.leaves + own];
      const fromLeaf = isSelf ? own : 0;
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
          this.#pairLeaves(own, other, k - leaves, isSelf, visit);
        }
        k++;
        k >>= 31 - Math.clz32(k & -k);
      } while (k !== 1);
    }
  }

  #pairLeaves(own: number, other: Bvh, leaf: number, isSelf: boolean, visit: (s: number, t: number) => void): void {
    const { box, mask } = this;
    const { box: otherBox, mask: otherMask, node } = other;
    const q = 6 * (other.leaves + leaf);
    const end = Math.min(this.count, (own + 1) << LEAF_SHIFT);
    const otherEnd = Math.min(other.count, (leaf + 1) << LEAF_SHIFT);
    for (let s = own << LEAF_SHIFT; s < end; s++) {
      const a = 6 * s;
      const lx = box[a];
      const ly = box[a + 1];
      const lz = box[a + 2];
      const hx = box[a + 3];
      const hy = box[a + 4];
      const hz = box[a + 5];
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
      for (let t = isSelf && leaf === own ? s + 1 : leaf << LEAF_SHIFT; t < otherEnd; t++) {
        const b = 6 * t;
        if (
          otherBox[b] <= hx &&
          otherBox[b + 3] >= lx &&
          otherBox[b + 1] <= hy &&
          otherBox[b + 4] >= ly &&
          otherBox[b + 2] <= hz &&
          otherBox[b + 5] >= lz &&
          (common & otherMask[t]) === 0
        ) {
          visit(s, t);
        }
      }
    }
  }
}

/** 10 bits an axis. */
const GRID = 1023;

/** Stable radix sort of 0…count−1 by the Morton code of the boxes' centres: equal codes stay in index order. */
function sortByMorton(count: number, box: Float32Array, order: Uint32Array): void {
  const lo = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const hi = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < 3; c++) {
      const centre = box[6 * i + c] + box[6 * i + 3 + c];
      if (centre < lo[c]) lo[c] = centre;
      if (centre > hi[c]) hi[c] = centre;
    }
  }
  // One cell size for the three axes keeps nodes of flat scenes compact; a single point gets cell 0.
  const extent = Math.max(hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]);
  const cells = extent > 0 ? GRID / extent : 0;
  const code = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const cx = Math.floor((box[6 * i] + box[6 * i + 3] - lo[0]) * cells);
    const cy = Math.floor((box[6 * i + 1] + box[6 * i + 4] - lo[1]) * cells);
    const cz = Math.floor((box[6 * i + 2] + box[6 * i + 5] - lo[2]) * cells);
    code[i] = spread(cx) | (spread(cy) << 1) | (spread(cz) << 2);
  }
  let from = new Uint32Array(count);
  let to = order;
  for (let i = 0; i < count; i++) from[i] = i;
  const bucket = new Uint32Array(1025);
  for (let shift = 0; shift < 30; shift += 10) {
    bucket.fill(0);
    for (let i = 0; i < count; i++) bucket[((code[i] >>> shift) & GRID) + 1]++;
    for (let b = 0; b < 1024; b++) bucket[b + 1] += bucket[b];
    for (let s = 0; s < count; s++) to[bucket[(code[from[s]] >>> shift) & GRID]++] = from[s];
    const swap = from;
    from = to as Uint32Array<ArrayBuffer>;
    to = swap;
  }
  if (from !== order) order.set(from);
}

/** Spreads ten bits to every third bit. */
function spread(value: number): number {
  let v = Math.min(GRID, Math.max(0, value));
  v = (v | (v << 16)) & 0x030000ff;
  v = (v | (v << 8)) & 0x0300f00f;
  v = (v | (v << 4)) & 0x030c30c3;
  return (v | (v << 2)) & 0x09249249;
}
