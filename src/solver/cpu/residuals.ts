import { ARRIVAL_ROUNDING, UNIT_ROUNDOFF } from '../constants.js';
import { Scratch } from './scratch.js';

/** r of Algorithm 1: the share of its way that each vertex has not been granted yet. */
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

  /** r ← 1, but 0 where the target is the start, bit for bit. */
  begin(start: Float32Array, target: Float32Array): void {
    const { r } = this;
    let wanting = 0;
    for (let i = 0, k = 0; i < r.length; i++, k += 3) {
      r[i] = isThere(start, target, k) ? 0 : 1;
      wanting += r[i];
    }
    this.unfinished = wanting;
    this.largest = wanting > 0 ? 1 : 0;
    this.#arrivedWithin = ARRIVAL_ROUNDING * UNIT_ROUNDOFF * largestCoordinate(start);
  }

  /** r_i ← r_i (1 − α_i) (Eq. 17), 0 where y_i is reached to rounding. */
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

function isThere(x: Float32Array, y: Float32Array, k: number): boolean {
  return x[k] === y[k] && x[k + 1] === y[k + 1] && x[k + 2] === y[k + 2];
}

function largestCoordinate(x: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < x.length; i++) {
    const magnitude = Math.abs(x[i]);
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
}
