import type { Hit, Ray } from './pick.js';

/** Triangles in a leaf: few enough to test all of them, many enough to keep the tree small. */
const LEAF = 8;
/** Bits of a Morton code per axis; below, the limit of triangle numbers: together they are exact in a double. */
const BITS = 8;
const TRIANGLES = 2 ** 27;
/**
 * Growth of boxes as a share of the size of the scene: far above the rounding of the slab test, far below the size of a
 * visible triangle. A box that is too large costs a test; one that is too small would lose a hit.
 */
const GROWTH = 1e-9;

/**
 * A tree of boxes over triangles, so that a ray tests only some of them. The order of the triangles follows from the
 * positions when it is built, along a curve that fills space; for other positions only the boxes are computed again.
 */
export class PickTree {
  readonly #triangles: Uint32Array;
  /** uint32[T] */
  readonly #order: Uint32Array;
  /** leaves, a power of two; node i has the children 2 i and 2 i + 1, and leaf l is node #leaves + l */
  readonly #leaves: number;
  /** float64[6 · nodes]: lower corner, upper corner */
  readonly #boxes: Float64Array;
  /** boxes that the last ray has crossed, for tests: the hits of a tree that prunes nothing would be the same */
  visited = 0;

  /** @param triangles uint32[3·T] @param positions [3·V] */
  constructor(triangles: Uint32Array, positions: ArrayLike<number>) {
    this.#triangles = triangles;
    this.#order = sortAlongCurve(triangles, positions);
    const count = Math.max(1, Math.ceil(triangles.length / 3 / LEAF));
    this.#leaves = 2 ** Math.ceil(Math.log2(count));
    this.#boxes = new Float64Array(12 * this.#leaves);
    this.fit(positions);
  }

