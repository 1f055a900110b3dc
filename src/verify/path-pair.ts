import { ClosestPoints } from './closest.js';
import { type PairCode, shapeOf, VERTEX_EDGE, VERTEX_TRIANGLE, VERTEX_VERTEX } from './pair-kinds.js';

/*
 * Certifying that two elements never meet while every vertex moves on x(t) = (1-t)·s + t·e, t in [0, 1], s and e the
 * exact doubles given.
 *
 * Planes. For any fixed vector n let f(t) = min over a of n·x(t) - max over b of n·x(t), where a and b run over the
 * vertices of the two sides. A minimum of linear functions is concave, a maximum convex, so f is concave: if f > 0 at
 * both ends of [t0, t1], then f > 0 throughout, and a plane with normal n separates the convex hulls of the sides. n may
 * be any vector; only the evaluation of f rounds.
 *
 * Rounding of f (u = 2^-53, terms in u² covered by the last step). Distances between vertices do not change if both
 * ends of all paths are shifted by the first vertex's: P = fl(s - s0), Q = fl(e - e0), each with an error of u·|.|. For
 * t with few bits, 1-t is exact, and X = fl((1-t)P + tQ) adds u for a product and u for a sum: |X - exact| ≤ 3u·M per
 * axis, where M is the largest |P|, |Q| of the pair on that axis. A dot product adds 3u·S, S = |nx|Mx + |ny|My +
 * |nz|Mz: each side of f has an error of 6u·S, f of 12u·S, and its last subtraction adds 2u·S. So f > 14u·S + O(u²)
 * computed implies f > 0 exactly; 16u is used.
 *
 * Turning planes. Two nearly parallel edges that turn close to each other need a plane that turns with them. Let n(s) =
 * (1-s)·n0 + s·n1 while s goes from 0 to 1 in [t0, t1], d0 and d1 the difference of a vertex of a and one of b at the
 * ends. n(s)·d(s) is a quadratic in s with the Bernstein coefficients n0·d0, (n0·d1 + n1·d0)/2 and n1·d1. If all three
 * are positive for all such differences, n(s) separates the sides at every s. All are differences of a term of a and
 * one of b, so the least of a and the largest of b suffice. If an edge u and a motion of the pair lie in one plane, and
 * n0 and n1 are u0 and u1 turned by a right angle in it, n(s)·u(s) = 0 throughout: then n0 and n1 are orthogonal to the
 * edge and as long as it is, which is what is tried.
 *
 * Rounding. n0·d0 and n1·d1 are f above. In n0·x1 + n1·x0 each product has an error of 6u·S as above, S0 of n0 and S1
 * of n1, and the sum adds u·(S0 + S1): 7u·(S0 + S1) for a side, 14u for both, and 2u for their difference. So more than
 * 16u·(S0 + S1) + O(u²) computed implies that it is positive; 20u is used.
 *
 * Coplanarity. The sides of a vertex–triangle or edge–edge pair can meet only at times when the four points lie in one
 * plane: det(A, B, C)(t) = 0 with A, B, C the differences to the first point. On [t0, t1] this is a cubic whose
 * Bernstein coefficients are det(A0,B0,C0), (det(A1,B0,C0) + det(A0,B1,C0) + det(A0,B0,C1))/3, ... ; if all four have
 * one sign, the cubic has no root there. This certifies pairs that rotate at a small distance, which no fixed plane
 * separates for long. Rounding: the first point is the origin, so A, B, C are the X above, with an error of 3u·M and at
 * most M per axis. Each of the six products has an error of 9u·Mx·My·Mz and its evaluation of 5u: 84u·Mx·My·Mz for a
 * determinant, three times that and two additions (36u) for the sums of three, which are compared undivided: 288u; 512u
 * is used.
 */
