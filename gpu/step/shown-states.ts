import { PHASE } from '../kernels/constants.js';
import type { ControlBlock } from './answer.js';

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
   * @param before the control block when the step began, and after it
   */
  add(x: Float32Array, before: ControlBlock, after: ControlBlock): void {
    if (before.phase === PHASE.ADVANCE) {
      this.#show(x);
      return;
    }
    this.#waiting.push(x);
    if (after.bests === before.bests) return;
    for (const state of this.#waiting) this.#show(state);
    this.#waiting = [];
  }

  /** x is the best state again. */
  dropWaiting(): void {
    this.#waiting = [];
  }
}
