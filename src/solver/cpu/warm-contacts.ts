import { team } from '../../threads/here.js';
import type { Contacts } from './contacts.js';
import type { PairSet } from './pair-set.js';
import {
  gatherActive,
  mostTurns,
  ORDER,
  ORDER_CHUNK,
  ORDER_COST,
  planTurns,
  SWEEP,
  SWEEP_COST,
  type SweepArrays,
} from './sweep-rows.js';
import type { Scratch } from './workspace.js';

/** A contact closer to its offset than this many δ takes part in every sweep; the others are looked at now and then. */
const NEAR_CONTACT = 0.1;

const NO_ROWS: SweepArrays = {
  lambda: new Float32Array(0),
  value: new Float32Array(0),
  corner: new Int32Array(0),
  jacobian: new Float32Array(0),
  weight: new Float32Array(0),
  stiffness: new Float32Array(0),
};

/**
 * The contact rows of one step (contacts.ts) for the sweeps of the pull-back: c + J·(y − x) ≥ 0 with c = d − aim
 * (contact-aims.ts). They begin with the multipliers of the step before, which stay with the pairs; a pair that a search finds begins with 0.
 */
export class WarmContacts {
  readonly #contacts: Contacts;
  readonly #scratch: Scratch;
  #rows: SweepArrays = NO_ROWS;
  /** float32[n] λ after the sweep before */
  #last: Float32Array = new Float32Array(0);
  /** chunks of a sweep, and where each begins: in all rows, and in those that act */
  #chunks = 0;
  #after: Uint32Array = new Uint32Array(0);
  #starts: Uint32Array = new Uint32Array(0);
  #activeStarts: Uint32Array = new Uint32Array(0);
  #counts: Int32Array = new Int32Array(0);
  /** uint32[n] rows that act, ascending */
  #active: Uint32Array = new Uint32Array(0);
  #activeCount = 0;

  constructor(contacts: Contacts, scratch: Scratch) {
    this.#contacts = contacts;
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
    const { count, pairOf, value, corner, jacobian, stiffness, colouring, inverseMass } = this.#contacts;
    const scratch = this.#scratch;
    for (let r = 0; r < count; r++) {
      const lambda = share * pairs.lambda[pairOf[r]];
      if (lambda !== 0) move(y, corner, jacobian, r, lambda, inverseMass);
    }
    const rows = {
      lambda: scratch.float32('warm lambda', count),
      value: scratch.float32('warm values', count),
      corner: scratch.int32('warm corners', 4 * count),
      jacobian: scratch.float32('warm jacobians', 12 * count),
      weight: scratch.float32('warm inverse masses', 4 * count),
      stiffness: scratch.float32('warm stiffness', count),
    };
    const order = scratch.uint32('order of the sweep', count);
    order.set(colouring.order);
    team.run({
      stage: ORDER,
      arrays: {
        ...rows,
        ...{ order, rowCorner: corner, rowJacobian: jacobian, rowValue: value, rowStiffness: stiffness },
        ...{ pairOf, pairLambda: pairs.lambda, inverseMass },
      },
      numbers: { share },
      ...{ count, chunk: ORDER_CHUNK, cost: ORDER_COST },
    });
    this.#rows = rows;
    this.#last = scratch.float32('warm lambda before', count);
    this.#last.set(rows.lambda);
    const most = mostTurns(colouring, count);
    this.#after = scratch.uint32('turns of the sweep', most);
    this.#starts = scratch.uint32('chunks of the sweep', most + 1);
    this.#activeStarts = scratch.uint32('chunks of what acts', most + 1);
    this.#counts = scratch.int32('what acts by chunk', most);
    this.#active = scratch.uint32('contacts that act', count);
    this.#chunks = planTurns(colouring, this.#starts, this.#after);
  }

  /** Keeps λ with the pairs for the next step. */
  end(pairs: PairSet): void {
    this.reset(pairs);
    const { count, pairOf, colouring } = this.#contacts;
    for (let n = 0; n < count; n++) pairs.lambda[pairOf[colouring.order[n]]] = Math.max(0, this.#rows.lambda[n]);
  }

  /**
   * One projected Gauss-Seidel sweep over y, colour by colour (Eq. 9). A row acts if it pushes, has pushed, or is near its offset.
   *
   * @param isComplete look at every row, and settle which ones act until the next complete sweep
   */
  sweep(x: Float32Array, y: Float32Array, isComplete: boolean, delta: number): void {
    const [chunks, after, active, counts] = [this.#chunks, this.#after, this.#active, this.#counts];
    if (chunks === 0) {
      this.#activeCount = 0;
      return;
    }
    const starts = isComplete ? this.#starts : this.#activeStarts;
    const rows = isComplete ? this.#contacts.count : this.#activeCount;
    team.run({
      stage: SWEEP,
      arrays: { ...this.#rows, x, y, starts, after, active, counts },
      numbers: { isComplete: isComplete ? 1 : 0, near: NEAR_CONTACT * delta },
      ...{ count: chunks, chunk: 1, cost: (SWEEP_COST * rows) / chunks, after },
    });
    if (isComplete) this.#activeCount = gatherActive(active, counts, this.#starts, chunks, this.#activeStarts);
  }

  /** λ ← λ + β (λ − λ_last), for the rows that act; a negative λ is projected by the next sweep. */
  extrapolate(beta: number): void {
    const { lambda } = this.#rows;
    const last = this.#last;
    const active = this.#active;
    const count = this.#activeCount;
    for (let a = 0; a < count; a++) {
      const r = active[a];
      const now = lambda[r];
      lambda[r] = now + beta * (now - last[r]);
      last[r] = now;
    }
  }

  /** The vertices of the rows that act. */
  forEachActiveVertex(visit: (v: number) => void): void {
    const { corner } = this.#rows;
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
