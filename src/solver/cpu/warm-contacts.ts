import type { Contacts } from './contacts.js';
import type { PairSet } from './pair-set.js';
import type { Scratch } from './workspace.js';

/** A contact closer to its offset than this many δ takes part in every sweep; the others are looked at now and then. */
const NEAR_CONTACT = 0.1;

/**
 * The contact rows of one step (contacts.ts) for the sweeps of the pull-back: c + J·(y − x) ≥ 0 with c = d − aim
 * (contact-aims.ts). They begin with the multipliers of the step before, which stay with the pairs; a pair that a search finds begins with 0.
 */
export class WarmContacts {
  readonly #contacts: Contacts;
  readonly #inverseMass: Float32Array;
  readonly #scratch: Scratch;
  // Rows in the order of the sweep, so that a sweep reads memory from end to end:
  /** float32[n] λ, λ after the sweep before, and c */
  #lambda: Float32Array = new Float32Array(0);
  #last: Float32Array = new Float32Array(0);
  #value: Float32Array = new Float32Array(0);
  /** int32[4·n], float32[12·n] and float32[n] as in {@link Contacts} */
  #corner: Int32Array = new Int32Array(0);
  #jacobian: Float32Array = new Float32Array(0);
  #stiffness: Float32Array = new Float32Array(0);
  /** uint32[n] rows that act, ascending */
  #active: Uint32Array = new Uint32Array(0);
  #activeCount = 0;

  constructor(contacts: Contacts, inverseMass: Float32Array, scratch: Scratch) {
    this.#contacts = contacts;
    this.#inverseMass = inverseMass;
    this.#scratch = scratch;
  }

  /** The sweeps begin anew: λ = 0. */
  reset({ lambda, count }: PairSet): void {
    lambda.fill(0, 0, count);
  }

  /**
   * Begins the sweeps of a step over the rows that `contacts` has just assembled, and moves y by their multipliers.
   *
   * @param share of the multipliers of the last step
   */
  begin(pairs: PairSet, y: Float32Array, share: number): void {
    const { count, pairOf, value, corner, jacobian, stiffness, colouring } = this.#contacts;
    const scratch = this.#scratch;
    this.#lambda = scratch.float32('warm lambda', count);
    this.#last = scratch.float32('warm lambda before', count);
    this.#value = scratch.float32('warm values', count);
    this.#corner = scratch.int32('warm corners', 4 * count);
    this.#jacobian = scratch.float32('warm jacobians', 12 * count);
    this.#stiffness = scratch.float32('warm stiffness', count);
    this.#active = scratch.uint32('contacts that act', count);
    for (let r = 0; r < count; r++) {
      const lambda = share * pairs.lambda[pairOf[r]];
      if (lambda !== 0) move(y, corner, jacobian, r, lambda, this.#inverseMass);
    }
    for (let n = 0; n < count; n++) {
      const r = colouring.order[n];
      const p = pairOf[r];
      this.#value[n] = value[r];
      this.#lambda[n] = share * pairs.lambda[p];
      this.#stiffness[n] = stiffness[r];
      for (let s = 0; s < 4; s++) this.#corner[4 * n + s] = corner[4 * r + s];
      for (let s = 0; s < 12; s++) this.#jacobian[12 * n + s] = jacobian[12 * r + s];
    }
    this.#last.set(this.#lambda);
  }

  /** Keeps λ with the pairs for the next step. */
  end(pairs: PairSet): void {
    this.reset(pairs);
    const { count, pairOf, colouring } = this.#contacts;
    for (let n = 0; n < count; n++) pairs.lambda[pairOf[colouring.order[n]]] = Math.max(0, this.#lambda[n]);
  }

  /**
   * One projected Gauss-Seidel sweep over y, colour by colour (Eq. 9).
   *
   * @param isComplete look at every row, and settle which ones act until the next complete sweep
   */
  sweep(x: Float32Array, y: Float32Array, isComplete: boolean, delta: number): void {
    if (!isComplete) {
      for (let a = 0; a < this.#activeCount; a++) this.#project(x, y, this.#active[a], delta);
      return;
    }
    this.#activeCount = 0;
    for (let r = 0; r < this.#contacts.count; r++) {
      if (this.#project(x, y, r, delta)) this.#active[this.#activeCount++] = r;
    }
  }

  /** λ ← λ + β (λ − λ_last), for the rows that act; a negative λ is projected by the next sweep. */
  extrapolate(beta: number): void {
    const lambda = this.#lambda;
    const last = this.#last;
    for (let a = 0; a < this.#activeCount; a++) {
      const r = this.#active[a];
      const now = lambda[r];
      lambda[r] = now + beta * (now - last[r]);
      last[r] = now;
    }
  }

  /** The vertices of the rows that act. */
  forEachActiveVertex(visit: (v: number) => void): void {
    const corner = this.#corner;
    for (let a = 0; a < this.#activeCount; a++) {
      for (let s = 4 * this.#active[a], end = s + 4; s < end; s++) if (corner[s] >= 0) visit(corner[s]);
    }
  }

  /** @returns whether the row acts: it pushes, has pushed, or is near its offset */
  #project(x: Float32Array, y: Float32Array, r: number, delta: number): boolean {
    const corner = this.#corner;
    const jacobian = this.#jacobian;
    let s = this.#value[r];
    for (let slot = 0; slot < 4; slot++) {
      const v = corner[4 * r + slot];
      if (v < 0) continue;
      const q = 12 * r + 3 * slot;
      s +=
        jacobian[q] * (y[3 * v] - x[3 * v]) +
        jacobian[q + 1] * (y[3 * v + 1] - x[3 * v + 1]) +
        jacobian[q + 2] * (y[3 * v + 2] - x[3 * v + 2]);
    }
    const old = this.#lambda[r];
    if (s >= 0 && old === 0) return s < NEAR_CONTACT * delta;
    const next = Math.max(0, old - s / this.#stiffness[r]);
    this.#lambda[r] = next;
    if (next !== old) move(y, corner, jacobian, r, next - old, this.#inverseMass);
    return true;
  }
}

/** y_k ← y_k + w_k J_k Δλ */
function move(
  y: Float32Array,
  corner: Int32Array,
  jacobian: Float32Array,
  r: number,
  by: number,
  w: Float32Array,
): void {
  for (let slot = 0; slot < 4; slot++) {
    const v = corner[4 * r + slot];
    if (v < 0) continue;
    const push = w[v] * by;
    if (push === 0) continue;
    const q = 12 * r + 3 * slot;
    y[3 * v] += push * jacobian[q];
    y[3 * v + 1] += push * jacobian[q + 1];
    y[3 * v + 2] += push * jacobian[q + 2];
  }
}
