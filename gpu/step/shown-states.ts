import { PHASE, type Phase } from '../kernels/constants.js';

/**
 * Which states of a run are part of its answer's path. Algorithm 1 ends with its last state; the pull-back with its best one,
 * so its states wait until a state is the best, and those after the best are dropped.
 */
export class ShownStates {
  readonly #show: (x: Float32Array) => void;
  #waiting: Float32Array[] = [];

  constructor(show: (x: Float32Array) => void) {
    this.#show = show;
  }

  /**
   * A step has reached this state.
   *
   * @param phase of the step
   * @param isBest the state is the best so far
   */
  add(x: Float32Array, phase: Phase, isBest: boolean): void {
    if (phase === PHASE.ADVANCE) {
      this.#show(x);
      return;
    }
    this.#waiting.push(x);
    if (!isBest) return;
    for (const state of this.#waiting) this.#show(state);
    this.#waiting = [];
  }

  /** x is the best state again. */
  dropWaiting(): void {
    this.#waiting = [];
  }
}
