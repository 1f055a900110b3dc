import { HOLD_BACK_PASSES, NEAR_LIMIT } from '../constants.js';
import { SweepRounds } from './sweep-rounds.js';
import type { Scratch } from './workspace.js';

/** Relative; keeps a shortened step clear of the limit under the rounding of its square root. */
const HOLD_BACK_ROUNDING = 2 ** -20;

/**
 * Edge length limits of the pull-back as exact balls, |y_i − y_j| ≤ R = σ L, L as in EdgeLengths, with a vector multiplier c for each edge
 * (Dykstra's projection):
 *
 *   W = w_i + w_j,  d = y_i − y_j + W c,  f = max(0, 1 − R/|d|) / W,  c' = f d,
 *   y_i ← y_i − w_i (c' − c),  y_j ← y_j + w_j (c' − c)
 *
 * so that y_i − y_j = d (1 − f W), of length min(|d|, R), afterwards. Nothing is linearised, and y is linear in c, which is
 * what lets a sweep be extrapolated. Edges with L = 0 have no limit.
 */
export class EdgeLimits {
  /** uint32[2·n] the edges' ends, in sweep order */
  readonly #ends: Uint32Array;
  readonly #inverseMass: Float32Array;
  /** float32[n] R; negative = no limit */
  readonly #limit: Float32Array;
  /** float32[3·n] c, and c after the sweep before */
  readonly #push: Float32Array;
  readonly #last: Float32Array;
  readonly #active: Uint32Array;
  #activeCount = 0;
  readonly #rounds = new SweepRounds();

