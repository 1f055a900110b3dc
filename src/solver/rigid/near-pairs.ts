import type { LeftOutPairs } from '../../mesh/left-out-pairs.js';
import { UNIT_ROUNDOFF } from '../constants.js';
import { CLOSEST_POINTS, closest } from '../cpu/closest.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import type { MovingElements } from './moving-elements.js';
import { DOUBLE_ERROR, isCertified } from './plane-test.js';
import { turn, type Vector } from './rotation.js';
import { MEASURED_ERROR, type Placement, reachOf } from './twist.js';

/**
 * In the middle of a piece, where a rotation contracts its group, a pair keeps this share of the floor, because
 * rounding to the caller's numbers may bring two vertices nearer by √3/4 of it (solver/range.ts).
 */
const MIDDLE_SHARE = 0.45;

/**
 * A pair that is closer than half of the floor keeps this share of its distance there, which limits the rotation to
 * 90°.
 */
const CLOSE_SHARE = 0.7;

/** Elements that are this near touch: rounding in double hides the direction of their gap, engine units. */
const TOUCHING = 2 ** -40;

/** The largest number of listed near pairs, which take 10 MB. A group with more near pairs does not move rigidly. */
const MOST_NEAR_PAIRS = 2 ** 18;

/**
 * Placed vertices are moved apart, to restore the gaps that rounding took, until so many rounds in a row have not lowered
 * the number of pairs that fail by a tenth. In a stack each layer moves aside for the one before it.
 */
const POOR_REPAIRS = 4;
const REPAIRED_SHARE = 0.9;
/** Rounds end when all of them together have examined this many pairs, as four over the longest list do. */
const MOST_EXAMINED = 4 * MOST_NEAR_PAIRS;

/** Pairs between two pulses: they take about ten milliseconds. */
const PAIRS_PER_PULSE = 4096;

/**
 * The pairs within one group that are so close that the rounding of z matters.
 *
 * A vertex goes straight from x to z = R x + t + ε; at the share s of the piece it is at A(s) x + s t + s ε with A(s) =
 * (1 − s) I + s R. Let n separate a pair by g at x. Then m = A(s)⁻ᵀ n separates the pair A(s) x by the same g, because
 * A⁻ᵀn · A d = n · d, and its length is at most 1/σ(s), σ the least singular value of A(s): σ² = (1 − s)² + s² + 2 s (1 −
 * s) cos θ. The errors shift heights along it, and take from the gap at most the largest −s m · e over the corners a and
 * b of both sides, e = ε_a − ε_b.
 *
 * s/σ(s) ≤ 1 for θ ≤ 90°, because then (1 − s)² + 2 s (1 − s) cos θ ≥ 0. Across the axis, A(s) is σ(s) times a rotation by
 * an angle between 0 and θ; along it, the identity. Let n∥ be the part of n along the axis and n⊥ the rest. Then s m = s n∥
 * + (s/σ) (λ n⊥ + μ R n⊥), and λ and μ lie between 0 and 1, because θ ≤ 90°. Hence the pair stays apart if
 *
 *   g > L = min(max |e|, max (−n∥ · e)⁺ + max (−n⊥ · e)⁺ + max (−R n⊥ · e)⁺),
 *
 * and its distance is then at least σ (g − L) ≥ cos(θ/2) (g − L). Errors that move the sides apart take nothing. L is
 * computed from images in double, each of which errs by less than {@link DOUBLE_ERROR} of the largest coordinate of a piece.
 *
 * Distances are those of the closest points: where one is a floor or more, the true one is at least 0.99 floors
 * (cpu/closest.ts). With |ε| ≤ floor/8 (twist.ts) every such pair passes: it ends at 0.74 floors or more, and keeps more than
 * half of the floor on the way. Closer pairs are listed here and tested one by one. On the way they may lose no more than
 * rounding to the caller's numbers allows. At z a pair below half of the floor may lose nothing; otherwise the frames of a
 * session would reduce its gap without end. The gap that rounding takes from them at z is restored by moving their corners
 * apart within |ε| ≤ floor/8.
 */
export class NearPairs {
  readonly #pulse: () => void;
  /** kind and four vertices of each pair; undefined = not searched yet */
  #pairs: Int32Array | undefined;
  readonly #search: () => Int32Array;
  /** whether the list contains all of them */
  #isComplete = true;

