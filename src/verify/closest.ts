import { EDGE_EDGE, type PairCode, shapeOf, VERTEX_EDGE, VERTEX_TRIANGLE } from './pair-kinds.js';

/** A pair whose largest coordinate difference is outside this range is scaled, because squares might over- or underflow. */
const SMALLEST_UNSCALED = 2 ** -200;
const LARGEST_UNSCALED = 2 ** 200;
/**
 * If the squared sine between two sides of a triangle is below this, rounding (about 2^-53 / sine²) may move the
 * projection out of the triangle, so the sides are tried as well.
 */
const SLIVER_SINE_SQUARED = 1e-8;
/** Below this share of the extent the closest points' difference is mostly rounding: a common normal replaces it. */
const VANISHING_SHARE = 2 ** -40;
/**
 * Margin, as a share of the pair's extent M, that a plane must exceed to prove that two elements are separate. With u =
 * 2^-53: sides (≤ 2M) have an error of 4u·M, each component of their cross product n of 48u·M², |n| of 2^-46·M², and
 * its product with an offset (≤ M) of 2^-44·M³. 2^-40 of M, M² and M³ cover these and the rounding of the bound itself.
 */
const PLANE_MARGIN = 2 ** -40;

/** How far a computed distance may be above the true one, as a share of the pair's extent ({@link ClosestPoints}). */
export const DISTANCE_EXCESS = 2 ** -23;

/**
 * The closest points of two elements. Every candidate is a true pair of points, so the distance is never below the true
 * one by more than rounding (a few 2^-53 of the pair's extent); the smallest candidate in a fixed order wins.
 * There is no parallel threshold: the ends of both edges are always candidates.
 *
 * It may be above the true one where two sides are nearly parallel. Let their sine be s, u = 2^-53 and M the extent. The
 * weights inside a triangle are off by a few u/s, those inside two edges by a few u/s², where a shift along both moves the
 * points apart by s of it: a few u/s·M either way. The boundary, which is a candidate too, is within s·M. The smaller of both
 * is largest at s of about √u, a few √u·M = a few 2^-26.5·M.
 */
export class ClosestPoints {
  /** float64[4] weights of the vertices of side a, then of side b; each side sums to 1 */
  readonly weights = new Float64Array(4);
  /** float64[3] closest point of a minus closest point of b */
  readonly difference = new Float64Array(3);
  distance = 0;
  /** float64[12] coordinates relative to the first vertex, scaled */
  private readonly local = new Float64Array(12);
  private bestSquared = Infinity;
  /** largest absolute coordinate in `local` */
  private extent = 0;
  /** index of the first vertex of side b */
  private sideB = 1;
  private scale = 1;
  /** number of coordinates of the pair in `local` */
  private end = 0;

  /**
   * @param points float64[12] vertices of side a, then of side b, finite; unused elements are ignored
   */
  find(code: PairCode, points: Float64Array): void {
    this.findScaled(code, this.localise(code, points));
  }

  /**
   * Like {@link find}, but stops early if a plane proves that the pair is farther apart.
   *
   * @param least ≥ 0, may be Infinity
   * @param excess the limit exceeds `least` by this share of the pair's extent
   * @returns whether `distance` is at most the limit; if not, all fields are undefined
   */
  findWithin(code: PairCode, points: Float64Array, least: number, excess = 0): boolean {
    const scale = this.localise(code, points);
    const limit = least + excess * this.pairExtent;
    if (scale === 1 && (this.isBeyond(code, limit) || this.isApart(limit))) return false;
    this.findScaled(code, scale);
    return this.distance <= limit;
  }

  /** The largest difference of a coordinate from that of the first corner. */
  get pairExtent(): number {
    return this.extent / this.scale;
  }

  /**
   * Whether the computed distance is certainly above the limit. A point and a triangle, or two edges, lie on two parallel
   * planes with normal n and are at least as far apart as these: |n·w| / |n|. The comparison is written without the quotient,
   * so that an n that is mostly rounding proves nothing.
   */
  private isBeyond(code: PairCode, limit: number): boolean {
    if (code !== VERTEX_TRIANGLE && code !== EDGE_EDGE) return false;
    const { local: x, extent } = this;
    // w is the offset between the planes: the first corner of the triangle, or the first end of the second edge.
    const w = code === VERTEX_TRIANGLE ? 3 : 6;
    const ux = code === VERTEX_TRIANGLE ? x[6] - x[3] : x[3];
    const uy = code === VERTEX_TRIANGLE ? x[7] - x[4] : x[4];
    const uz = code === VERTEX_TRIANGLE ? x[8] - x[5] : x[5];
    const vx = x[9] - x[w];
    const vy = x[10] - x[w + 1];
    const vz = x[11] - x[w + 2];
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    const height = Math.abs(nx * x[w] + ny * x[w + 1] + nz * x[w + 2]);
    const length = Math.sqrt(nx * nx + ny * ny + nz * nz);
    const margin = PLANE_MARGIN * extent;
    return height > (limit + margin) * (length + margin * extent) + margin * extent * extent;
  }

