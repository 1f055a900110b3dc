import { closest, closestEdgeEdge, closestVertexTriangle } from '../cpu/closest.js';
import { VT } from '../pair-kinds.js';

/*
 * Continuous collision detection of one pair whose four vertices move straight from x to z, x and z float32.
 *
 * Planes. For a fixed vector n let f(t) = min over side a of n·x(t) − max over side b. Heights are linear in t, so f is
 * concave: if f ≥ r at both ends of [t0, t1], f ≥ r in between, and if |n| = 1 the sides are r apart all that time.
 * Intervals that no tried n clears are halved.
 *
 * Rounding, u = 2⁻⁵³. Coordinates are relative to the first vertex, at either end: P = fl(x − x₀) and Q = fl(z − z₀),
 * with an error of u each; (1 − t)P + tQ adds 2u, a dot product 3u, the last difference 1u, all of them relative to S =
 * Σ_c |n_c| M_c, M_c the largest |P_c|, |Q_c|. Both sides together have an error of less than 16u S. The length of n
 * has an error of 4u, which contributes r·4u ≤ 4u S. So f > r + 32u S as computed implies f ≥ r. This costs nothing:
 * the floor is 10⁷ times as large.
 */
const ROUNDING = 32 * 2 ** -53;
/**
 * An interval of this length that no plane clears counts as a meeting: elements that pass each other are half a floor
 * apart.
 */
const SHORTEST_INTERVAL = 2 ** -14;
/**
 * Floors that a pair which began at least half a floor apart keeps on the way. Both ends of a piece are rounded to the numbers
 * that are sent, which brings two elements nearer by less than 0.49 floors (range.ts), and by no more in between.
 */
const FLOORS_ON_THE_WAY = 0.49;
/** Bounds the work for pairs that remain close for a long time. */
const MOST_INTERVALS = 400;

/** Decides one pair after the other in the same memory. */
export class PairPath {
  readonly #p = new Float64Array(12);
  readonly #q = new Float64Array(12);
  readonly #early = new Float64Array(12);
  readonly #late = new Float64Array(12);
  readonly #middle = new Float64Array(12);
  /** the middle in float32, to derive a direction */
  readonly #guide = new Float32Array(12);
  /** M of the derivation */
  #sizeX = 0;
  #sizeY = 0;
  #sizeZ = 0;
  /** the current direction: a unit vector, or 0 */
  #nx = 0;
  #ny = 0;
  #nz = 0;
  #isVertexTriangle = true;

