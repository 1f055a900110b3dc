import { type ElementsByVertex, listElements } from '../../mesh/elements-by-vertex.js';
import { HOLD_BACK_PASSES } from '../constants.js';
import { DueItems } from './due-items.js';
import type { EdgeRows } from './sweep-edges.js';
import type { Coloured } from './sweep-plan.js';
import { SweepRounds } from './sweep-rounds.js';
import type { Scratch } from './workspace.js';

/** Relative; keeps a shortened step clear of the limit under the rounding of its square root. */
const HOLD_BACK_ROUNDING = 2 ** -20;

/**
 * Edge length limits of the pull-back as exact balls, |y_i − y_j| ≤ R = σ L, L as in EdgeLengths, with a vector
 * multiplier c for each edge (Dykstra's projection):
 *
 *   W = w_i + w_j,  d = y_i − y_j + W c,  f = max(0, 1 − R/|d|) / W,  c' = f d,
 *   y_i ← y_i − w_i (c' − c),  y_j ← y_j + w_j (c' − c)
 *
 * so that afterwards y_i − y_j = d (1 − f W), of length min(|d|, R). Nothing is linearised, and y is linear in c, so
 * sweeps can be extrapolated. Edges with L = 0 have no limit.
 */
export class EdgeLimits {
  /** uint32[2·n] the edges' ends, in sweep order */
  readonly #ends: Uint32Array;
  readonly #inverseMass: Float32Array;
  /** float32[n] R; negative = no limit */
  readonly #limit: Float32Array;
  /** float32[3·n] c, and c after the previous sweep */
  readonly #push: Float32Array;
  readonly #last: Float32Array;
  /** in sweep order */
  readonly rows: EdgeRows;
  readonly #rounds = new SweepRounds();
  readonly #due: DueItems;
  /** undefined = not needed yet */
  #edgesAt: ElementsByVertex | undefined;

  /**
   * @param edges uint32[2·n] their ends, in sweep order, and their colours
   * @param sigma σ > 1
   * @param hasLimit whether the edge of these ends has a limit; absent = all have
   * @param lengthOf L of edge n by its length in the target, engine units; absent = that length
   */
  constructor(
    { ends, offsets, colours }: { readonly ends: Uint32Array } & Coloured,
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
    this.#due = new DueItems(count);
    this.#push = scratch.float32('edge limit multipliers', 3 * count).fill(0);
    this.#last = scratch.float32('edge limit multipliers before', 3 * count);
    const masses = scratch.float32('edge inverse masses', 2 * count);
    for (let k = 0; k < 2 * count; k++) masses[k] = inverseMass[ends[k]];
    const shared = scratch.uint32('edge ends', 2 * count);
    shared.set(ends);
    const arrays = { ends: shared, masses, limit: this.#limit, push: this.#push, lastPush: this.#last };
    this.rows = { offsets, colours, arrays };
    for (let n = 0; n < count; n++) {
      const inTarget = Math.sqrt(this.#squaredLength(target, n));
      const length = lengthOf ? lengthOf(n, inTarget) : inTarget;
      const isLimited = length > 0 && (hasLimit?.(ends[2 * n], ends[2 * n + 1]) ?? true);
      this.#limit[n] = isLimited ? sigma * length : -1;
    }
  }

  /** Sets c = 0, after the previous sweep as well: sweeps may begin without {@link begin}. */
  reset(): void {
    this.#push.fill(0);
    this.#last.fill(0);
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
   * Whether the sweeps of a step should continue: the excess of y over its limits is too large, and another round may
   * reduce it.
   *
   * @param rounds number of rounds so far, at least 1
   * @param most largest permitted excess, as {@link excess} computes it
   */
  wantsMore(y: Float32Array, rounds: number, most: number): boolean {
    if (most === Number.POSITIVE_INFINITY) return false;
    const excess = this.excess(y);
    return this.#rounds.mayFall(excess, rounds) && excess > most;
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
   * Shortens the step of a vertex whose edge would grow past its limit because the other end is held: for α_i > α_j and
   * i dynamic, the largest α ≥ α_j with |x_i + α D_i − x_j − α_j D_j| ≤ max(R, |x_i − x_j|).
   *
   * Passes over the edges begin at the first and at the last one by turns. An edge is visited again only if the α of one
   * of its ends has changed since its last visit, because otherwise it would shorten nothing.
   *
   * Safe: α only falls, and the half-spaces of the forward step are convex and hold x_i (docs/method.md, S4).
   */
  holdBack(x: Float32Array, y: Float32Array, alpha: Float32Array): void {
    const due = this.#due;
    due.begin();
    let passes = 0;
    do {
      for (let n = due.take(); n >= 0; n = due.take()) {
        const shortened = this.#holdBackEdge(x, y, alpha, n);
        if (shortened < 0) continue;
        const { offsets, elements } = (this.#edgesAt ??= listElements(this.#ends, 2, alpha.length));
        for (let k = offsets[shortened]; k < offsets[shortened + 1]; k++) due.add(elements[k], n);
      }
    } while (++passes < HOLD_BACK_PASSES && due.turn());
  }

  /** Shortens the step of one end of edge n, if need be. @returns this end; −1 = none */
  #holdBackEdge(x: Float32Array, y: Float32Array, alpha: Float32Array, n: number): number {
    const a = this.#ends[2 * n];
    const b = this.#ends[2 * n + 1];
    if (alpha[a] === alpha[b] || this.#limit[n] < 0) return -1;
    const ahead = alpha[a] > alpha[b] ? a : b;
    if (this.#inverseMass[ahead] === 0) return -1;
    return shorten(x, y, alpha, ahead, a + b - ahead, this.#limit, n) ? ahead : -1;
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
