import { defineStage } from '../../threads/stage.js';
import type { Colouring } from '../colouring.js';

/** Rows of a colour that a thread sweeps at a time: some microseconds, many times what it takes to wait for a turn. */
const ROWS_A_TURN = 128;

/** Nanoseconds of a row that is swept, and of one that is put into its place. */
export const SWEEP_COST = 50;
export const ORDER_COST = 150;
export const ORDER_CHUNK = 1024;

/** How many chunks {@link planTurns} makes at most. */
export function mostTurns({ colours }: Colouring, count: number): number {
  return colours + Math.ceil(count / ROWS_A_TURN);
}

/**
 * Cuts a sweep into chunks. The rows of a colour share no vertex that can move, so they may be swept in any order, and at the
 * same time; a colour begins when the one before has ended. Colours too small to share follow each other in one chunk.
 *
 * @param starts uint32[chunks + 1] first row of each chunk
 * @param after uint32[chunks] the chunks before which of them must have ended, as a run takes it
 * @returns the number of chunks
 */
export function planTurns({ offsets, colours }: Colouring, starts: Uint32Array, after: Uint32Array): number {
  let chunks = 0;
  let isSmall = false;
  for (let c = 0; c < colours; c++) {
    const size = offsets[c + 1] - offsets[c];
    const parts = Math.max(1, Math.floor(size / ROWS_A_TURN));
    if (parts === 1 && isSmall) continue;
    isSmall = parts === 1;
    const first = chunks;
    for (let part = 0; part < parts; part++) {
      starts[chunks] = offsets[c] + Math.floor((part * size) / parts);
      after[chunks++] = first;
    }
  }
  starts[chunks] = offsets[colours];
  return chunks;
}

/** Rows in the order of the sweep, so that a sweep reads memory from end to end. */
export interface SweepArrays {
  /** float32[n] λ, and c */
  readonly lambda: Float32Array;
  readonly value: Float32Array;
  /**
   * int32[4·n] where the coordinates of the vertices begin, float32[12·n] their Jacobians and float32[4·n] their inverse masses. A
   * slot that is not used stands for another vertex of its row, with a Jacobian and a mass of 0: it adds nothing, and needs no test.
   */
  readonly corner: Int32Array;
  readonly jacobian: Float32Array;
  readonly weight: Float32Array;
  /** float32[n] as in {@link Contacts} */
  readonly stiffness: Float32Array;
}

interface OrderArrays extends SweepArrays {
  /** uint32[n] row of each place */
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
  /** of the multipliers of the last step */
  readonly share: number;
}

/** Copies rows to their places in the sweep. */
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

interface SweepRun extends SweepArrays {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** uint32[chunks + 1] of {@link planTurns}; places in `active` where that is read */
  readonly starts: Uint32Array;
  readonly after: Uint32Array;
  /** uint32[n] rows that act, ascending; a complete sweep fills it from the first row of each chunk on */
  readonly active: Uint32Array;
  /** int32[chunks] rows that act, by chunk: written by a complete sweep */
  readonly counts: Int32Array;
}

interface SweepNumbers {
  readonly isComplete: number;
  /** a row with a value below this takes part although it does not push */
  readonly near: number;
}

/** One projected Gauss-Seidel sweep over y (warm-contacts.ts); its items are chunks, in turns. */
export const SWEEP = defineStage(import.meta.url, 'sweep', sweepRows);

function sweepRows(arrays: SweepRun, numbers: SweepNumbers, from: number, to: number): void {
  const { x, y, lambda, value, corner, jacobian: j, weight, stiffness, starts, active, counts } = arrays;
  const { near } = numbers;
  const isComplete = numbers.isComplete === 1;
  for (let chunk = from; chunk < to; chunk++) {
    const end = starts[chunk + 1];
    let acting = starts[chunk];
    for (let a = starts[chunk]; a < end; a++) {
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
    if (isComplete) counts[chunk] = acting - starts[chunk];
  }
}

/** After a complete sweep: what acts, without gaps. @param starts of the complete sweep @param to uint32[chunks + 1] the chunks in the list @returns rows that act */
export function gatherActive(
  active: Uint32Array,
  counts: Int32Array,
  starts: Uint32Array,
  chunks: number,
  to: Uint32Array,
): number {
  let count = 0;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const first = starts[chunk];
    to[chunk] = count;
    if (first !== count) active.copyWithin(count, first, first + counts[chunk]);
    count += counts[chunk];
  }
  to[chunks] = count;
  return count;
}
