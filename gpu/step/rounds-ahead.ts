import { MORE_SWEEPS } from '../../src/solver/constants.js';
import type { Phase } from '../kernels/constants.js';

/**
 * How many rounds of sweeps are recorded for a step of the pull-back. The device skips those that no limit requires,
 * which costs their dispatches; a step that requires more pauses, which costs a reading of the status and a submission.
 *
 * A step is recorded with as many rounds as both of the last two steps of its phase have made, in this request or the
 * one before, and after a pause with as many again as it has made so far.
 */
export class RoundsAhead {
  /** by phase: of its last two steps */
  readonly #made = new Map<Phase, readonly number[]>();

  /** Notes the rounds that a step has made. */
  observe(phase: Phase, rounds: number): void {
    this.#made.set(phase, [...(this.#made.get(phase) ?? []), rounds].slice(-2));
  }

  /** @param done rounds that the step has made, after which it has paused; 0 = it begins */
  next(phase: Phase, done: number): number {
    if (done > 0) return Math.max(1, Math.min(done, MORE_SWEEPS.rounds - done));
    const made = this.#made.get(phase) ?? [];
    return made.length < 2 ? 1 : Math.min(...made);
  }
}