  /**
   * @param ends uint32[2·n], in sweep order
   * @param sigma σ > 1
   * @param hasLimit whether the edge of these ends has a limit; absent = all have
   * @param lengthOf L of edge n by its length in the target, engine units; absent = that length
   */
  constructor(
    ends: Uint32Array,
    inverseMass: Float32Array,
    target: Float32Array,
    sigma: number,
    scratch: Scratch,
    hasLimit?: (a: number, b: number) => boolean,
    lengthOf?: (n: number, inTarget: number) => number,
  ) {
    const count = ends.length / 2;
    this.#ends = ends;
    this.#inverseMass = inverseMass;
    this.#limit = scratch.float32('edge limits', count);
    this.#push = scratch.float32('edge limit multipliers', 3 * count).fill(0);
    this.#last = scratch.float32('edge limit multipliers before', 3 * count);
    this.#active = scratch.uint32('edge limits that act', count);
    for (let n = 0; n < count; n++) {
      const inTarget = Math.sqrt(this.#squaredLength(target, n));
      const length = lengthOf ? lengthOf(n, inTarget) : inTarget;
      const isLimited = length > 0 && (hasLimit?.(ends[2 * n], ends[2 * n + 1]) ?? true);
      this.#limit[n] = isLimited ? sigma * length : -1;
    }
  }

  /** c = 0 */
  reset(): void {
    this.#push.fill(0);
  }

  /** Begins the sweeps of a step: `share` of the multipliers of the last step, and y moved by them. */
  begin(y: Float32Array, share: number): void {
    const push = this.#push;
    const ends = this.#ends;
    const w = this.#inverseMass;
    const count = this.#limit.length;
    for (let n = 0, q = 0; n < count; n++, q += 3) {
      if (push[q] === 0 && push[q + 1] === 0 && push[q + 2] === 0) continue;
      const i = ends[2 * n];
      const j = ends[2 * n + 1];
      for (let c = 0; c < 3; c++) {
        push[q + c] *= share;
        y[3 * i + c] -= w[i] * push[q + c];
        y[3 * j + c] += w[j] * push[q + c];
      }
    }
    this.#last.set(push);
    this.#rounds.begin();
  }

  /**
   * One sweep over y.
   *
   * @param isComplete look at every edge, and settle which ones act until the next complete sweep
   * @param slack shortens every limit, engine units
   */
  sweep(y: Float32Array, isComplete: boolean, slack: number): void {
    const acting = this.#projectAll(y, isComplete, slack);
    if (isComplete) this.#activeCount = acting;
  }

  /**
   * Whether the sweeps of a step should go on: y is over its limits by more than it may be, and another round may bring it nearer to them.
   *
   * @param rounds so far, from 1
   * @param most what is asked, as {@link excess}
   */
  wantsMore(y: Float32Array, rounds: number, most: number): boolean {
    if (most === Number.POSITIVE_INFINITY) return false;
    const excess = this.excess(y);
    return this.#rounds.mayFall(excess, rounds) && excess > most;
  }

  /** c ← c + β (c − c_last), for the edges that act. */
  extrapolate(beta: number): void {
    const push = this.#push;
    const last = this.#last;
    const active = this.#active;
    const count = this.#activeCount;
    for (let a = 0; a < count; a++) {
      const q = 3 * active[a];
      const x = push[q];
      const y = push[q + 1];
      const z = push[q + 2];
      push[q] = x + beta * (x - last[q]);
      push[q + 1] = y + beta * (y - last[q + 1]);
      push[q + 2] = z + beta * (z - last[q + 2]);
      last[q] = x;
      last[q + 1] = y;
      last[q + 2] = z;
    }
  }

  /** The ends of the edges that act. */
  forEachActiveVertex(visit: (v: number) => void): void {
    const ends = this.#ends;
    const active = this.#active;
    for (let a = 0; a < this.#activeCount; a++) {
      visit(ends[2 * active[a]]);
      visit(ends[2 * active[a] + 1]);
    }
  }

  /** Marks the neighbours of the marked vertices as well. @param marks uint8[V] 1 = marked */
  spread(marks: Uint8Array): void {
    const ends = this.#ends;
    for (let n = 0; n < ends.length; n += 2) {
      const i = ends[n];
      const j = ends[n + 1];
      if (marks[i] === 1 && marks[j] === 0) marks[j] = 2;
      else if (marks[j] === 1 && marks[i] === 0) marks[i] = 2;
    }
    for (let i = 0; i < marks.length; i++) if (marks[i] === 2) marks[i] = 1;
  }

  /** Σ max(0, |x_i − x_j| − R)² over all edges. */
  excess(x: Float32Array): number {
    const limits = this.#limit;
    const ends = this.#ends;
    let sum = 0;
    for (let n = 0; n < limits.length; n++) {
      const limit = limits[n];
      if (limit < 0) continue;
      const i = 3 * ends[2 * n];
      const j = 3 * ends[2 * n + 1];
      const dx = x[i] - x[j];
      const dy = x[i + 1] - x[j + 1];
      const dz = x[i + 2] - x[j + 2];
      const squared = dx * dx + dy * dy + dz * dz;
      if (squared > limit * limit) sum += (Math.sqrt(squared) - limit) ** 2;
    }
    return sum;
  }

  /**
   * Shortens the step of a vertex whose edge would grow past its limit because the other end is held: for α_i > α_j and i
   * dynamic, the largest α ≥ α_j with |x_i + α D_i − x_j − α_j D_j| ≤ max(R, |x_i − x_j|).
   *
   * Safe: α only falls, and the half-spaces of the forward step are convex and hold x_i (docs/method.md, S4).
   */
  holdBack(x: Float32Array, y: Float32Array, alpha: Float32Array): void {
    const limits = this.#limit;
    const ends = this.#ends;
    const w = this.#inverseMass;
    const count = limits.length;
    for (let pass = 0; pass < HOLD_BACK_PASSES; pass++) {
      let isShortened = false;
      for (let k = 0; k < count; k++) {
        const n = pass % 2 === 0 ? k : count - 1 - k;
        const a = ends[2 * n];
        const b = ends[2 * n + 1];
        if (alpha[a] === alpha[b] || limits[n] < 0) continue;
        const ahead = alpha[a] > alpha[b] ? a : b;
        if (w[ahead] === 0) continue;
        if (shorten(x, y, alpha, ahead, a + b - ahead, limits, n)) isShortened = true;
      }
      if (!isShortened) return;
    }
  }

  /**
   * Projects every edge, or those that act, one after the other.
   *
   * @returns after a look at every edge, how many act: those that push, have been projected, or are near their limit
   */
  #projectAll(y: Float32Array, isComplete: boolean, slack: number): number {
    const limits = this.#limit;
    const push = this.#push;
    const ends = this.#ends;
    const w = this.#inverseMass;
    const active = this.#active;
    const count = isComplete ? limits.length : this.#activeCount;
    let acting = 0;
    for (let k = 0; k < count; k++) {
      const n = isComplete ? k : active[k];
      if (limits[n] < 0) continue;
      const limit = Math.max(0, limits[n] - slack);
      const q = 3 * n;
      const i = ends[2 * n];
      const j = ends[2 * n + 1];
      const p = 3 * i;
      const r = 3 * j;
      const ex = y[p] - y[r];
      const ey = y[p + 1] - y[r + 1];
      const ez = y[p + 2] - y[r + 2];
      const squared = ex * ex + ey * ey + ez * ez;
      const px = push[q];
      const py = push[q + 1];
      const pz = push[q + 2];
      if (squared <= limit * limit && px === 0 && py === 0 && pz === 0) {
        if (isComplete && squared > NEAR_LIMIT * NEAR_LIMIT * limit * limit) active[acting++] = n;
        continue;
      }
      if (isComplete) active[acting++] = n;
      const wi = w[i];
      const wj = w[j];
      const both = wi + wj;
      const dx = ex + both * px;
      const dy = ey + both * py;
      const dz = ez + both * pz;
      const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
      const f = length > limit ? (1 - limit / length) / both : 0;
      const cx = f * dx - px;
      const cy = f * dy - py;
      const cz = f * dz - pz;
      push[q] = px + cx;
      push[q + 1] = py + cy;
      push[q + 2] = pz + cz;
      y[p] -= wi * cx;
      y[p + 1] -= wi * cy;
      y[p + 2] -= wi * cz;
      y[r] += wj * cx;
      y[r + 1] += wj * cy;
      y[r + 2] += wj * cz;
    }
    return acting;
  }