export const PLANE_ROUNDING = 16 * 2 ** -53;
export const TURNING_ROUNDING = 20 * 2 ** -53;
export const COPLANARITY_ROUNDING = 512 * 2 ** -53;
/** Scaling brings coordinate differences into this range; outside it nothing is certified. */
const SMALLEST_EXTENT = 2 ** -100;
const LARGEST_EXTENT = 2 ** 100;
/** Products with |n| ≤ 1 that underflow lose at most 2^-1075 each; coordinates scaled down lose as much. */
const PLANE_UNDERFLOW = 2 ** -1060;
/** Each underflow loses at most 2^-1075, times at most two offsets ≤ 2^101; there are a few dozen of them. */
const COPLANARITY_UNDERFLOW = 2 ** -800;
/** Normals smaller than this cannot be scaled to size 1, and are mostly rounding. */
const SMALLEST_NORMAL = 2 ** -1000;

/** Times are multiples of this, so 1 - t is exact. An interval of this length that is not certified counts as an impact. */
const SHORTEST_INTERVAL = 2 ** -32;
/** Intervals examined for one pair before it counts as an impact; limits the work on pairs that stay close. */
const MAX_INTERVALS = 2000;

/** Decides one pair after the other in the same scratch memory, so that millions of pairs cost no allocation. */
export class PathMeeting {
  /** float64[12] offsets from the first vertex at t = 0 and t = 1 */
  protected readonly start = new Float64Array(12);
  protected readonly end = new Float64Array(12);
  /** float64[12] the same at the ends and the middle of the interval in question */
  protected readonly early = new Float64Array(12);
  protected readonly late = new Float64Array(12);
  private readonly middle = new Float64Array(12);
  /** float64[3] normals of a plane that is tried, of one that turns at the ends of the interval */
  private readonly earlyNormal = new Float64Array(3);
  private readonly lateNormal = new Float64Array(3);
  private readonly closest = new ClosestPoints();
  private code: PairCode = VERTEX_TRIANGLE;
  private sideA = 1;
  private count = 4;
  /** M of the derivation, per axis */
  protected sizeX = 0;
  protected sizeY = 0;
  protected sizeZ = 0;

  /**
   * @param start float64[12] vertices of side a, then of side b, at t = 0; unused elements are ignored
   * @param end float64[12] the same at t = 1
   * @returns undefined if the two elements certainly never have a common point; otherwise a time before which they
   *   certainly have none
   */
  findImpact(code: PairCode, start: Float64Array, end: Float64Array): number | undefined {
    if (!this.load(code, start, end)) return 0;
    let examined = 0;
    let time = 0;
    let length = 1;
    // Depth first in time: [time, time + length] is the earliest interval that is not certified yet.
    for (;;) {
      if (this.isClear(time, time + length)) {
        time += length;
        if (time >= 1) return undefined;
        // The next interval is the largest dyadic one that starts here.
        while (length < 1 && (time / (2 * length)) % 1 === 0) length *= 2;
      } else {
        length /= 2;
        if (length < SHORTEST_INTERVAL || ++examined > MAX_INTERVALS) return time;
      }
    }
  }

  /** @returns false if nothing can be certified ({@link localise}) */
  protected load(code: PairCode, start: Float64Array, end: Float64Array): boolean {
    const shape = shapeOf(code);
    this.code = code;
    this.sideA = shape.a;
    this.count = shape.a + shape.b;
    return this.localise(start, end);
  }

  /** Whether the elements certainly have no common point in [from, to]. */
  private isClear(from: number, to: number): boolean {
    this.interpolate(from, this.early);
    this.interpolate(to, this.late);
    if (this.code === VERTEX_VERTEX) return this.separatesPoints();
    this.interpolate((from + to) / 2, this.middle);
    if (this.separatesAlongNormal()) return true;
    this.closest.find(this.code, this.middle);
    const { difference } = this.closest;
    if (this.separates(difference[0], difference[1], difference[2])) return true;
    const isClear = this.code === VERTEX_EDGE ? this.separatesAcrossMotion() : this.isNeverCoplanar();
    return isClear || this.separatesAlongEdges(difference) || this.separatesWhileTurning();
  }