  /**
   * The same with the direction d between the means of both sides: the elements are at least as far apart as their
   * extents along d, (min d·b − max d·a) / |d|. It separates neighbours in one plane, for which the planes of
   * {@link isBeyond} prove nothing.
   *
   * `local` is the input of the distance, so it counts as exact here. With |x| ≤ M, |d| ≤ 2√3·M: a dot product of three
   * terms has an error of at most 18u·M², the gap of 48u·M², and (limit + margin) |d|, which the gap can exceed only if
   * limit ≤ 4M, of 100u·M². PLANE_MARGIN·M² is 8192u·M², and the margin in the limit covers the rounding of the
   * distance.
   */
  private isApart(limit: number): boolean {
    const { local: x, sideB, end, extent } = this;
    let dx = 0;
    let dy = 0;
    let dz = 0;
    const ofA = -1 / sideB;
    const ofB = 3 / (end - 3 * sideB);
    for (let k = 0; k < end; k += 3) {
      const share = k < 3 * sideB ? ofA : ofB;
      dx += share * x[k];
      dy += share * x[k + 1];
      dz += share * x[k + 2];
    }
    let highA = -Infinity;
    let lowB = Infinity;
    for (let k = 0; k < end; k += 3) {
      const along = dx * x[k] + dy * x[k + 1] + dz * x[k + 2];
      if (k < 3 * sideB) highA = Math.max(highA, along);
      else lowB = Math.min(lowB, along);
    }
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    const margin = PLANE_MARGIN * extent;
    return lowB - highA > (limit + margin) * length + margin * extent;
  }

  private findScaled(code: PairCode, scale: number): void {
    const { difference } = this;
    this.findLocal(code);
    // The squared difference may underflow although the squared extent does not; hypot does not underflow.
    this.distance =
      this.bestSquared > SMALLEST_UNSCALED
        ? Math.sqrt(this.bestSquared) / scale
        : Math.hypot(difference[0], difference[1], difference[2]) / scale;
    if (scale !== 1) for (let k = 0; k < 3; k++) difference[k] /= scale;
  }

  /**
   * A unit vector from b to a after {@link find}: along the difference or, if that is rounding or zero, along a
   * common normal of the elements, on the side of the difference.
   */
  findNormal(code: PairCode): [number, number, number] {
    const { difference, local } = this;
    const size = Math.max(Math.abs(difference[0]), Math.abs(difference[1]), Math.abs(difference[2]));
    const scale = this.scale;
    if (size * scale > VANISHING_SHARE * this.extent) return toUnit(difference[0], difference[1], difference[2], size);
    const normal = findCommonNormal(code, local);
    const along = normal[0] * difference[0] + normal[1] * difference[1] + normal[2] * difference[2];
    return along < 0 ? [-normal[0], -normal[1], -normal[2]] : normal;
  }

  private localise(code: PairCode, points: Float64Array): number {
    const shape = shapeOf(code);
    const end = 3 * (shape.a + shape.b);
    this.sideB = shape.a;
    this.end = end;
    // Unused vertices have weight 0, and 0 times their coordinates must be 0, so they must be finite.
    this.local.fill(0, end);
    this.scale = 1;
    this.extent = this.subtractOrigin(points, end, 1);
    if (this.extent === 0 || (this.extent >= SMALLEST_UNSCALED && this.extent <= LARGEST_UNSCALED)) return 1;
    let largest = 0;
    for (let k = 0; k < end; k++) largest = Math.max(largest, Math.abs(points[k]));
    // Coordinates are scaled before the subtraction if that might overflow, and after it if their differences are tiny.
    const before = this.extent > LARGEST_UNSCALED ? 2 ** -exponentOf(largest) : 1;
    this.extent = this.subtractOrigin(points, end, before);
    let after = 1;
    if (this.extent > 0 && this.extent < SMALLEST_UNSCALED) {
      after = 2 ** Math.min(1000, -exponentOf(this.extent));
      for (let k = 0; k < end; k++) this.local[k] *= after;
      this.extent *= after;
    }
    this.scale = before * after;
    return this.scale;
  }

