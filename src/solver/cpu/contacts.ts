import type { ContactForm } from '../../contract/parameters.js';
import { type Colouring, colourContacts } from '../colouring.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import { CONTACT_TERMS } from './contact-forms.js';
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

  readonly #inverseMass: Float32Array;
  readonly #addTerm: (typeof CONTACT_TERMS)[ContactForm];
  readonly #tally: Int32Array;
  readonly #scratch: Scratch;

  constructor(inverseMass: Float32Array, form: ContactForm, scratch = new Scratch()) {
    this.#inverseMass = inverseMass;
    this.#tally = scratch.int32('contact tally', inverseMass.length).fill(0);
    this.#scratch = scratch;
    this.#addTerm = CONTACT_TERMS[form];
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
    const kept = selectContacts(pairs, list, listLength, this.#inverseMass, this.#tally, this.#scratch, pulse);
    this.#reserve(kept.length);
    for (let n = 0; n < kept.length; n++) this.#addRow(pairs, kept[n], x);
    this.colouring = colourContacts(this.count, this.corner, this.#inverseMass, seed);
    this.#lambda.fill(0, 0, this.count);
  }

  #addRow(pairs: PairSet, p: number, x: Float32Array): void {
    const row = this.count;
    const { corner, jacobian } = this;
    const kind = pairs.kind[p];
    const corners = CORNERS[kind];
    const sideA = SIDE_A[kind];
    for (let s = 0; s < 4; s++) {
      corner[4 * row + s] = -1;
      const w = s < corners ? pairs.weight[4 * p + s] : 0;
      const signed = s < sideA ? w : -w;
      if (w > 0) corner[4 * row + s] = pairs.vertex[4 * p + s];
      for (let c = 0; c < 3; c++) jacobian[12 * row + 3 * s + c] = signed * pairs.normal[3 * p + c];
    }
    this.#addTerm?.(pairs, p, x, jacobian, 12 * row);
    let stiffness = 0;
    for (let s = 0; s < 4; s++) {
      const v = corner[4 * row + s];
      if (v < 0) continue;
      const q = 12 * row + 3 * s;
      stiffness += this.#inverseMass[v] * (jacobian[q] ** 2 + jacobian[q + 1] ** 2 + jacobian[q + 2] ** 2);
    }
    if (!(stiffness > 0)) return;
    this.stiffness[row] = stiffness;
    this.pairOf[row] = p;
    this.value[row] = pairs.distance[p] - pairs.delta[p];
    this.count++;
  }

  /** One projected Gauss-Seidel sweep over y, colour by colour: Δλ = max(0, λ − s/K) − λ, y_k += w_k J_k Δλ (Eq. 9). */
  sweep(x: Float32Array, y: Float32Array): void {
    const { corner, jacobian, value } = this;
    const inverseMass = this.#inverseMass;
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
