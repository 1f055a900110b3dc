import type { Positions } from '../contract/mesh.js';
import { type Ranked, selectMedian, selectRank } from './select.js';

/** Below this a squared length may have lost digits to underflow (2⁻¹⁰²² / 2⁻⁵³, with room for three terms). */
const SQUARED_UNDERFLOW = 2 ** -960;

/** Length of a vector; accurate for any finite components up to 1e150. */
export function lengthOf(x: number, y: number, z: number): number {
  const squared = x * x + y * y + z * z;
  return squared > SQUARED_UNDERFLOW ? Math.sqrt(squared) : Math.hypot(x, y, z);
}

/** Distance of vertices a and b. */
export function distanceOf(positions: Positions, a: number, b: number): number {
  return lengthOf(
    positions[3 * b]! - positions[3 * a]!,
    positions[3 * b + 1]! - positions[3 * a + 1]!,
    positions[3 * b + 2]! - positions[3 * a + 2]!,
  );
}

/** The shortest height of a triangle: twice its area over its longest side; 0 without area. */
export function heightOf(positions: Positions, a: number, b: number, c: number): number {
  const at = (v: number, axis: number): number => positions[3 * v + axis]!;
  const [ux, uy, uz] = [at(b, 0) - at(a, 0), at(b, 1) - at(a, 1), at(b, 2) - at(a, 2)];
  const [vx, vy, vz] = [at(c, 0) - at(a, 0), at(c, 1) - at(a, 1), at(c, 2) - at(a, 2)];
  const longest = Math.max(lengthOf(ux, uy, uz), lengthOf(vx, vy, vz), distanceOf(positions, b, c));
  if (longest === 0) return 0;
  return lengthOf(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx) / longest;
}

/**
 * The median of `lengths` (float64, reordered in place), the mean of the middle two for an even count. If more than
 * half are zero, the median of the positive ones, because 0 is not a length scale. 0 if there is no positive length.
 */
export function medianLength(lengths: Float64Array): number {
  const median = selectMedian(lengths);
  return median > 0 ? median : selectMedian(lengths.filter((length) => length > 0));
}

/** The median of sorted numbers; 0 if there are none. */
export function middleOf(sorted: Float64Array): number {
  if (sorted.length === 0) return 0;
  const upper = sorted[sorted.length >>> 1]!;
  return sorted.length % 2 === 1 ? upper : (sorted[(sorted.length >>> 1) - 1]! + upper) / 2;
}

/** Points per leaf: below this, testing each is faster than descending further. */
const LEAF_SIZE = 8;

/**
 * Distance of each point to its nearest neighbour. The k-d tree halves the points by rank, so that a distant outlier, a
 * line or many identical points cost no more than an even cloud, unlike with a spatial grid.
 *
 * @param points vertex ids
 * @returns float64[points]; empty for fewer than two points
 */
export function nearestDistances(positions: Positions, points: Uint32Array): Float64Array {
  if (points.length < 2) return new Float64Array(0);
  const order = new Uint32Array(points);
  const axes = new Uint8Array(points.length);
  arrange(positions, order, axes);
  const search = new NearestSearch(positions, order, axes);
  return Float64Array.from(order, (_, rank) => search.distanceFrom(rank));
}

/**
 * Reorders `order` into a balanced k-d tree: the node of the range [from, to) is its middle entry m; points that lie
 * lower along axes[m] come before it, points that lie higher after it.
 */
function arrange(positions: Positions, order: Uint32Array, axes: Uint8Array): void {
  const stack = [0, order.length];
  while (stack.length > 0) {
    const to = stack.pop()!;
    const from = stack.pop()!;
    if (to - from <= LEAF_SIZE) continue;
    const middle = (from + to) >>> 1;
    const axis = widestAxis(positions, order, from, to);
    selectRank(new PointsAlong(positions, order, axis), from, to - 1, middle);
    axes[middle] = axis;
    stack.push(from, middle, middle + 1, to);
  }
}

function widestAxis(positions: Positions, order: Uint32Array, from: number, to: number): number {
  let widest = 0;
  let width = -1;
  for (let axis = 0; axis < 3; axis++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let i = from; i < to; i++) {
      const value = positions[3 * order[i]! + axis]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (high - low > width) {
      width = high - low;
      widest = axis;
    }
  }
  return widest;
}

/** Points in the order of a k-d tree, each with its coordinate along an axis. */
export class PointsAlong implements Ranked {
  constructor(
    private readonly positions: Positions,
    private readonly order: Uint32Array,
    private readonly axis: number,
  ) {}

  key(i: number): number {
    return this.positions[3 * this.order[i]! + this.axis]!;
  }

  swap(i: number, j: number): void {
    const other = this.order[i]!;
    this.order[i] = this.order[j]!;
    this.order[j] = other;
  }

  sort(first: number, last: number): void {
    const at = (point: number): number => this.positions[3 * point + this.axis]!;
    this.order.subarray(first, last + 1).sort((a, b) => at(a) - at(b));
  }
}

class NearestSearch {
  private best = 0;
  private self = 0;
  private x = 0;
  private y = 0;
  private z = 0;

  constructor(
    private readonly positions: Positions,
    private readonly order: Uint32Array,
    private readonly axes: Uint8Array,
  ) {}

  distanceFrom(rank: number): number {
    const start = 3 * this.order[rank]!;
    this.self = rank;
    this.x = this.positions[start]!;
    this.y = this.positions[start + 1]!;
    this.z = this.positions[start + 2]!;
    this.best = Number.POSITIVE_INFINITY;
    this.visit(0, this.order.length);
    return this.best;
  }

  /** Finds the nearest in [from, to). The ranges halve, so the depth of the recursion is the logarithm of the count. */
  private visit(from: number, to: number): void {
    if (to - from <= LEAF_SIZE) {
      for (let rank = from; rank < to; rank++) this.compare(rank);
      return;
    }
    const middle = (from + to) >>> 1;
    const axis = this.axes[middle]!;
    const split = this.positions[3 * this.order[middle]! + axis]!;
    const along = (axis === 0 ? this.x : axis === 1 ? this.y : this.z) - split;
    this.compare(middle);
    if (along < 0) this.visit(from, middle);
    else this.visit(middle + 1, to);
    // A point at equal distance is no improvement; with many identical points the search ends here with best = 0.
    if (Math.abs(along) >= this.best) return;
    if (along < 0) this.visit(middle + 1, to);
    else this.visit(from, middle);
  }

  private compare(rank: number): void {
    if (rank === this.self) return;
    const start = 3 * this.order[rank]!;
    const distance = lengthOf(
      this.positions[start]! - this.x,
      this.positions[start + 1]! - this.y,
      this.positions[start + 2]! - this.z,
    );
    if (distance < this.best) this.best = distance;
  }
}
