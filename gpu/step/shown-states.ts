import type { StateOrigin } from '../../src/contract/path.js';
import { PHASE, type Phase } from '../kernels/constants.js';

/**
 * Selects the states of a run that are part of its answer's path. Algorithm 1 ends with its last state; the pull-back
 * ends with its best one, so its states wait until a state is the best, and those after the best are dropped.
 */
export class ShownStates {
  readonly #show: (x: Float32Array, from: StateOrigin) => void;
  #waiting: { readonly x: Float32Array; readonly from: StateOrigin }[] = [];

  constructor(show: (x: Float32Array, from: StateOrigin) => void) {
    this.#show = show;
  }

  /**
   * Notes that a step has reached this state.
   *
   * @param phase of the step
   * @param step its number
   * @param isBest whether the state is the best so far
   * @param isArrival whether the step is the last one of kinematic vertices
   */
  add(x: Float32Array, phase: Phase, step: number, isBest: boolean, isArrival = false): void {
    if (phase === PHASE.ADVANCE) {
      this.#show(x, { phase: isArrival ? 'ARRIVAL' : 'FORWARD', step });
      return;
    }
    this.#waiting.push({ x, from: { phase: phase === PHASE.SHORTEN ? 'SHORTENING' : 'PULL_BACK', step } });
    if (!isBest) return;
    for (const state of this.#waiting) this.#show(state.x, state.from);
    this.#waiting = [];
  }

  /** x is the best state again. */
  dropWaiting(): void {
    this.#waiting = [];
  }
}
