import { MORE_SWEEPS } from '../../src/solver/constants.js';

/**
 * How many rounds of sweeps are recorded for a step of the pull-back. The device skips those that no limit requires,
 * which costs their dispatches; a step that requires more pauses, which costs a reading of the status and a submission.
 *
 * A step is recorded with as many rounds as both of the last two steps of the phase have made, and after a pause with as
 * many again as it has made so far.
 */
export class RoundsAhead {
  /** of the last two steps of the phase */
  #made: readonly number[] = [];

  /** Begins a phase. */
  enter(): void {
    this.#made = [];
  }

  /** Notes the rounds that a step has made. */
  observe(rounds: number): void {
    this.#made = [...this.#made, rounds].slice(-2);
  }

  /** @param done rounds that the step has made, after which it has paused; 0 = it begins */
  next(done: number): number {
    if (done > 0) return Math.max(1, Math.min(done, MORE_SWEEPS.rounds - done));
    return this.#made.length < 2 ? 1 : Math.min(...this.#made);
  }
}
