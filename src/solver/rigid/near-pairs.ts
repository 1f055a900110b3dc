import type { LeftOutPairs } from '../../mesh/left-out-pairs.js';
import { CLOSEST_POINTS, closest } from '../cpu/closest.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import type { MovingElements } from './moving-elements.js';
import { DOUBLE_ERROR, isCertified } from './plane-test.js';
import { turn, type Vector } from './rotation.js';
import { MEASURED_ERROR, type Placement } from './twist.js';

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

/** The largest number of listed near pairs, which take 10 MB. A group with more near pairs does not move rigidly. */
const MOST_NEAR_PAIRS = 2 ** 18;

/** Rounds in which placed vertices are moved apart to restore the gap that rounding took. */
const REPAIRS = 4;

/**
 * The pairs within one group that are so close that the rounding of z matters.
 *
 * A vertex goes straight from x to z = R x + t + ε; at the share s of the piece it is at A(s) x + s t + s ε with A(s) =
 * (1 − s) I + s R. Let n separate a pair by g at x. Then A(s)⁻ᵀ n separates the pair A(s) x by the same g, because A⁻ᵀn
 * · A d = n · d, and its length is at most 1/σ(s), σ the least singular value of A(s): σ² = (1 − s)² + s² + 2 s (1 − s)
 * cos θ. The errors shift heights along it by at most s |ε_a − ε_b| / σ(s), and s/σ(s) ≤ 1 for θ ≤ 90°, because then (1
 * − s)² + 2 s (1 − s) cos θ ≥ 0. Hence the pair stays apart if
 *
 *   g > max |ε_a − ε_b|,
 *
 * and its distance is then at least σ (g − max |ε_a − ε_b|) ≥ cos(θ/2) (g − max |ε_a − ε_b|).
 *
 * Distances are those of the closest points: where one is a floor or more, the true one is at least 0.99 floors
 * (cpu/closest.ts). With |ε| ≤ floor/8 (twist.ts) every such pair passes: it ends at 0.74 floors or more, and keeps more than
 * half of the floor on the way. Closer pairs are listed here and tested one by one. On the way they may lose no more than
 * rounding to the caller's numbers allows. At z a pair below half of the floor may lose nothing; otherwise the frames of a
 * session would reduce its gap without end. The gap that rounding takes from them at z is restored by moving their corners
 * apart within |ε| ≤ floor/8.
 */
export class NearPairs {
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
   */
  constructor(
    elements: MovingElements,
    x: Float32Array,
    label: Uint8Array,
    radius: number,
    excluded: LeftOutPairs | undefined,
    pulse: () => void,
  ) {
    this.#search = () => {
      const pairs: number[] = [];
      const note = (kind: number, v0: number, v1: number, v2: number, v3: number): boolean => {
        if (label[v0] === 0 || label[v0] !== label[SIDE_A[kind] === 1 ? v1 : v2]) return true;
        CLOSEST_POINTS[kind](x, v0, v1, v2, v3);
        if (closest.squared >= radius * radius) return true;
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
   * @param angles by which the groups turn
   * @returns by group: whether one of its pairs fails (always, if there are more near pairs than the list holds); and
   *   whether a corner was moved
   */
  settle(
    x: Float32Array,
    z: Float32Array,
    label: Uint8Array,
    placements: readonly (Placement | undefined)[],
    angles: readonly number[],
    floor: number,
  ): { readonly fails: boolean[]; readonly hasMoved: boolean } {
    const pairs = this.#listed();
    if (!this.#isComplete) return { fails: placements.map((placement) => placement !== undefined), hasMoved: false };
    let hasMoved = false;
    for (let n = 0; ; n++) {
      const fails = placements.map(() => false);
      let isRepaired = false;
      for (let p = 0; p < pairs.length; p += 5) {
        const group = label[pairs[p + 1]] - 1;
        const placement = placements[group];
        if (!placement) continue;
        const pair = new NearPair(pairs.subarray(p, p + 5), x, floor);
        if (pair.distance >= floor || pair.staysApart(z, placement, angles[group])) continue;
        fails[group] = true;
        if (n < REPAIRS) isRepaired = pair.repair(z, placement) || isRepaired;
      }
      if (!isRepaired) return { fails, hasMoved };
      hasMoved = true;
    }
  }
}

const image = new Float64Array(3);

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

  staysApart(z: Float32Array, placement: Placement, angle: number): boolean {
    const before = this.#gap(this.#x, this.#normal);
    const kept = before.gap - this.#disagreement(z, placement);
    if (!(kept > before.error)) return false;
    const half = this.#floor / 2;
    const midway = before.gap >= half ? MIDDLE_SHARE * this.#floor : CLOSE_SHARE * before.gap;
    if (Math.cos(angle / 2) * kept < midway) return false;
    const needed = Math.min(before.gap, half);
    const n = turn(placement.rotation, this.#normal);
    return this.#gap(z, n).gap >= needed && (this.#isCertified(z, n) || !this.#isCertified(this.#x, this.#normal));
  }

  /** Moves both sides apart by the missing gap at z, as far as |ε| allows. @returns whether a vertex moved */
  repair(z: Float32Array, placement: Placement): boolean {
    const n = turn(placement.rotation, this.#normal);
    const before = this.#gap(this.#x, this.#normal);
    const after = this.#gap(z, n);
    const lack = Math.min(before.gap, this.#floor / 2) - after.gap;
    const most = (MEASURED_ERROR * this.#floor) ** 2;
    let moved = false;
    for (let s = 0; s < this.#vertex.length; s++) {
      const k = 3 * this.#vertex[s];
      const way = s < SIDE_A[this.#kind] ? 1 : -1;
      // Half of the missing gap for each side, and enough that rounding cannot undo it.
      const step = way * (Math.max(0, lack) / 2 + this.#floor / 64);
      placement.at(this.#x, k, image);
      const to = [0, 1, 2].map((c) => Math.fround(z[k + c] + step * n[c]));
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

  /**
   * Returns an upper bound of max |ε_a − ε_b| over the corners of both sides: the sum of the largest |ε| of each side.
   */
  #disagreement(z: Float32Array, placement: Placement): number {
    const largest = [0, 0];
    for (let s = 0; s < this.#vertex.length; s++) {
      const k = 3 * this.#vertex[s];
      placement.at(this.#x, k, image);
      const error = Math.hypot(z[k] - image[0], z[k + 1] - image[1], z[k + 2] - image[2]);
      const side = s < SIDE_A[this.#kind] ? 0 : 1;
      largest[side] = Math.max(largest[side], error);
    }
    return largest[0] + largest[1];
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
