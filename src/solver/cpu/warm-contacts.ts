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
  /**
   * int32[4·n] where the coordinates of the vertices begin, float32[12·n] their Jacobians and float32[4·n] their inverse masses. A
   * slot that is not used stands for another vertex of its row, with a Jacobian and a mass of 0: it adds nothing, and needs no test.
   */
  #corner: Int32Array = new Int32Array(0);
  #jacobian: Float32Array = new Float32Array(0);
  #weight: Float32Array = new Float32Array(0);
  /** float32[n] as in {@link Contacts} */
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
    this.#weight = scratch.float32('warm inverse masses', 4 * count);
    this.#stiffness = scratch.float32('warm stiffness', count);
    this.#active = scratch.uint32('contacts that act', count);
    for (let r = 0; r < count; r++) {
      const lambda = share * pairs.lambda[pairOf[r]];
      if (lambda !== 0) move(y, corner, jacobian, r, lambda, this.#inverseMass);
    }
    const [toCorner, toJacobian, toWeight, inverseMass] = [
      this.#corner,
      this.#jacobian,
      this.#weight,
      this.#inverseMass,
    ];
    const { order } = colouring;
    for (let n = 0; n < count; n++) {
      const r = order[n];
      this.#value[n] = value[r];
      this.#lambda[n] = share * pairs.lambda[pairOf[r]];
      this.#stiffness[n] = stiffness[r];
      let used = -1;
      for (let s = 3; s >= 0; s--) if (corner[4 * r + s] >= 0) used = corner[4 * r + s];
      for (let s = 0; s < 4; s++) {
        const v = corner[4 * r + s];
        toCorner[4 * n + s] = 3 * (v >= 0 ? v : used);
        toWeight[4 * n + s] = v >= 0 ? inverseMass[v] : 0;
        const [to, from] = [12 * n + 3 * s, 12 * r + 3 * s];
        toJacobian[to] = v >= 0 ? jacobian[from] : 0;
        toJacobian[to + 1] = v >= 0 ? jacobian[from + 1] : 0;
        toJacobian[to + 2] = v >= 0 ? jacobian[from + 2] : 0;
      }
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
   * One projected Gauss-Seidel sweep over y, colour by colour (Eq. 9). A row acts if it pushes, has pushed, or is near its offset.
   *
   * @param isComplete look at every row, and settle which ones act until the next complete sweep
   */
  sweep(x: Float32Array, y: Float32Array, isComplete: boolean, delta: number): void {
    const lambda = this.#lambda;
    const value = this.#value;
    const corner = this.#corner;
    const j = this.#jacobian;
    const weight = this.#weight;
    const active = this.#active;
    const near = NEAR_CONTACT * delta;
    const rows = isComplete ? this.#contacts.count : this.#activeCount;
    let acting = 0;
    for (let a = 0; a < rows; a++) {
      const r = isComplete ? a : active[a];
      const c = 4 * r;
      const q = 12 * r;
      const k0 = corner[c];
      const k1 = corner[c + 1];
      const k2 = corner[c + 2];
      const k3 = corner[c + 3];
      let s = value[r];
      s += j[q] * (y[k0] - x[k0]) + j[q + 1] * (y[k0 + 1] - x[k0 + 1]) + j[q + 2] * (y[k0 + 2] - x[k0 + 2]);
      s += j[q + 3] * (y[k1] - x[k1]) + j[q + 4] * (y[k1 + 1] - x[k1 + 1]) + j[q + 5] * (y[k1 + 2] - x[k1 + 2]);
      s += j[q + 6] * (y[k2] - x[k2]) + j[q + 7] * (y[k2 + 1] - x[k2 + 1]) + j[q + 8] * (y[k2 + 2] - x[k2 + 2]);
      s += j[q + 9] * (y[k3] - x[k3]) + j[q + 10] * (y[k3 + 1] - x[k3 + 1]) + j[q + 11] * (y[k3 + 2] - x[k3 + 2]);
      const old = lambda[r];
      if (s >= 0 && old === 0) {
        if (isComplete && s < near) active[acting++] = r;
        continue;
      }
      if (isComplete) active[acting++] = r;
      const next = Math.max(0, old - s / this.#stiffness[r]);
      if (next === old) continue;
      lambda[r] = next;
      const by = next - old;
      for (let slot = 0; slot < 4; slot++) {
        const push = weight[c + slot] * by;
        if (push === 0) continue;
        const k = corner[c + slot];
        const at = q + 3 * slot;
        y[k] += push * j[at];
        y[k + 1] += push * j[at + 1];
        y[k + 2] += push * j[at + 2];
      }
    }
    if (isComplete) this.#activeCount = acting;
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
      for (let s = 4 * this.#active[a], end = s + 4; s < end; s++) visit(corner[s] / 3);
    }
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