  private subtractOrigin(points: Float64Array, end: number, factor: number): number {
    const { local } = this;
    const x = points[0] * factor;
    const y = points[1] * factor;
    const z = points[2] * factor;
    let extent = 0;
    for (let k = 0; k < end; k += 3) {
      local[k] = points[k] * factor - x;
      local[k + 1] = points[k + 1] * factor - y;
      local[k + 2] = points[k + 2] * factor - z;
      extent = Math.max(extent, Math.abs(local[k]), Math.abs(local[k + 1]), Math.abs(local[k + 2]));
    }
    return extent;
  }

  private findLocal(code: PairCode): void {
    this.bestSquared = Infinity;
    switch (code) {
      case VERTEX_TRIANGLE:
        if (this.tryProjection()) return;
        this.tryPointOnEdge(0, 1, 2);
        this.tryPointOnEdge(0, 2, 3);
        this.tryPointOnEdge(0, 3, 1);
        return;
      case EDGE_EDGE:
        this.tryInterior();
        this.tryPointOnEdge(0, 2, 3);
        this.tryPointOnEdge(1, 2, 3);
        this.tryPointOnEdge(2, 0, 1);
        this.tryPointOnEdge(3, 0, 1);
        return;
      case VERTEX_EDGE:
        this.tryPointOnEdge(0, 1, 2);
        return;
      default:
        this.consider(1, 1, 0, 0);
    }
  }

  /** @returns whether the projection lies inside the triangle, so that it alone decides */
  private tryProjection(): boolean {
    const { local: x } = this;
    // local[0..2] is the point itself, hence zero: triangle corners are already relative to it.
    const ux = x[6] - x[3];
    const uy = x[7] - x[4];
    const uz = x[8] - x[5];
    const vx = x[9] - x[3];
    const vy = x[10] - x[4];
    const vz = x[11] - x[5];
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    const normalSquared = nx * nx + ny * ny + nz * nz;
    if (!(normalSquared > 0)) return false;
    const inverse = 1 / normalSquared;
    // A weight is the area that the projected point spans with two corners, as a share of the triangle's area.
    const w2 =
      (nx * (x[10] * x[5] - x[11] * x[4]) + ny * (x[11] * x[3] - x[9] * x[5]) + nz * (x[9] * x[4] - x[10] * x[3])) *
      inverse;
    const w3 =
      (nx * (x[4] * x[8] - x[5] * x[7]) + ny * (x[5] * x[6] - x[3] * x[8]) + nz * (x[3] * x[7] - x[4] * x[6])) *
      inverse;
    const w1 = 1 - w2 - w3;
    if (!(w1 >= 0 && w2 >= 0 && w3 >= 0)) return false;
    this.consider(1, w1, w2, w3);
    const sidesSquared = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz);
    return normalSquared > SLIVER_SINE_SQUARED * sidesSquared;
  }

  private tryPointOnEdge(point: number, from: number, to: number): void {
    const { local: x } = this;
    const dx = x[3 * to] - x[3 * from];
    const dy = x[3 * to + 1] - x[3 * from + 1];
    const dz = x[3 * to + 2] - x[3 * from + 2];
    const lengthSquared = dx * dx + dy * dy + dz * dz;
    const along =
      dx * (x[3 * point] - x[3 * from]) +
      dy * (x[3 * point + 1] - x[3 * from + 1]) +
      dz * (x[3 * point + 2] - x[3 * from + 2]);
    // An edge whose squared length underflows counts as its first end; the error is below the rounding of the extent.
    const t = lengthSquared > 0 ? Math.min(1, Math.max(0, along / lengthSquared)) : 0;
    this.consider(
      weightOf(0, point, from, to, t),
      weightOf(1, point, from, to, t),
      weightOf(2, point, from, to, t),
      weightOf(3, point, from, to, t),
    );
  }

  /** Closest points of the two lines, if both lie within the edges. */
  private tryInterior(): void {
    const { local: x } = this;
    const ux = x[3];
    const uy = x[4];
    const uz = x[5];
    const vx = x[9] - x[6];
    const vy = x[10] - x[7];
    const vz = x[11] - x[8];
    const uu = ux * ux + uy * uy + uz * uz;
    const vv = vx * vx + vy * vy + vz * vz;
    const uv = ux * vx + uy * vy + uz * vz;
    // The first edge starts at the origin, so the offset between the first ends is −x of the second.
    const ur = -(ux * x[6] + uy * x[7] + uz * x[8]);
    const vr = -(vx * x[6] + vy * x[7] + vz * x[8]);
    const determinant = uu * vv - uv * uv;
    if (!(determinant > 0)) return;
    let s = (uv * vr - vv * ur) / determinant;
    if (!(s > 0 && s < 1)) return;
    // One round of projections restores the digits that the quotient of a nearly parallel pair loses.
    const t = (vr + s * uv) / vv;
    if (!(t > 0 && t < 1)) return;
    s = Math.min(1, Math.max(0, (t * uv - ur) / uu));
    this.consider(1 - s, s, 1 - t, t);
  }

  /** Takes the weights if their points are closer than the best so far. */
  private consider(w0: number, w1: number, w2: number, w3: number): void {
    const { local, weights, difference } = this;
    const s1 = this.sideB <= 1 ? -w1 : w1;
    const s2 = -w2;
    const s3 = -w3;
    const x = w0 * local[0] + s1 * local[3] + s2 * local[6] + s3 * local[9];
    const y = w0 * local[1] + s1 * local[4] + s2 * local[7] + s3 * local[10];
    const z = w0 * local[2] + s1 * local[5] + s2 * local[8] + s3 * local[11];
    const squared = x * x + y * y + z * z;
    if (squared >= this.bestSquared) return;
    this.bestSquared = squared;
    weights[0] = w0;
    weights[1] = w1;
    weights[2] = w2;
    weights[3] = w3;
    difference[0] = x;
    difference[1] = y;
    difference[2] = z;
  }
}