  #squaredLength(x: Float32Array, n: number): number {
    const i = 3 * this.#ends[2 * n];
    const j = 3 * this.#ends[2 * n + 1];
    const dx = x[i] - x[j];
    const dy = x[i + 1] - x[j + 1];
    const dz = x[i + 2] - x[j + 2];
    return dx * dx + dy * dy + dz * dz;
  }
}

/** With e = x_i − x_j − α_j D_j the length grows past its limit at the larger root of |e + α D_i|² = limit². */
function shorten(
  x: Float32Array,
  y: Float32Array,
  alpha: Float32Array,
  i: number,
  j: number,
  limits: Float32Array,
  n: number,
): boolean {
  const limit = limits[n];
  const held = alpha[j];
  let ee = 0;
  let ed = 0;
  let dd = 0;
  let present = 0;
  for (let c = 0; c < 3; c++) {
    const p = 3 * i + c;
    const q = 3 * j + c;
    const d = y[p] - x[p];
    const e = x[p] - (x[q] + held * (y[q] - x[q]));
    ee += e * e;
    ed += e * d;
    dd += d * d;
    present += (x[p] - x[q]) ** 2;
  }
  if (dd === 0) return false;
  const most = Math.max(limit * limit, present);
  const old = alpha[i];
  if (ee + 2 * old * ed + old * old * dd <= most * (1 + HOLD_BACK_ROUNDING)) return false;
  const discriminant = ed * ed - dd * (ee - most);
  const root = discriminant >= 0 ? ((-ed + Math.sqrt(discriminant)) / dd) * (1 - HOLD_BACK_ROUNDING) : held;
  alpha[i] = Math.max(held, Math.min(old, root));
  return alpha[i] < old;
}
