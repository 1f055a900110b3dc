import type { OffsetShare } from '../part-offsets.js';
import type { Contacts } from './contacts.js';
import type { PairSet } from './pair-set.js';
import type { Scratch } from './workspace.js';

/** A contact closer to its offset than this many δ takes part in every sweep; the others are looked at now and then. */
const NEAR_CONTACT = 0.1;

/**
 * The contact rows of one step (contacts.ts) for the sweeps of the pull-back: they aim at the contact offset instead of δ_p,
 *
 *   c + J·(y − x) ≥ 0  with  c = d − o·δ_p,
 *
 * and begin with the multipliers of the step before, which stay with the pairs; a pair that a search finds begins with 0.
 */
export class WarmContacts {
  readonly #contacts: Contacts;
  readonly #inverseMass: Float32Array;
  readonly #scratch: Scratch;
  /** float32[n] λ of the rows, λ after the sweep before, and c */
  #lambda: Float32Array = new Float32Array(0);
  #last: Float32Array = new Float32Array(0);
  #value: Float32Array = new Float32Array(0);
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
   * @param offsetShare o of a pair, the share of δ_p that is aimed at
   * @param share of the multipliers of the last step
   */
  begin(pairs: PairSet, y: Float32Array, offsetShare: OffsetShare, share: number): void {
    const { count, pairOf, value, corner, jacobian } = this.#contacts;
    this.#lambda = this.#scratch.float32('warm lambda', count);
    this.#last = this.#scratch.float32('warm lambda before', count);
    this.#value = this.#scratch.float32('warm values', count);
    this.#active = this.#scratch.uint32('contacts that act', count);
    for (let r = 0; r < count; r++) {
      const p = pairOf[r];
      this.#value[r] = value[r] + (1 - offsetShare(pairs, p)) * pairs.delta[p];
      const lambda = share * pairs.lambda[p];
      this.#lambda[r] = lambda;
      if (lambda !== 0) move(y, corner, jacobian, r, lambda, this.#inverseMass);
    }
    this.#last.set(this.#lambda);
  }

  /** Keeps λ with the pairs for the next step. */
  end(pairs: PairSet): void {
    this.reset(pairs);
    const { count, pairOf } = this.#contacts;
    for (let r = 0; r < count; r++) pairs.lambda[pairOf[r]] = Math.max(0, this.#lambda[r]);
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
    const { order, offsets, colours } = this.#contacts.colouring;
    this.#activeCount = 0;
    for (let n = offsets[0]; n < offsets[colours]; n++) {
      if (this.#project(x, y, order[n], delta)) this.#active[this.#activeCount++] = order[n];
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
    const { corner } = this.#contacts;
    for (let a = 0; a < this.#activeCount; a++) {
      for (let s = 4 * this.#active[a], end = s + 4; s < end; s++) if (corner[s] >= 0) visit(corner[s]);
    }
  }

  /** @returns whether the row acts: it pushes, has pushed, or is near its offset */
  #project(x: Float32Array, y: Float32Array, r: number, delta: number): boolean {
    const { corner, jacobian, stiffness } = this.#contacts;
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
    const next = Math.max(0, old - s / stiffness[r]);
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