/** The weight of a corner where a point is closest to the place t of an edge. */
function weightOf(corner: number, point: number, from: number, to: number, t: number): number {
  if (corner === point) return 1;
  if (corner === from) return 1 - t;
  return corner === to ? t : 0;
}

function exponentOf(value: number): number {
  return Math.floor(Math.log2(value));
}

export type Vector = readonly [number, number, number];

/** v over its length; `size` is its largest absolute component, > 0. Scaled first, so no square over- or underflows. */
function toUnit(x: number, y: number, z: number, size: number): [number, number, number] {
  const sx = x / size;
  const sy = y / size;
  const sz = z / size;
  const length = Math.sqrt(sx * sx + sy * sy + sz * sz);
  return [sx / length, sy / length, sz / length];
}

function largestComponent([x, y, z]: Vector): number {
  return Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
}

/** A unit vector orthogonal to the elements of a pair as far as they span a plane or a line; z without any extent. */
function findCommonNormal(code: PairCode, points: Float64Array): [number, number, number] {
  const axes: Vector[] = [];
  if (code === VERTEX_TRIANGLE) axes.push(between(points, 1, 2), between(points, 1, 3), between(points, 2, 3));
  else if (code === EDGE_EDGE) axes.push(between(points, 0, 1), between(points, 2, 3));
  else if (code === VERTEX_EDGE) axes.push(between(points, 1, 2));
  let normal: Vector = [0, 0, 0];
  for (let i = 0; i < axes.length; i++) {
    for (let j = i + 1; j < axes.length; j++) {
      const candidate = cross(axes[i], axes[j]);
      if (largestComponent(candidate) > largestComponent(normal)) normal = candidate;
    }
  }
  if (largestComponent(normal) === 0) {
    const longest = axes.reduce(
      (best, axis) => (largestComponent(axis) > largestComponent(best) ? axis : best),
      normal,
    );
    normal = cross(longest, leastAxis(longest));
  }
  const size = largestComponent(normal);
  return size === 0 ? [0, 0, 1] : toUnit(normal[0], normal[1], normal[2], size);
}

function between(points: Float64Array, i: number, j: number): Vector {
  return [points[3 * j] - points[3 * i], points[3 * j + 1] - points[3 * i + 1], points[3 * j + 2] - points[3 * i + 2]];
}

function cross([ax, ay, az]: Vector, [bx, by, bz]: Vector): Vector {
  return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
}

/** The coordinate axis that is most nearly orthogonal to v. */
function leastAxis([x, y, z]: Vector): Vector {
  const [sx, sy, sz] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  if (sx <= sy && sx <= sz) return [1, 0, 0];
  return sy <= sz ? [0, 1, 0] : [0, 0, 1];
}
