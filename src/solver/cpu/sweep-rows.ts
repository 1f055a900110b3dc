import { defineStage } from '../../threads/stage.js';
import type { Coloured } from './sweep-plan.js';

/** Nanoseconds per row that is copied to its position, and rows that a thread takes at a time. */
export const ORDER_COST = 150;
export const ORDER_CHUNK = 1024;

/** Rows in sweep order, so that a sweep reads memory sequentially. */
export interface SweepArrays {
  /** float32[n] λ, and c */
  readonly lambda: Float32Array;
  readonly value: Float32Array;
  /**
   * int32[4·n] offsets of the coordinates of the vertices, float32[12·n] their Jacobians and float32[4·n] their inverse
   * masses. An unused slot repeats another vertex of its row, with a Jacobian and a mass of 0: it adds nothing, and
   * needs no test.
   */
  readonly corner: Int32Array;
  readonly jacobian: Float32Array;
  readonly weight: Float32Array;
  /** float32[n] as in {@link Contacts} */
  readonly stiffness: Float32Array;
}

/** Contacts to be swept. */
export interface ContactRows extends Coloured {
  readonly arrays: SweepArrays & {
    /** float32[n] λ after the previous sweep */
    readonly lastLambda: Float32Array;
  };
}

export const NO_ROWS: ContactRows = {
  ...{ offsets: [0], colours: 0 },
  arrays: {
    lambda: new Float32Array(0),
    lastLambda: new Float32Array(0),
    value: new Float32Array(0),
    corner: new Int32Array(0),
    jacobian: new Float32Array(0),
    weight: new Float32Array(0),
    stiffness: new Float32Array(0),
  },
};

interface OrderArrays extends SweepArrays {
  /** uint32[n] row at each position */
  readonly order: Uint32Array;
  // The rows as they were assembled, and λ of all pairs:
  readonly rowCorner: Int32Array;
  readonly rowJacobian: Float32Array;
  readonly rowValue: Float32Array;
  readonly rowStiffness: Float32Array;
  readonly pairOf: Int32Array;
  readonly pairLambda: Float32Array;
  readonly inverseMass: Float32Array;
}

interface OrderNumbers {
  /** share of the multipliers of the last step */
  readonly share: number;
}

/** Copies rows to their positions in the sweep. */
export const ORDER = defineStage(import.meta.url, 'order rows', orderRows);

function orderRows(arrays: OrderArrays, { share }: OrderNumbers, from: number, to: number): void {
  const { order, rowCorner, rowJacobian, rowValue, rowStiffness, pairOf, pairLambda, inverseMass } = arrays;
  const { lambda, value, corner, jacobian, weight, stiffness } = arrays;
  for (let n = from; n < to; n++) {
    const r = order[n];
    value[n] = rowValue[r];
    lambda[n] = share * pairLambda[pairOf[r]];
    stiffness[n] = rowStiffness[r];
    let used = -1;
    for (let s = 3; s >= 0; s--) if (rowCorner[4 * r + s] >= 0) used = rowCorner[4 * r + s];
    for (let s = 0; s < 4; s++) {
      const v = rowCorner[4 * r + s];
      corner[4 * n + s] = 3 * (v >= 0 ? v : used);
      weight[4 * n + s] = v >= 0 ? inverseMass[v] : 0;
      const [to, from] = [12 * n + 3 * s, 12 * r + 3 * s];
      jacobian[to] = v >= 0 ? rowJacobian[from] : 0;
      jacobian[to + 1] = v >= 0 ? rowJacobian[from + 1] : 0;
      jacobian[to + 2] = v >= 0 ? rowJacobian[from + 2] : 0;
    }
  }
}

/** The data of a sweep over contacts besides its rows. */
interface ContactSweep extends SweepArrays {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** uint32[n] rows that act, ascending; a complete sweep fills it from the first row of each chunk on */
  readonly acting: Uint32Array;
}

interface ContactNumbers {
  readonly isComplete: number;
  /** a row with a value below this takes part even if it does not push */
  readonly near: number;
}

/**
 * Projects the rows of a range one after the other, or only those that act.
 *
 * @returns after a visit of every row, the number of rows that act: those that push, have pushed, or are near their
 *   offset
 */
export function sweepContacts(arrays: ContactSweep, numbers: ContactNumbers, first: number, end: number): number {
  const { x, y, lambda, value, corner, jacobian: j, weight, stiffness, acting } = arrays;
  const { near } = numbers;
  const isComplete = numbers.isComplete === 1;
  let found = first;
  for (let a = first; a < end; a++) {
    const r = isComplete ? a : acting[a];
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
      if (isComplete && s < near) acting[found++] = r;
      continue;
    }
    if (isComplete) acting[found++] = r;
    const next = Math.max(0, old - s / stiffness[r]);
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
  return found - first;
}