  /** Tries the plane of the triangle, or the plane parallel to both edges. */
  private separatesAlongNormal(): boolean {
    if (this.code === VERTEX_EDGE) return false;
    const { middle: x } = this;
    const [i, j, k, l] = this.code === VERTEX_TRIANGLE ? [3, 6, 3, 9] : [0, 3, 6, 9];
    const ux = x[j] - x[i];
    const uy = x[j + 1] - x[i + 1];
    const uz = x[j + 2] - x[i + 2];
    const vx = x[l] - x[k];
    const vy = x[l + 1] - x[k + 1];
    const vz = x[l + 2] - x[k + 2];
    return this.separates(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
  }

  /**
   * Tries the shortest difference of two points, which is orthogonal to their relative motion or lies at an end of the
   * interval.
   */
  private separatesPoints(): boolean {
    const { early, late } = this;
    const x = early[3];
    const y = early[4];
    const z = early[5];
    const dx = late[3] - x;
    const dy = late[4] - y;
    const dz = late[5] - z;
    const motionSquared = dx * dx + dy * dy + dz * dz;
    const t = motionSquared > 0 ? Math.min(1, Math.max(0, -(x * dx + y * dy + z * dz) / motionSquared)) : 0;
    return this.separates(x + t * dx, y + t * dy, z + t * dz);
  }

  /** Tries, for a point and an edge, the plane along the edge and the point's motion relative to it. */
  private separatesAcrossMotion(): boolean {
    const { early, late, middle } = this;
    const ux = middle[6] - middle[3];
    const uy = middle[7] - middle[4];
    const uz = middle[8] - middle[5];
    // The point is the origin at all times, so the edge moves.
    const vx = late[3] + late[6] - early[3] - early[6];
    const vy = late[4] + late[7] - early[4] - early[7];
    const vz = late[5] + late[8] - early[5] - early[8];
    return this.separates(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
  }

  /**
   * Tries the difference of the closest points without its component along an edge, for each edge. The rounding of a
   * closest point within a long edge is proportional to its length; if that is not small compared with the distance,
   * the plane across the difference is tilted, and the far end of the edge lies on its other side.
   */
  private separatesAlongEdges(difference: Float64Array): boolean {
    const { sideA, count, middle: x, earlyNormal: n } = this;
    for (let i = 0; i < count; i++) {
      for (let j = i + 1; j < count; j++) {
        if (i < sideA && j >= sideA) continue;
        acrossEdge(x, i, j, difference[0], difference[1], difference[2], n);
        if (this.separates(n[0], n[1], n[2])) return true;
      }
    }
    return false;
  }

  /** Tries, for each edge, the plane along it and across the shortest difference, which turns with both. */
  private separatesWhileTurning(): boolean {
    const { sideA, count, early, late, closest, earlyNormal, lateNormal } = this;
    closest.find(this.code, early);
    const [ex, ey, ez] = closest.difference;
    closest.find(this.code, late);
    const [lx, ly, lz] = closest.difference;
    for (let i = 0; i < count; i++) {
      for (let j = i + 1; j < count; j++) {
        if (i < sideA && j >= sideA) continue;
        stretch(earlyNormal, acrossEdge(early, i, j, ex, ey, ez, earlyNormal));
        stretch(lateNormal, acrossEdge(late, i, j, lx, ly, lz, lateNormal));
        if (this.separatesFromTo(earlyNormal, lateNormal)) return true;
      }
    }
    return false;
  }

  /** Whether the plane whose normal goes from n0 to n1 certainly separates the sides. Scales both to size 1 at most. */
  private separatesFromTo(n0: Float64Array, n1: Float64Array): boolean {
    let size = 0;
    for (let c = 0; c < 3; c++) size = Math.max(size, Math.abs(n0[c]), Math.abs(n1[c]));
    if (!(size >= SMALLEST_NORMAL && size < Infinity)) return false;
    for (let c = 0; c < 3; c++) {
      n0[c] /= size;
      n1[c] /= size;
    }
    const first = this.sizeAlong(n0[0], n0[1], n0[2]);
    const last = this.sizeAlong(n1[0], n1[1], n1[2]);
    return (
      this.separationAlong(this.early, n0[0], n0[1], n0[2]) > PLANE_ROUNDING * first + PLANE_UNDERFLOW &&
      this.separationAlong(this.late, n1[0], n1[1], n1[2]) > PLANE_ROUNDING * last + PLANE_UNDERFLOW &&
      this.separationBetween(n0, n1) > TURNING_ROUNDING * (first + last) + PLANE_UNDERFLOW
    );
  }

  /** Least n0·x1 + n1·x0 of a less the largest of b: twice the least middle coefficient of the derivation. */
  protected separationBetween(n0: Float64Array, n1: Float64Array): number {
    const { sideA, count, early, late } = this;
    let lowA = Infinity;
    let highB = -Infinity;
    for (let k = 0; k < count; k++) {
      const i = 3 * k;
      const value =
        n0[0] * late[i] +
        n0[1] * late[i + 1] +
        n0[2] * late[i + 2] +
        (n1[0] * early[i] + n1[1] * early[i + 1] + n1[2] * early[i + 2]);
      if (k >= sideA) {
        if (value > highB) highB = value;
      } else if (value < lowA) {
        lowA = value;
      }
    }
    return lowA - highB;
  }

  /** S of the derivation. */
  protected sizeAlong(nx: number, ny: number, nz: number): number {
    return Math.abs(nx) * this.sizeX + Math.abs(ny) * this.sizeY + Math.abs(nz) * this.sizeZ;
  }

  /** Whether f > 0 certainly holds at both ends of the interval, with the sides in the same order. */
  private separates(x: number, y: number, z: number): boolean {
    const size = Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
    if (!(size >= SMALLEST_NORMAL && size < Infinity)) return false;
    const nx = x / size;
    const ny = y / size;
    const nz = z / size;
    const bound = PLANE_ROUNDING * this.sizeAlong(nx, ny, nz) + PLANE_UNDERFLOW;
    if (this.separationAlong(this.early, nx, ny, nz) > bound)
      return this.separationAlong(this.late, nx, ny, nz) > bound;
    if (this.separationAlong(this.early, -nx, -ny, -nz) > bound)
      return this.separationAlong(this.late, -nx, -ny, -nz) > bound;
    return false;
  }

  /** f at one time. */
  protected separationAlong(points: Float64Array, nx: number, ny: number, nz: number): number {
    const { sideA, count } = this;
    let lowA = Infinity;
    let highB = -Infinity;
    for (let k = 0; k < count; k++) {
      const value = nx * points[3 * k] + ny * points[3 * k + 1] + nz * points[3 * k + 2];
      if (k >= sideA) {
        if (value > highB) highB = value;
      } else if (value < lowA) {
        lowA = value;
      }
    }
    return lowA - highB;
  }

  private isNeverCoplanar(): boolean {
    const { early: p, late: q } = this;
    const bound = COPLANARITY_ROUNDING * this.sizeX * this.sizeY * this.sizeZ + COPLANARITY_UNDERFLOW;
    const first = determinant(p, p, p);
    const sign = first > bound ? 1 : first < -bound ? -1 : 0;
    return (
      sign !== 0 &&
      sign * determinant(q, q, q) > bound &&
      sign * (determinant(q, p, p) + determinant(p, q, p) + determinant(p, p, q)) > bound &&
      sign * (determinant(p, q, q) + determinant(q, p, q) + determinant(q, q, p)) > bound
    );
  }

  protected interpolate(t: number, x: Float64Array): void {
    const { start, end } = this;
    const rest = 1 - t;
    const numbers = 3 * this.count;
    for (let k = 0; k < numbers; k++) x[k] = rest * start[k] + t * end[k];
  }

  /** @returns false if the numbers do not fit the range in which the bounds hold, or all points coincide */
  private localise(start: Float64Array, end: Float64Array): boolean {
    let extent = this.subtractFirst(start, end, 1);
    if (extent >= SMALLEST_EXTENT && extent <= LARGEST_EXTENT) return true;
    let largest = 0;
    for (let k = 0; k < 3 * this.count; k++) largest = Math.max(largest, Math.abs(start[k]), Math.abs(end[k]));
    if (largest === 0) return false;
    // Powers of two: scaling up is exact; scaling down loses at most 2^-1075, which the bounds include.
    if (largest > LARGEST_EXTENT) {
      extent = this.subtractFirst(start, end, 2 ** -Math.floor(Math.log2(largest)));
      return extent >= SMALLEST_EXTENT;
    }
    if (!(extent > 0)) return false;
    // Differences of doubles never underflow, so their relative error is at most 2^-53, and scaling keeps it.
    const factor = 2 ** Math.min(1000, -Math.floor(Math.log2(extent)));
    this.scaleBy(factor);
    return extent * factor >= SMALLEST_EXTENT;
  }

  /** @returns the largest absolute offset; also sets M per axis */
  private subtractFirst(start: Float64Array, end: Float64Array, factor: number): number {
    this.sizeX = this.subtractFirstOnAxis(start, end, factor, 0);
    this.sizeY = this.subtractFirstOnAxis(start, end, factor, 1);
    this.sizeZ = this.subtractFirstOnAxis(start, end, factor, 2);
    return Math.max(this.sizeX, this.sizeY, this.sizeZ);
  }

  private subtractFirstOnAxis(start: Float64Array, end: Float64Array, factor: number, axis: number): number {
    const originStart = start[axis] * factor;
    const originEnd = end[axis] * factor;
    let size = 0;
    for (let k = 0; k < this.count; k++) {
      const p = start[3 * k + axis] * factor - originStart;
      const q = end[3 * k + axis] * factor - originEnd;
      this.start[3 * k + axis] = p;
      this.end[3 * k + axis] = q;
      size = Math.max(size, Math.abs(p), Math.abs(q));
    }
    return size;
  }

  private scaleBy(factor: number): void {
    for (let k = 0; k < 3 * this.count; k++) {
      this.start[k] *= factor;
      this.end[k] *= factor;
    }
    this.sizeX *= factor;
    this.sizeY *= factor;
    this.sizeZ *= factor;
  }
}

/** Sets `out` to (x, y, z) without its component along edge ij, NaN if that has no length. @returns its squared length */
function acrossEdge(
  points: Float64Array,
  i: number,
  j: number,
  x: number,
  y: number,
  z: number,
  out: Float64Array,
): number {
  const ux = points[3 * j] - points[3 * i];
  const uy = points[3 * j + 1] - points[3 * i + 1];
  const uz = points[3 * j + 2] - points[3 * i + 2];
  const squared = ux * ux + uy * uy + uz * uz;
  const along = (x * ux + y * uy + z * uz) / squared;
  out[0] = x - along * ux;
  out[1] = y - along * uy;
  out[2] = z - along * uz;
  return squared;
}

/** Gives n a squared length; a zero vector becomes NaN. */
function stretch(n: Float64Array, squared: number): void {
  const factor = Math.sqrt(squared / (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]));
  for (let c = 0; c < 3; c++) n[c] *= factor;
}

/**
 * det(A, B, C) of the offsets of the second point at p's time, the third at q's and the fourth at r's; the first is
 * 0.
 */
export function determinant(p: Float64Array, q: Float64Array, r: Float64Array): number {
  return (
    p[3] * (q[7] * r[11] - q[8] * r[10]) + p[4] * (q[8] * r[9] - q[6] * r[11]) + p[5] * (q[6] * r[10] - q[7] * r[9])
  );
}
