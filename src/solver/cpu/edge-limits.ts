import { HOLD_BACK_PASSES, NEAR_LIMIT } from '../constants.js';
import type { Scratch } from './workspace.js';

/** Relative; keeps a shortened step clear of the limit under the rounding of its square root. */
const HOLD_BACK_ROUNDING = 2 ** -20;

/**
 * Edge length limits of the pull-back as exact balls, |y_i − y_j| ≤ R = σ L*, with a vector multiplier c for each edge
 * (Dykstra's projection):
 *
 *   W = w_i + w_j,  d = y_i − y_j + W c,  f = max(0, 1 − R/|d|) / W,  c' = f d,
 *   y_i ← y_i − w_i (c' − c),  y_j ← y_j + w_j (c' − c)
 *
 * so that y_i − y_j = d (1 − f W), of length min(|d|, R), afterwards. Nothing is linearised, and y is linear in c, which is
 * what lets a sweep be extrapolated. Edges without length in the target have no limit.
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

  /**
   * @param ends uint32[2·n], in sweep order
   * @param sigma σ > 1
   * @param hasLimit whether the edge of these ends has a limit; absent = all have
   */
  constructor(
    ends: Uint32Array,
    inverseMass: Float32Array,
    target: Float32Array,
    sigma: number,
    scratch: Scratch,
    hasLimit?: (a: number, b: number) => boolean,
  ) {
    const count = ends.length / 2;
    this.#ends = ends;
    this.#inverseMass = inverseMass;
    this.#limit = scratch.float32('edge limits', count);
    this.#push = scratch.float32('edge limit multipliers', 3 * count).fill(0);
    this.#last = scratch.float32('edge limit multipliers before', 3 * count);
    this.#active = scratch.uint32('edge limits that act', count);
    for (let n = 0; n < count; n++) {
      const length = Math.sqrt(this.#squaredLength(target, n));
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
    for (let n = 0, q = 0; n < this.#limit.length; n++, q += 3) {
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
  }

  /**
   * One sweep over y.
   *
   * @param isComplete look at every edge, and settle which ones act until the next complete sweep
   * @param slack shortens every limit, engine units
   */
  sweep(y: Float32Array, isComplete: boolean, slack: number): void {
    if (!isComplete) {
      for (let a = 0; a < this.#activeCount; a++) this.#project(y, this.#active[a], slack);
      return;
    }
    this.#activeCount = 0;
    for (let n = 0; n < this.#limit.length; n++) {
      if (this.#project(y, n, slack)) this.#active[this.#activeCount++] = n;
    }
  }

  /** c ← c + β (c − c_last), for the edges that act. */
  extrapolate(beta: number): void {
    const push = this.#push;
    const last = this.#last;
    for (let a = 0; a < this.#activeCount; a++) {
      for (let q = 3 * this.#active[a], end = q + 3; q < end; q++) {
        const now = push[q];
        push[q] = now + beta * (now - last[q]);
        last[q] = now;
      }
    }
  }

  /** The ends of the edges that act. */
  forEachActiveVertex(visit: (v: number) => void): void {
    for (let a = 0; a < this.#activeCount; a++) {
      visit(this.#ends[2 * this.#active[a]]);
      visit(this.#ends[2 * this.#active[a] + 1]);
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
    let sum = 0;
    for (let n = 0; n < this.#limit.length; n++) {
      const limit = this.#limit[n];
      if (limit < 0) continue;
      const squared = this.#squaredLength(x, n);
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
    const count = this.#limit.length;
    for (let pass = 0; pass < HOLD_BACK_PASSES; pass++) {
      let isShortened = false;
      for (let k = 0; k < count; k++) {
        const n = pass % 2 === 0 ? k : count - 1 - k;
        if (this.#limit[n] < 0) continue;
        const a = this.#ends[2 * n];
        const b = this.#ends[2 * n + 1];
        if (alpha[a] === alpha[b]) continue;
        const ahead = alpha[a] > alpha[b] ? a : b;
        if (this.#inverseMass[ahead] === 0) continue;
        if (shorten(x, y, alpha, ahead, a + b - ahead, this.#limit, n)) isShortened = true;
      }
      if (!isShortened) return;
    }
  }

  /** @returns whether the edge acts: it pushes, has been projected, or is near its limit */
  #project(y: Float32Array, n: number, slack: number): boolean {
    if (this.#limit[n] < 0) return false;
    const limit = Math.max(0, this.#limit[n] - slack);
    const push = this.#push;
    const q = 3 * n;
    const i = this.#ends[2 * n];
    const j = this.#ends[2 * n + 1];
    const p = 3 * i;
    const r = 3 * j;
    const ex = y[p] - y[r];
    const ey = y[p + 1] - y[r + 1];
    const ez = y[p + 2] - y[r + 2];
    const squared = ex * ex + ey * ey + ez * ez;
    const isPushing = push[q] !== 0 || push[q + 1] !== 0 || push[q + 2] !== 0;
    if (!isPushing && squared <= limit * limit) return squared > NEAR_LIMIT * NEAR_LIMIT * limit * limit;
    const wi = this.#inverseMass[i];
    const wj = this.#inverseMass[j];
    const both = wi + wj;
    const dx = ex + both * push[q];
    const dy = ey + both * push[q + 1];
    const dz = ez + both * push[q + 2];
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    const f = length > limit ? (1 - limit / length) / both : 0;
    const cx = f * dx - push[q];
    const cy = f * dy - push[q + 1];
    const cz = f * dz - push[q + 2];
    push[q] += cx;
    push[q + 1] += cy;
    push[q + 2] += cz;
    y[p] -= wi * cx;
    y[p + 1] -= wi * cy;
    y[p + 2] -= wi * cz;
    y[r] += wj * cx;
    y[r + 1] += wj * cy;
    y[r + 2] += wj * cz;
    return true;
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
