import { arrivedWithin } from '../arrival.js';
import { Scratch } from './workspace.js';

/**
 * Turns a distance between float32 positions, computed in double, into an upper bound: its relative error is a few
 * 2⁻⁵³, and one part in 10⁶ covers that and the rounding to float32 when it is stored.
 */
export const ROUND_UP = 1 + 1e-6;

/** |b_i − a_i| of the vertex whose coordinates start at k. */
export function distanceAt(a: Float32Array, b: Float32Array, k: number): number {
  const dx = b[k] - a[k];
  const dy = b[k + 1] - a[k + 1];
  const dz = b[k + 2] - a[k + 2];
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}

/** Whether the vertex whose coordinates start at k has the same numbers in both states. */
export function isSameAt(a: Float32Array, b: Float32Array, k: number): boolean {
  return a[k] === b[k] && a[k + 1] === b[k + 1] && a[k + 2] === b[k + 2];
}

/** Whether all vertices have the same numbers in both states. */
export function haveSameNumbers(a: Float32Array, b: Float32Array): boolean {
  return a.every((number, k) => number === b[k]);
}

/** Sets moving[i] to 1 if y_i ≠ x_i, otherwise to 0; returns the number of moving vertices. */
export function markMoving(x: Float32Array, y: Float32Array, moving: Uint8Array): number {
  let count = 0;
  for (let i = 0, k = 0; i < moving.length; i++, k += 3) {
    const moves = isSameAt(x, y, k) ? 0 : 1;
    moving[i] = moves;
    count += moves;
  }
  return count;
}

/**
 * y_i ← x_i for every vertex that a push has moved out of the range of float32. y is guidance only, so the vertex stays
 * at rest in this step.
 */
export function stayWhereOverflown(x: Float32Array, y: Float32Array): void {
  for (let k = 0; k < y.length; k++) {
    if (Number.isFinite(y[k])) continue;
    const i = k - (k % 3);
    for (let c = i; c < i + 3; c++) y[c] = x[c];
  }
}

/**
 * Sets y_i back to y*_i where the backward step left the range of float32: targets may lie 1e12 extents away. y is
 * guidance only, so this costs quality, not safety, and keeps NaN out of every stage.
 */
export function restoreOverflow(y: Float32Array, target: Float32Array): void {
  for (let k = 0; k < y.length; k++) {
    if (!Number.isFinite(y[k])) {
      const i = k - (k % 3);
      for (let c = i; c < i + 3; c++) y[c] = target[c];
    }
  }
}

/**
 * y_i ← x_i for every dynamic vertex whose motion is shorter than `rest`, unless it ends at its target y*_i: nothing
 * pushes such a vertex, and a step of any length completes its motion.
 */
export function restShortMotions(
  x: Float32Array,
  y: Float32Array,
  target: Float32Array,
  inverseMasses: Float32Array,
  rest: number,
): void {
  for (let i = 0, k = 0; i < inverseMasses.length; i++, k += 3) {
    if (inverseMasses[i] === 0) continue;
    const dx = y[k] - x[k];
    const dy = y[k + 1] - x[k + 1];
    const dz = y[k + 2] - x[k + 2];
    if (dx * dx + dy * dy + dz * dz >= rest * rest || isSameAt(y, target, k)) continue;
    y[k] = x[k];
    y[k + 1] = x[k + 1];
    y[k + 2] = x[k + 2];
  }
}

/** r of Algorithm 1: the share of its motion that each vertex has not yet been granted. */
export class Residuals {
  /** float32[V] */
  readonly r: Float32Array;
  /** ‖r‖∞ */
  largest = 0;
  /** vertices with r ≥ ε */
  unfinished = 0;
  #arrivedWithin = 0;

  constructor(vertexCount: number, scratch = new Scratch()) {
    this.r = scratch.float32('residuals', vertexCount).fill(0);
  }

  /** r ← 1, but 0 if the target is the start, bit for bit (docs/method.md, S12). */
  begin(start: Float32Array, target: Float32Array, floor: number): void {
    const { r } = this;
    let unfinished = 0;
    for (let i = 0, k = 0; i < r.length; i++, k += 3) {
      r[i] = isSameAt(start, target, k) ? 0 : 1;
      unfinished += r[i];
    }
    this.unfinished = unfinished;
    this.largest = unfinished > 0 ? 1 : 0;
    this.#arrivedWithin = arrivedWithin(start, floor);
  }

  /** Whether every kinematic vertex has used up its motion. */
  haveArrived(kinematic: Uint8Array, epsilon: number): boolean {
    for (let i = 0; i < kinematic.length; i++) if (kinematic[i] !== 0 && this.r[i] >= epsilon) return false;
    return true;
  }

  /**
   * Sets r after the pull-back, whose steps rebuild their targets, so that r is not a product of shares: 1 for an
   * unsettled dynamic vertex, 0 for the others. Kinematic vertices keep theirs.
   */
  settle(unsettled: Uint8Array, kinematic: Uint8Array, epsilon: number): void {
    const { r } = this;
    this.largest = 0;
    this.unfinished = 0;
    for (let i = 0; i < r.length; i++) {
      if (kinematic[i] === 0) r[i] = unsettled[i];
      this.largest = Math.max(this.largest, r[i]);
      if (r[i] >= epsilon) this.unfinished++;
    }
  }

  /** r_i ← r_i (1 − α_i) (Eq. 17), 0 if y_i is reached up to rounding. */
  update(x: Float32Array, y: Float32Array, alpha: Float32Array, epsilon: number): void {
    const residual = this.r;
    const within = this.#arrivedWithin;
    let largest = 0;
    let unfinished = 0;
    for (let i = 0, k = 0; i < residual.length; i++, k += 3) {
      if (residual[i] === 0) continue;
      const hasArrived =
        Math.abs(y[k] - x[k]) <= within &&
        Math.abs(y[k + 1] - x[k + 1]) <= within &&
        Math.abs(y[k + 2] - x[k + 2]) <= within;
      const r = hasArrived ? 0 : residual[i] * (1 - alpha[i]);
      residual[i] = r;
      if (r > largest) largest = r;
      if (r >= epsilon) unfinished++;
    }
    this.largest = largest;
    this.unfinished = unfinished;
  }
}

/** Whether at most this share of the vertices is marked. @param marks uint8[V] 0 or 1 */
export function isFew(marks: Uint8Array, share: number): boolean {
  let count = 0;
  for (const mark of marks) count += mark;
  return count <= share * marks.length;
}
