import type { ContactForm } from '../../contract/parameters.js';
import { team } from '../../threads/here.js';
import { type Colouring, colourContacts } from '../colouring.js';
import { indexOfForm, ROWS, ROWS_CHUNK, ROWS_COST } from './contact-rows.js';
import type { PairSet } from './pair-set.js';
import { selectContacts } from './select-contacts.js';
import { Scratch } from './workspace.js';

/** Room for rows beyond those of a step, 80 bytes each, so that the next step rarely needs more. */
const SPARE_ROWS = 1.25;

/**
 * Contact constraints of one backward step (Eqs. 10–12), in units of length: c + Σ_k J_k·(y_k − x_k) ≥ 0 with
 * c = d − δ_p and
 *
 *   GAP     J_k = s_k w_k n
 *   VOLUME  J_k = s_k w_k n + d ∇_k log S    (S: measure of the closest features, see contact-forms.ts)
 *
 * with s_k = +1 on side a, −1 on side b, the closest-point weights w and the certified normal n from b to a.
 */
export class Contacts {
  count = 0;
  /** int32[4·n] vertices of non-zero weight, −1 where unused */
  corner: Int32Array = new Int32Array(0);
  /** float32[12·n] Jacobians of the four slots */
  jacobian: Float32Array = new Float32Array(0);
  /** float32[n] c(x) */
  value: Float32Array = new Float32Array(0);
  /** float32[n] K = Σ w_k |J_k|² with inverse masses w_k */
  stiffness: Float32Array = new Float32Array(0);
  #lambda: Float32Array = new Float32Array(0);
  colouring: Colouring = { order: new Uint32Array(0), offsets: new Uint32Array(1), colours: 0 };

  /** int32[n] the pair of each row */
  pairOf: Int32Array = new Int32Array(0);

  /** float32[V] in memory that stages can read */
  readonly inverseMass: Float32Array;
  readonly #form: number;
  readonly #scratch: Scratch;

  constructor(inverseMass: Float32Array, form: ContactForm, scratch = new Scratch()) {
    this.inverseMass = scratch.float32('inverse masses', inverseMass.length);
    this.inverseMass.set(inverseMass);
    this.#scratch = scratch;
    this.#form = indexOfForm(form);
  }

  /**
   * Assembles and colours the rows of the given pairs.
   *
   * @param list uint32[listLength] pairs with current geometry and gap < δ_p
   * @param x float32[3·V] current state
   * @param seed determines the order of the sweep
   * @param pulse called at short intervals; may throw, and the rows are then undefined
   */
  assemble(
    pairs: PairSet,
    list: Uint32Array,
    listLength: number,
    x: Float32Array,
    seed: number,
    pulse?: () => void,
  ): void {
    this.count = 0;
    const kept = selectContacts(pairs, list, listLength, this.inverseMass, this.#scratch, pulse);
    this.#reserve(kept.length);
    this.#fillRows(pairs, kept, x);
    this.colouring = colourContacts(this.count, this.corner, this.inverseMass, seed);
    this.#lambda.fill(0, 0, this.count);
  }

  /** Fills the rows of the kept pairs, in their order, without those that cannot move anything. */
  #fillRows(pairs: PairSet, kept: Int32Array, x: Float32Array): void {
    const { corner, jacobian, value, stiffness, pairOf } = this;
    const { kind, vertex, normal, weight, distance, delta } = pairs;
    const idle = this.#scratch.int32('idle contacts', 1).fill(0);
    team.run({
      stage: ROWS,
      arrays: {
        ...{ kind, vertex, normal, weight, distance, delta, kept, x, inverseMass: this.inverseMass },
        ...{ corner, jacobian, value, stiffness, pairOf, idle },
      },
      numbers: { form: this.#form },
      ...{ count: kept.length, chunk: ROWS_CHUNK, cost: ROWS_COST },
    });
    this.count = kept.length;
    if (idle[0] > 0) this.#dropIdleRows();
  }

  #dropIdleRows(): void {
    const { corner, jacobian, value, stiffness, pairOf } = this;
    let to = 0;
    for (let row = 0; row < this.count; row++) {
      if (!(stiffness[row] > 0)) continue;
      corner.copyWithin(4 * to, 4 * row, 4 * row + 4);
      jacobian.copyWithin(12 * to, 12 * row, 12 * row + 12);
      value[to] = value[row];
      stiffness[to] = stiffness[row];
      pairOf[to++] = pairOf[row];
    }
    this.count = to;
  }

  /** λ of a row after the sweeps of Algorithm 1. */
  multiplierOf(row: number): number {
    return this.#lambda[row];
  }

  /**
   * Makes one projected Gauss-Seidel sweep over y, colour by colour: Δλ = max(0, λ − s/K) − λ, y_k += w_k J_k Δλ (Eq.
   * 9).
   */
  sweep(x: Float32Array, y: Float32Array): void {
    const { corner, jacobian, value } = this;
    const { inverseMass } = this;
    const lambda = this.#lambda;
    const { order, colours, offsets } = this.colouring;
    for (let n = offsets[0]; n < offsets[colours]; n++) {
      const r = order[n];
      let s = value[r];
      for (let slot = 0; slot < 4; slot++) {
        const v = corner[4 * r + slot];
        if (v < 0) continue;
        const q = 12 * r + 3 * slot;
        // y − x comes first, because (c − J·x) + J·y would cancel.
        s +=
          jacobian[q] * (y[3 * v] - x[3 * v]) +
          jacobian[q + 1] * (y[3 * v + 1] - x[3 * v + 1]) +
          jacobian[q + 2] * (y[3 * v + 2] - x[3 * v + 2]);
      }
      const old = lambda[r];
      if (s >= 0 && old === 0) continue;
      const next = Math.max(0, old - s / this.stiffness[r]);
      const change = next - old;
      lambda[r] = next;
      for (let slot = 0; slot < 4; slot++) {
        const v = corner[4 * r + slot];
        if (v < 0) continue;
        const q = 12 * r + 3 * slot;
        const push = inverseMass[v] * change;
        if (push === 0) continue;
        y[3 * v] += push * jacobian[q];
        y[3 * v + 1] += push * jacobian[q + 1];
        y[3 * v + 2] += push * jacobian[q + 2];
      }
    }
  }

  #reserve(rows: number): void {
    if (this.value.length >= rows) return;
    const capacity = Math.max(256, Math.ceil(SPARE_ROWS * rows));
    const scratch = this.#scratch;
    this.corner = scratch.int32('contact corners', 4 * capacity);
    this.jacobian = scratch.float32('contact jacobians', 12 * capacity);
    this.value = scratch.float32('contact values', capacity);
    this.stiffness = scratch.float32('contact stiffness', capacity);
    this.pairOf = scratch.int32('contact pairs', capacity);
    this.#lambda = scratch.float32('contact lambda', capacity);
  }
}