  /**
   * Whether the motion of a pair counts as a collision: true unless it is certain that
   * - at the end its elements are half a floor apart, or as far as they were if that was less,
   * - and on the way 0.49 floors ({@link FLOORS_ON_THE_WAY}), or half as far as they were if that was less than half a floor.
   * A pair whose vertices all move exactly alike never collides.
   *
   * @param kind VT [a | i j k] or EE [a b | c d]
   * @param floor engine units
   */
  meets(
    kind: number,
    x: Float32Array,
    z: Float32Array,
    v0: number,
    v1: number,
    v2: number,
    v3: number,
    floor: number,
  ): boolean {
    this.#isVertexTriangle = kind === VT;
    if (!this.#load(x, z, v0, v1, v2, v3)) return false;
    // Most pairs pass each other on two sides of a plane with a sufficient margin.
    if (this.#isClear(0, 1, floor)) return false;
    const gapBefore = this.#gap(x, this.#p, v0, v1, v2, v3);
    const kept = Math.min(floor / 2, gapBefore);
    if (!(kept > 0)) return true;
    if (this.#gap(z, this.#q, v0, v1, v2, v3) < kept) return true;
    return this.#meetsOnTheWay(gapBefore < floor / 2 ? gapBefore / 2 : FLOORS_ON_THE_WAY * floor);
  }

  /** Returns the gap that a plane certifies between the sides in this state; negative or 0 = no plane does. */
  #gap(state: Float32Array, points: Float64Array, v0: number, v1: number, v2: number, v3: number): number {
    if (this.#isVertexTriangle) closestVertexTriangle(state, v0, v1, v2, v3);
    else closestEdgeEdge(state, v0, v1, v2, v3);
    let gap = Number.NEGATIVE_INFINITY;
    if (this.#setNormal(closest.x, closest.y, closest.z)) gap = this.#separation(points) - this.#error();
    this.#setPlaneNormal(points);
    return Math.max(gap, this.#separationEitherWay(points) - this.#error());
  }

  #meetsOnTheWay(least: number): boolean {
    let examined = 0;
    let time = 0;
    let length = 1;
    for (;;) {
      if (this.#isClear(time, time + length, least)) {
        time += length;
        if (time >= 1) return false;
        while (length < 1 && (time / (2 * length)) % 1 === 0) length *= 2;
      } else {
        length /= 2;
        if (length < SHORTEST_INTERVAL || ++examined > MOST_INTERVALS) return true;
      }
    }
  }

  /** Whether a tried plane certifies that the sides are `least` apart from t0 to t1. */
  #isClear(t0: number, t1: number, least: number): boolean {
    this.#at(t0, this.#early);
    this.#at(t1, this.#late);
    this.#at((t0 + t1) / 2, this.#middle);
    if (this.#setPlaneNormal(this.#middle)) {
      if (this.#keeps(least)) return true;
      this.#turnRound();
      if (this.#keeps(least)) return true;
    }
    const guide = this.#guide;
    guide.set(this.#middle);
    if (this.#isVertexTriangle) closestVertexTriangle(guide, 0, 1, 2, 3);
    else closestEdgeEdge(guide, 0, 1, 2, 3);
    return this.#setNormal(closest.x, closest.y, closest.z) && this.#keeps(least);
  }

  #keeps(least: number): boolean {
    const enough = least + this.#error();
    return this.#separation(this.#early) > enough && this.#separation(this.#late) > enough;
  }

  /** f along the normal or along its opposite, whichever is larger. */
  #separationEitherWay(points: Float64Array): number {
    const along = this.#separation(points);
    this.#turnRound();
    return Math.max(along, this.#separation(points));
  }

  /** Returns the height of the lowest vertex of side a over the highest of side b. */
  #separation(points: Float64Array): number {
    const x = this.#nx;
    const y = this.#ny;
    const z = this.#nz;
    // The first vertex is the origin.
    const h1 = x * points[3] + y * points[4] + z * points[5];
    const h2 = x * points[6] + y * points[7] + z * points[8];
    const h3 = x * points[9] + y * points[10] + z * points[11];
    const high = h2 > h3 ? h2 : h3;
    if (this.#isVertexTriangle) return -(h1 > high ? h1 : high);
    return (h1 < 0 ? h1 : 0) - high;
  }

  #error(): number {
    return (
      ROUNDING *
      (Math.abs(this.#nx) * this.#sizeX + Math.abs(this.#ny) * this.#sizeY + Math.abs(this.#nz) * this.#sizeZ)
    );
  }

  /** Sets the normal of the triangle, or of both edges. */
  #setPlaneNormal(x: Float64Array): boolean {
    // u from slot 1 to 2 and v from 1 to 3, or u from 0, the origin, to 1 and v from 2 to 3
    const isTriangle = this.#isVertexTriangle;
    const ux = isTriangle ? x[6] - x[3] : x[3];
    const uy = isTriangle ? x[7] - x[4] : x[4];
    const uz = isTriangle ? x[8] - x[5] : x[5];
    const from = isTriangle ? 3 : 6;
    const vx = x[9] - x[from];
    const vy = x[10] - x[from + 1];
    const vz = x[11] - x[from + 2];
    return this.#setNormal(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
  }

  #turnRound(): void {
    this.#nx = -this.#nx;
    this.#ny = -this.#ny;
    this.#nz = -this.#nz;
  }

  /**
   * Scales by the largest component first, so that no square overflows or underflows. Without a direction n is 0 and
   * separates nothing.
   */
  #setNormal(x: number, y: number, z: number): boolean {
    const largest = Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
    const isUsable = largest > 1e-280 && largest < 1e280;
    const sx = isUsable ? x / largest : 0;
    const sy = isUsable ? y / largest : 0;
    const sz = isUsable ? z / largest : 0;
    const length = isUsable ? Math.sqrt(sx * sx + sy * sy + sz * sz) : 1;
    this.#nx = sx / length;
    this.#ny = sy / length;
    this.#nz = sz / length;
    return isUsable;
  }

  #at(t: number, out: Float64Array): void {
    const p = this.#p;
    const q = this.#q;
    for (let i = 0; i < 12; i++) out[i] = (1 - t) * p[i] + t * q[i];
  }

  /**
   * @returns whether the vertices move relative to each other. Equal differences prove that they do not only where no
   *   difference was rounded: a vertex at 10⁻²⁰ may change sides of a triangle of size 1, and its differences round to
   *   the same doubles.
   */
  #load(x: Float32Array, z: Float32Array, v0: number, v1: number, v2: number, v3: number): boolean {
    const p = this.#p;
    const q = this.#q;
    this.#put(1, x, z, v0, v1);
    this.#put(2, x, z, v0, v2);
    this.#put(3, x, z, v0, v3);
    let moves = false;
    let sx = 0;
    let sy = 0;
    let sz = 0;
    for (let i = 3; i < 12; i += 3) {
      sx = Math.max(sx, Math.abs(p[i]), Math.abs(q[i]));
      sy = Math.max(sy, Math.abs(p[i + 1]), Math.abs(q[i + 1]));
      sz = Math.max(sz, Math.abs(p[i + 2]), Math.abs(q[i + 2]));
      if (p[i] !== q[i] || p[i + 1] !== q[i + 1] || p[i + 2] !== q[i + 2]) moves = true;
    }
    this.#sizeX = sx;
    this.#sizeY = sy;
    this.#sizeZ = sz;
    return moves || !(isAtRest(x, z, v0, v1, v2, v3) || this.#isExact(x, z, v0, v1, v2, v3));
  }

  /** Whether the differences of {@link #load} are exact. */
  #isExact(x: Float32Array, z: Float32Array, v0: number, v1: number, v2: number, v3: number): boolean {
    const corners = [v0, v1, v2, v3];
    for (let slot = 1; slot < 4; slot++) {
      for (let c = 0; c < 3; c++) {
        const [i, o] = [3 * corners[slot] + c, 3 * v0 + c];
        if (roundingOf(x[i], x[o]) !== 0 || roundingOf(z[i], z[o]) !== 0) return false;
      }
    }
    return true;
  }

  #put(slot: number, x: Float32Array, z: Float32Array, origin: number, v: number): void {
    for (let c = 0; c < 3; c++) {
      this.#p[3 * slot + c] = x[3 * v + c] - x[3 * origin + c];
      this.#q[3 * slot + c] = z[3 * v + c] - z[3 * origin + c];
    }
  }
}

function isAtRest(x: Float32Array, z: Float32Array, ...corners: readonly number[]): boolean {
  return corners.every((v) => x[3 * v] === z[3 * v] && x[3 * v + 1] === z[3 * v + 1] && x[3 * v + 2] === z[3 * v + 2]);
}

/** The exact a − b − fl(a − b), by Knuth's TwoSum. */
function roundingOf(a: number, b: number): number {
  const difference = a - b;
  const back = a - difference;
  return a - (difference + back) + (back - b);
}
