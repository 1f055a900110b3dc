import type { StateOrigin } from '../../src/contract/path.js';
import type { StepInput } from '../../src/solver/engine.js';
import { UnshownStates } from '../../src/solver/unshown-states.js';
import { PHASE, type Phase } from '../kernels/constants.js';

/**
 * Selects the states of a run that are part of its answer's path. Algorithm 1 ends with its last state; the pull-back
 * ends with its best one, so its states wait until a state is the best, and those after the best are dropped.
 */
export class ShownStates {
  readonly #show: NonNullable<StepInput['onState']>;
  readonly #waiting = new UnshownStates();

  constructor(show: NonNullable<StepInput['onState']>) {
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
    const from: StateOrigin = { phase: phase === PHASE.SHORTEN ? 'SHORTENING' : 'PULL_BACK', step };
    if (!isBest) {
      this.#waiting.add(x, from);
      return;
    }
    this.#waiting.show(this.#show);
    this.#show(x, from);
  }

  /** x is the best state again, or the run has ended. */
  dropWaiting(): void {
    this.#waiting.drop();
  }
}