  /**
   * The search is postponed until a piece needs it, because it costs about as much as the test of a motion against all
   * other groups.
   *
   * @param x must not change until then
   * @param radius pairs within one group that may be closer than this at x are listed
   * @param pulse called at short intervals; may throw
   */
  constructor(
    elements: MovingElements,
    x: Float32Array,
    label: Uint8Array,
    radius: number,
    excluded: LeftOutPairs | undefined,
    pulse: () => void,
  ) {
    this.#pulse = pulse;
    this.#search = () => {
      const pairs: number[] = [];
      const note = (kind: number, v0: number, v1: number, v2: number, v3: number): boolean => {
        if (label[v0] === 0 || label[v0] !== label[SIDE_A[kind] === 1 ? v1 : v2]) return true;
        CLOSEST_POINTS[kind](x, v0, v1, v2, v3);
        if (closest.squared >= radius * radius) return true;
        // Such a pair has no gap to keep, and stays where it is in the group.
        if (closest.squared <= TOUCHING ** 2 && elements.guarded.guardNothing(kind, [v0, v1, v2, v3])) return true;
        this.#isComplete = pairs.length < 5 * MOST_NEAR_PAIRS;
        if (this.#isComplete) pairs.push(kind, v0, v1, v2, v3);
        return this.#isComplete;
      };
      elements.forEachNear(x, label, radius, excluded, note, pulse);
      return Int32Array.from(pairs);
    };
  }

  get areListed(): boolean {
    return this.#pairs !== undefined;
  }

  get count(): number {
    return this.#listed().length / 5;
  }

  #listed(): Int32Array {
    this.#pairs ??= this.#search();
    return this.#pairs;
  }

  /**
   * Moves corners of z apart if rounding has brought them too near, and finds the groups for which a pair prevents this
   * piece.
   *
   * @param placements of the groups; undefined = at rest
   * @param spins rotation vectors of the groups, of at most a right angle
   * @returns by group: whether one of its pairs fails (always, if there are more near pairs than the list holds); and
   *   whether a corner was moved
   * @throws what `pulse` throws; z is of no use then
   */
  settle(
    x: Float32Array,
    z: Float32Array,
    label: Uint8Array,
    placements: readonly (Placement | undefined)[],
    spins: readonly Vector[],
    floor: number,
  ): { readonly fails: boolean[]; readonly hasMoved: boolean } {
    const pairs = this.#listed();
    if (!this.#isComplete) return { fails: placements.map((placement) => placement !== undefined), hasMoved: false };
    let hasMoved = false;
    const isHopeless = placements.map(() => false);
    for (let fewest = Number.POSITIVE_INFINITY, poorRounds = 0, examined = 0; ; ) {
      const mayRepair = poorRounds < POOR_REPAIRS && examined < MOST_EXAMINED;
      examined += pairs.length / 5;
      const fails = isHopeless.slice();
      let count = 0;
      let isRepaired = false;
      for (let p = 0; p < pairs.length; p += 5) {
        if (p % (5 * PAIRS_PER_PULSE) === 0) this.#pulse();
        const group = label[pairs[p + 1]] - 1;
        const placement = placements[group];
        if (!placement || isHopeless[group]) continue;
        const pair = new NearPair(pairs.subarray(p, p + 5), x, floor);
        if (pair.distance >= floor) continue;
        const lack = pair.lackAt(z, placement, spins[group]);
        if (lack === undefined) continue;
        fails[group] = true;
        count++;
        if (lack === Number.POSITIVE_INFINITY) isHopeless[group] = true;
        else if (mayRepair) isRepaired = pair.moveApart(z, placement, lack) || isRepaired;
      }
      if (!isRepaired) return { fails, hasMoved };
      hasMoved = true;
      poorRounds = count < REPAIRED_SHARE * fewest ? 0 : poorRounds + 1;
      fewest = Math.min(fewest, count);
    }
  }
}

const image = new Float64Array(3);
/** n∥, n⊥ and R n⊥ */
const normals = new Float64Array(9);
/** heights of ε along each of them: the least one of side a and the largest one of side b */
const [lo, hi] = [new Float64Array(3), new Float64Array(3)];

/** The part of a vector along an axis; an axis of length 0 stands for no rotation. */
function along([x, y, z]: Vector, [ax, ay, az]: Vector): Vector {
  const s = (x * ax + y * ay + z * az) / (ax * ax + ay * ay + az * az || 1);
  return [s * ax, s * ay, s * az];
}

class NearPair {
  readonly distance: number;
  readonly #kind: number;
  readonly #vertex: Int32Array;
  readonly #x: Float32Array;
  readonly #floor: number;
  /** of the closest points at x */
  readonly #normal: Vector;

