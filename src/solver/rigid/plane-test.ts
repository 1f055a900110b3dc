import { heights, measureHeights } from '../cpu/certificate.js';
import { CLOSEST_POINTS, closest } from '../cpu/closest.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../pair-kinds.js';

/**
 * At the end of a piece, a pair that was at least a floor apart must keep this share of the floor: rounding z costs
 * less than a quarter of it, and a pair that is closer than half a floor may not come closer (docs/method.md, S5).
 */
const KEPT_SHARE = 3 / 4;

/**
 * Heights in double, of float32 numbers, have an error of less than this share of Σ_c |n_c d_c|, with a factor of four
 * to spare.
 */
export const DOUBLE_ERROR = 2 ** -48;

/** The distance of the closest points is an upper bound of the distance, true to a few roundings. */
export const ROUND_DOWN = 1 - 1e-6;

/** Normals of failed pairs that are kept: a group meets few planes at the same time. */
const MOST_NORMALS = 16;

/**
 * The heights of a pair along n at one end: gap = least height of side a minus largest height of side b, and the
 * corners that have them.
 */
interface Ends {
  gap: number;
  /** slots of the least corner of side a and of the largest of side b */
  a: number;
  b: number;
  /** bound of the rounding of the gap */
  error: number;
}

/** Whether the pair has a certificate along n as the engine measures it (docs/method.md, S1). */
export function isCertified(
  state: Float32Array,
  kind: number,
  [v0, v1, v2, v3]: ArrayLike<number> & Iterable<number>,
  nx: number,
  ny: number,
  nz: number,
): boolean {
  measureHeights(state, kind, v0, v1, v2, v3, Math.fround(nx), Math.fround(ny), Math.fround(nz));
  return heights.gap > 2 * heights.error;
}

/**
 * Whether a fixed plane keeps a pair apart while its corners move straight from x to z.
 *
 * Along any n, the least height of side a minus the largest height of side b is a concave function of time, because
 * every height is linear: if it is positive at both ends it is positive, and never below the smaller end, all the way.
 * Corners of both sides move at the same time, so the test holds for this z only: if one of the groups stays, the pair
 * is tested again.
 *
 * Let d be the distance at x and d* = min(d, floor/2). Along n the pair must be d* apart at x. At z it must be 3/4 of
 * the floor apart if d is at least the floor, otherwise d*. So no pair comes closer than half of the floor, or than it
 * was, on the way or at the end; rounding to the caller's numbers takes less (solver/range.ts). At z the engine must
 * find a certificate, or it would freeze the pair as touching, unless it does so at x already.
 *
 * n is the direction of the closest points at x, at z or midway, the mean of two of these, a normal of a pair that failed
 * before this one, or a normal of the plane that the elements span at x. Whatever n is, the inequality decides.
 * Everything is computed in double from float32 numbers.
 *
 * A motion that leads along a floor and beyond it needs the last two. The closest points of a vertex and of a triangle
 * that lies farther along the floor have the direction of the motion at x, and at z they are on the other side. With
 * these alone a group would count as blocked by the border of the triangle, over which it only has to pass, and would
 * slide along that border. An edge of the floor and a parallel edge of the group span no plane; the normal of a pair
 * before is that of the floor. Beside a pillar, on the other hand, these two lead to rows along its faces, and the group
 * stops in front of a face that it could pass, so they are tried only where motions without them do not arrive
 * (move-rigidly.ts).
 */
export class PlaneTest {
  /**
   * of the pair that failed last: a plane that it has in common with others, or, among the directions that separate it at
   * x, the one that keeps it farthest apart at z
   */
  readonly normal = new Float64Array(3);
  /** the corners, vertices of side a and of side b, that cross first along it */
  cornerA = 0;
  cornerB = 0;
  /** their distance along it at x */
  room = 0;
  /** the gap of the pair along it at x; 0 or less if no direction separates the pair */
  gap = 0;

  readonly #x: Float32Array;
  readonly #z: Float32Array;
  readonly #floor: number;
  readonly #triesPlanes: boolean;
  #middle: Float32Array | undefined;
  readonly #vertex = [0, 0, 0, 0];
  #kind = 0;
  #distance = 0;
  #best = Number.NEGATIVE_INFINITY;
  /** of pairs that failed; none of them separates a later one's pair at x */
  readonly #normals: number[][] = [];
  readonly #atX: Ends = { gap: 0, a: 0, b: 0, error: 0 };
  readonly #atZ: Ends = { gap: 0, a: 0, b: 0, error: 0 };

  /**
   * @param floor engine units; covers the coordinates of x and of z
   * @param triesPlanes whether n may also be a normal of pairs that failed before, or of the plane of the elements
   */
  constructor(x: Float32Array, z: Float32Array, floor: number, triesPlanes = false) {
    this.#x = x;
    this.#z = z;
    this.#floor = floor;
    this.#triesPlanes = triesPlanes;
  }