  /** Fits the boxes to the triangles at other positions, [3·V]. */
  fit(positions: ArrayLike<number>): void {
    const [boxes, triangles, order, leaves] = [this.#boxes, this.#triangles, this.#order, this.#leaves];
    for (let leaf = 0; leaf < leaves; leaf++) {
      const box = 6 * (leaves + leaf);
      let x0 = Infinity;
      let y0 = Infinity;
      let z0 = Infinity;
      let x1 = -Infinity;
      let y1 = -Infinity;
      let z1 = -Infinity;
      const end = Math.min(order.length, (leaf + 1) * LEAF);
      for (let i = leaf * LEAF; i < end; i++) {
        const first = 3 * order[i]!;
        for (let k = first; k < first + 3; k++) {
          const v = 3 * triangles[k]!;
          const x = positions[v]!;
          const y = positions[v + 1]!;
          const z = positions[v + 2]!;
          if (x < x0) x0 = x;
          if (x > x1) x1 = x;
          if (y < y0) y0 = y;
          if (y > y1) y1 = y;
          if (z < z0) z0 = z;
          if (z > z1) z1 = z;
        }
      }
      boxes[box] = x0;
      boxes[box + 1] = y0;
      boxes[box + 2] = z0;
      boxes[box + 3] = x1;
      boxes[box + 4] = y1;
      boxes[box + 5] = z1;
    }
    for (let node = leaves - 1; node > 0; node--) {
      for (let c = 0; c < 3; c++) {
        boxes[6 * node + c] = Math.min(boxes[12 * node + c]!, boxes[12 * node + 6 + c]!);
        boxes[6 * node + 3 + c] = Math.max(boxes[12 * node + 3 + c]!, boxes[12 * node + 9 + c]!);
      }
    }
  }

  /** The first triangle that a ray meets; of several at the same distance, the one with the smallest number. */
  hit(positions: ArrayLike<number>, ray: Ray): Hit | undefined {
    const boxes = this.#boxes;
    const growth = GROWTH * Math.hypot(...[0, 1, 2].map((c) => boxes[9 + c]! - boxes[6 + c]!));
    const best: Best = { distance: Infinity, triangle: -1, corner: 0 };
    const waiting: number[] = [];
    const entries: number[] = [];
    this.visited = 0;
    /** Stacks a node that the ray enters before the best hit; the last one stacked is visited next. */
    const note = (node: number, entry: number): void => {
      if (entry === Infinity) return;
      waiting.push(node);
      entries.push(entry);
    };
    note(1, entryOf(boxes, 1, ray, growth));
    while (waiting.length > 0) {
      const node = waiting.pop()!;
      if (entries.pop()! > best.distance) continue;
      this.visited += 1;
      if (node >= this.#leaves) {
        const first = (node - this.#leaves) * LEAF;
        const end = Math.min(this.#order.length, first + LEAF);
        for (let i = first; i < end; i++) testTriangle(this.#triangles, this.#order[i]!, positions, ray, best);
        continue;
      }
      const [one, other] = [2 * node, 2 * node + 1];
      const [toOne, toOther] = [entryOf(boxes, one, ray, growth), entryOf(boxes, other, ray, growth)];
      // The nearer one is visited first, which often rules out the other.
      if (toOne <= toOther) note(other, toOther);
      note(one, toOne);
      if (toOne > toOther) note(other, toOther);
    }
    if (best.triangle < 0) return undefined;
    return { vertex: this.#triangles[3 * best.triangle + best.corner]!, distance: best.distance };
  }
}

interface Best {
  distance: number;
  triangle: number;
  corner: number;
}

/** Where the ray enters a box, from 0; infinite if it does not. */
function entryOf(boxes: Float64Array, node: number, { origin, direction }: Ray, growth: number): number {
  let near = 0;
  let far = Infinity;
  for (let c = 0; c < 3; c++) {
    const low = boxes[6 * node + c]! - growth - origin[c]!;
    const high = boxes[6 * node + 3 + c]! + growth - origin[c]!;
    // An empty box.
    if (!(low <= high)) return Infinity;
    const along = direction[c]!;
    if (along === 0) {
      if (!(low <= 0 && high >= 0)) return Infinity;
      continue;
    }
    const [one, other] = [low / along, high / along];
    near = Math.max(near, Math.min(one, other));
    far = Math.min(far, Math.max(one, other));
  }
  return near <= far ? near : Infinity;
}

/** Möller and Trumbore: barycentric coordinates of the hit by Cramer's rule. */
function testTriangle(triangles: Uint32Array, triangle: number, p: ArrayLike<number>, ray: Ray, best: Best): void {
  const [dx, dy, dz] = ray.direction;
  const a = 3 * triangles[3 * triangle]!;
  const b = 3 * triangles[3 * triangle + 1]!;
  const c = 3 * triangles[3 * triangle + 2]!;
  const ux = p[b]! - p[a]!;
  const uy = p[b + 1]! - p[a + 1]!;
  const uz = p[b + 2]! - p[a + 2]!;
  const vx = p[c]! - p[a]!;
  const vy = p[c + 1]! - p[a + 1]!;
  const vz = p[c + 2]! - p[a + 2]!;
  const hx = dy * vz - dz * vy;
  const hy = dz * vx - dx * vz;
  const hz = dx * vy - dy * vx;
  const det = ux * hx + uy * hy + uz * hz;
  if (det === 0) return;
  const sx = ray.origin[0] - p[a]!;
  const sy = ray.origin[1] - p[a + 1]!;
  const sz = ray.origin[2] - p[a + 2]!;
  const s = (sx * hx + sy * hy + sz * hz) / det;
  if (!(s >= 0 && s <= 1)) return;
  const qx = sy * uz - sz * uy;
  const qy = sz * ux - sx * uz;
  const qz = sx * uy - sy * ux;
  const t = (dx * qx + dy * qy + dz * qz) / det;
  if (!(t >= 0 && s + t <= 1)) return;
  const distance = (vx * qx + vy * qy + vz * qz) / det;
  if (!(distance > 0)) return;
  if (!(distance < best.distance || (distance === best.distance && triangle < best.triangle))) return;
  best.distance = distance;
  best.triangle = triangle;
  best.corner = s > t ? (s > 1 - s - t ? 1 : 0) : t > 1 - s - t ? 2 : 0;
}

/** Returns uint32[T]: the triangles sorted by the Morton codes of their centres. */
function sortAlongCurve(triangles: Uint32Array, positions: ArrayLike<number>): Uint32Array {
  const count = triangles.length / 3;
  const middles = new Float64Array(3 * count);
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    const a = 3 * triangles[3 * i]!;
    const b = 3 * triangles[3 * i + 1]!;
    const c = 3 * triangles[3 * i + 2]!;
    for (let k = 0; k < 3; k++) {
      const middle = positions[a + k]! + positions[b + k]! + positions[c + k]!;
      middles[3 * i + k] = middle;
      if (middle < low[k]!) low![k] = middle;
      if (middle > high[k]!) high![k] = middle;
    }
  }
  const cells = 2 ** BITS;
  const scales = low.map((least, k) => (high[k]! > least ? (cells - 1) / (high[k]! - least) : 0));
  // Code and triangle in one exact double, so that the built-in numeric sort can be used.
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let code = 0;
    for (let k = 0; k < 3; k++) code |= spread(Math.floor((middles[3 * i + k]! - low[k]!) * scales[k]!)) << k;
    keys[i] = code * TRIANGLES + i;
  }
  keys.sort();
  return Uint32Array.from(keys, (key) => key % TRIANGLES);
}

/** The bits of a number below 1024, each followed by two zeros. */
function spread(value: number): number {
  let bits = value & 0x3ff;
  bits = (bits | (bits << 16)) & 0x030000ff;
  bits = (bits | (bits << 8)) & 0x0300f00f;
  bits = (bits | (bits << 4)) & 0x030c30c3;
  return (bits | (bits << 2)) & 0x09249249;
}