  constructor(pair: Int32Array, x: Float32Array, floor: number) {
    this.#kind = pair[0];
    this.#vertex = pair.subarray(1, 1 + CORNERS[pair[0]]);
    this.#x = x;
    this.#floor = floor;
    CLOSEST_POINTS[this.#kind](x, pair[1], pair[2], pair[3], pair[4]);
    this.distance = Math.sqrt(closest.squared);
    const d = this.distance || 1;
    this.#normal = [closest.x / d, closest.y / d, closest.z / d];
  }

  /**
   * Returns how much farther apart z must hold the pair, 0 if it only lacks a certificate; undefined = the pair stays
   * apart; Infinity = it touches, or the group turns too far for it, whatever z is.
   */
  lackAt(z: Float32Array, placement: Placement, spin: Vector): number | undefined {
    const before = this.#gap(this.#x, this.#normal);
    const half = this.#floor / 2;
    const middle = before.gap >= half ? MIDDLE_SHARE * this.#floor : CLOSE_SHARE * before.gap;
    const midway = middle / Math.cos(Math.hypot(...spin) / 2);
    // The images of both sides err, wherever the pair lies in its group.
    const least = Math.max(midway, before.error + 2 * DOUBLE_ERROR * reachOf(this.#floor));
    if (!(before.gap >= least)) return Number.POSITIVE_INFINITY;
    const n = turn(placement.rotation, this.#normal);
    const loss = this.#loss(z, placement, n, spin);
    const lack = Math.max(Math.min(before.gap, half) - this.#gap(z, n).gap, least - (before.gap - loss));
    if (lack > 0) return lack;
    return this.#isCertified(z, n) || !this.#isCertified(this.#x, this.#normal) ? undefined : 0;
  }

  /** Moves both sides apart, each by half of `lack`, as far as |ε| allows. @returns whether a vertex moved */
  moveApart(z: Float32Array, placement: Placement, lack: number): boolean {
    const n = turn(placement.rotation, this.#normal);
    const most = (MEASURED_ERROR * this.#floor) ** 2;
    // Enough that rounding cannot undo it, and hardly more, because other pairs have the same vertices.
    const step = lack > 0 ? lack / 2 + UNIT_ROUNDOFF * this.#largest(z) : this.#floor / 64;
    let moved = false;
    for (let s = 0; s < this.#vertex.length; s++) {
      const k = 3 * this.#vertex[s];
      const way = s < SIDE_A[this.#kind] ? step : -step;
      placement.at(this.#x, k, image);
      const to = [0, 1, 2].map((c) => Math.fround(z[k + c] + way * n[c]));
      if ([0, 1, 2].reduce((sum, c) => sum + (to[c] - image[c]) ** 2, 0) > most) continue;
      for (let c = 0; c < 3; c++) {
        if (z[k + c] !== to[c]) moved = true;
        z[k + c] = to[c];
      }
    }
    return moved;
  }

  #isCertified(state: Float32Array, [nx, ny, nz]: Vector): boolean {
    return isCertified(state, this.#kind, this.#vertex, nx, ny, nz);
  }

  /** Returns L, what the errors of z take from the gap on the way at most. @param turned the normal at z */
  #loss(z: Float32Array, placement: Placement, turned: Vector, spin: Vector): number {
    const axial = along(this.#normal, spin);
    for (let c = 0; c < 3; c++) {
      normals[c] = axial[c];
      normals[3 + c] = this.#normal[c] - axial[c];
      normals[6 + c] = turned[c] - axial[c];
    }
    lo.fill(Number.POSITIVE_INFINITY);
    hi.fill(Number.NEGATIVE_INFINITY);
    // By side: the largest |ε|².
    const largest = [0, 0];
    for (let s = 0; s < this.#vertex.length; s++) {
      const k = 3 * this.#vertex[s];
      placement.at(this.#x, k, image);
      const [ex, ey, ez] = [z[k] - image[0], z[k + 1] - image[1], z[k + 2] - image[2]];
      const side = s < SIDE_A[this.#kind] ? 0 : 1;
      largest[side] = Math.max(largest[side], ex * ex + ey * ey + ez * ez);
      for (let i = 0; i < 3; i++) {
        const height = normals[3 * i] * ex + normals[3 * i + 1] * ey + normals[3 * i + 2] * ez;
        if (side === 0) lo[i] = Math.min(lo[i], height);
        else hi[i] = Math.max(hi[i], height);
      }
    }
    let lost = 0;
    for (let i = 0; i < 3; i++) lost += Math.max(0, hi[i] - lo[i]);
    return Math.min(Math.sqrt(largest[0]) + Math.sqrt(largest[1]), lost);
  }

  /** Returns the size of the largest coordinate of the pair. */
  #largest(state: Float32Array): number {
    let largest = 0;
    for (const v of this.#vertex) {
      for (let k = 3 * v; k < 3 * v + 3; k++) largest = Math.max(largest, Math.abs(state[k]));
    }
    return largest;
  }

  #gap(state: Float32Array, [nx, ny, nz]: Vector): { readonly gap: number; readonly error: number } {
    const o = 3 * this.#vertex[0];
    let lo = Number.POSITIVE_INFINITY;
    let hi = Number.NEGATIVE_INFINITY;
    let spread = 0;
    for (let s = 0; s < this.#vertex.length; s++) {
      const k = 3 * this.#vertex[s];
      const [hx, hy, hz] = [
        nx * (state[k] - state[o]),
        ny * (state[k + 1] - state[o + 1]),
        nz * (state[k + 2] - state[o + 2]),
      ];
      const height = hx + hy + hz;
      spread = Math.max(spread, Math.abs(hx) + Math.abs(hy) + Math.abs(hz));
      if (s < SIDE_A[this.#kind]) lo = Math.min(lo, height);
      else hi = Math.max(hi, height);
    }
    return { gap: lo - hi, error: DOUBLE_ERROR * spread };
  }
}