  /** Whether the pair stays apart. If not, the fields describe how it fails. */
  passes(kind: number, v0: number, v1: number, v2: number, v3: number): boolean {
    this.#kind = kind;
    this.#vertex[0] = v0;
    this.#vertex[1] = v1;
    this.#vertex[2] = v2;
    this.#vertex[3] = v3;
    this.gap = 0;
    this.#best = Number.NEGATIVE_INFINITY;
    const [ax, ay, az] = this.#direction(this.#x);
    this.#distance = Math.sqrt(closest.squared);
    if (this.#parts(ax, ay, az)) return true;
    const [bx, by, bz] = this.#direction(this.#z);
    if (this.#parts(bx, by, bz)) return true;
    this.#middle ??= halfWay(this.#x, this.#z);
    const [cx, cy, cz] = this.#direction(this.#middle);
    return (
      this.#parts(cx, cy, cz) ||
      this.#parts(ax + bx, ay + by, az + bz) ||
      this.#parts(ax + cx, ay + cy, az + cz) ||
      this.#parts(bx + cx, by + cy, bz + cz) ||
      (this.#triesPlanes && (this.#partsAlongEarlier() || this.#partsAlongPlane())) ||
      this.#fail()
    );
  }

  #partsAlongEarlier(): boolean {
    return this.#normals.some(([nx, ny, nz]) => this.#parts(nx, ny, nz));
  }

  /**
   * Describes how the pair fails along a plane that pairs have in common, if one separates it at x: an earlier pair's, or
   * that of its own elements. Along the direction that keeps it farthest apart at z, the pairs at the border of a triangle
   * have oblique rows, which keep a group from turning on the triangle.
   */
  #fail(): false {
    if (!this.#triesPlanes || !(this.gap > 0)) return false;
    for (const [nx, ny, nz] of this.#normals) if (this.#describes(() => this.#parts(nx, ny, nz))) return false;
    this.#describes(() => this.#partsAlongPlane());
    if (this.#normals.length < MOST_NORMALS) this.#normals.push([...this.normal]);
    return false;
  }

  /** Whether directions that do not keep the pair apart separate it at x; the fields are then those of the best one. */
  #describes(tries: () => boolean): boolean {
    this.#best = Number.NEGATIVE_INFINITY;
    tries();
    return this.#best > Number.NEGATIVE_INFINITY;
  }

  /** Tries both normals of the plane that the elements span at x, if they span one. */
  #partsAlongPlane(): boolean {
    const slots = PAIR_KINDS[this.#kind].plane?.slots;
    if (!slots) return false;
    const x = this.#x;
    const [p, q, r, s] = slots.map((slot) => 3 * this.#vertex[slot]);
    const [ux, uy, uz] = [x[q] - x[p], x[q + 1] - x[p + 1], x[q + 2] - x[p + 2]];
    const [vx, vy, vz] = [x[s] - x[r], x[s + 1] - x[r + 1], x[s + 2] - x[r + 2]];
    const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    return this.#parts(nx, ny, nz) || this.#parts(-nx, -ny, -nz);
  }

  #direction(state: Float32Array): readonly [number, number, number] {
    const v = this.#vertex;
    CLOSEST_POINTS[this.#kind](state, v[0], v[1], v[2], v[3]);
    return [closest.x, closest.y, closest.z];
  }

  /** @param nx ny nz of any length */
  #parts(nx: number, ny: number, nz: number): boolean {
    const length = Math.sqrt(nx * nx + ny * ny + nz * nz);
    if (!(length > 0)) return false;
    const [x, y, z] = [nx / length, ny / length, nz / length];
    const floor = this.#floor;
    const d = this.#distance * ROUND_DOWN;
    const least = Math.min(d, floor / 2);
    const before = this.#measure(this.#x, x, y, z, this.#atX);
    if (!(before.gap > before.error) || before.gap < least) return false;
    const after = this.#measure(this.#z, x, y, z, this.#atZ);
    const needed = d >= floor ? KEPT_SHARE * floor : least;
    if (after.gap >= needed + after.error && this.#isCertified(x, y, z)) return true;
    if (after.gap > this.#best) {
      this.#best = after.gap;
      this.#note(x, y, z, before.gap, after);
    }
    return false;
  }

  #isCertified(nx: number, ny: number, nz: number): boolean {
    const pair = this.#vertex;
    return isCertified(this.#z, this.#kind, pair, nx, ny, nz) || !isCertified(this.#x, this.#kind, pair, nx, ny, nz);
  }

  #note(nx: number, ny: number, nz: number, gap: number, { a, b }: Ends): void {
    this.normal[0] = nx;
    this.normal[1] = ny;
    this.normal[2] = nz;
    this.gap = gap;
    const v = this.#vertex;
    this.cornerA = v[a];
    this.cornerB = v[b];
    const x = this.#x;
    const [p, q] = [3 * v[a], 3 * v[b]];
    this.room = nx * (x[p] - x[q]) + ny * (x[p + 1] - x[q + 1]) + nz * (x[p + 2] - x[q + 2]);
  }

  #measure(state: Float32Array, nx: number, ny: number, nz: number, out: Ends): Ends {
    const v = this.#vertex;
    const sideA = SIDE_A[this.#kind];
    const o = 3 * v[0];
    let lo = Number.POSITIVE_INFINITY;
    let hi = Number.NEGATIVE_INFINITY;
    let spread = 0;
    for (let s = 0; s < CORNERS[this.#kind]; s++) {
      const k = 3 * v[s];
      const hx = nx * (state[k] - state[o]);
      const hy = ny * (state[k + 1] - state[o + 1]);
      const hz = nz * (state[k + 2] - state[o + 2]);
      const height = hx + hy + hz;
      spread = Math.max(spread, Math.abs(hx) + Math.abs(hy) + Math.abs(hz));
      if (s < sideA) {
        if (height < lo) {
          lo = height;
          out.a = s;
        }
      } else if (height > hi) {
        hi = height;
        out.b = s;
      }
    }
    out.gap = lo - hi;
    out.error = DOUBLE_ERROR * spread;
    return out;
  }
}

function halfWay(x: Float32Array, z: Float32Array): Float32Array {
  const middle = new Float32Array(x.length);
  for (let k = 0; k < x.length; k++) middle[k] = x[k] / 2 + z[k] / 2;
  return middle;
}
