import { team } from '../../threads/here.js';
import type { Contacts } from './contacts.js';
import type { PairSet } from './pair-set.js';
import { type ContactRows, NO_ROWS, ORDER, ORDER_CHUNK, ORDER_COST } from './sweep-rows.js';
import type { Scratch } from './workspace.js';

/**
 * The contact rows of one step (contacts.ts) for the sweeps of the pull-back: c + J·(y − x) ≥ 0 with c = d − aim
 * (contact-aims.ts). They begin with the multipliers of the previous step, which are stored with the pairs; a new pair
 * of a search begins with 0.
 */
export class WarmContacts {
  readonly #contacts: Contacts;
  readonly #scratch: Scratch;
  /** in sweep order */
  rows: ContactRows = NO_ROWS;

  constructor(contacts: Contacts, scratch: Scratch) {
    this.#contacts = contacts;
    this.#scratch = scratch;
  }

  /** Sets λ = 0, for sweeps without multipliers of an earlier step. */
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
    const lastLambda = scratch.float32('warm lambda before', count);
    lastLambda.set(rows.lambda);
    const { offsets, colours } = colouring;
    this.rows = { arrays: { ...rows, lastLambda }, offsets, colours };
  }

  /** Stores λ with the pairs for the next step. */
  end(pairs: PairSet): void {
    this.reset(pairs);
    const { count, pairOf, colouring } = this.#contacts;
    const { lambda } = this.rows.arrays;
    for (let n = 0; n < count; n++) pairs.lambda[pairOf[colouring.order[n]]] = Math.max(0, lambda[n]);
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
