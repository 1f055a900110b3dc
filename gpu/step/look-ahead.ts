import type { Phase } from '../kernels/constants.js';

/** Of the steps that a phase has done, so many more may have been submitted in vain. */
const VAIN_SHARE = 1 / 4;

/**
 * How many steps a run may have in flight, that is submitted before the status of those before them is known. A step that turns out not
 * to be needed, because the run has ended or paused, costs all its dispatches.
 *
 * A phase begins with what it did in the last two requests before it first paused, the lesser of both: as a rule the frames of a session
 * resemble each other. From there on it has in flight what it has done since the last pause, as long as those in vain are not more than
 * VAIN_SHARE of those done: a first request begins with one.
 */
export class LookAhead {
  /** steps before the first pause or the end, in the last two requests that had the phase */
  readonly #needed = new Map<Phase, readonly number[]>();
  #phase: Phase | undefined;
  #done = 0;
  #vain = 0;
  /** steps since the last pause */
  #streak = 0;
  #hasPaused = false;

  /** A phase of a request begins. */
  enter(phase: Phase): void {
    this.#phase = phase;
    this.#done = 0;
    this.#vain = 0;
    this.#streak = 0;
    this.#hasPaused = false;
  }

  /**
   * The status of submitted steps was read.
   *
   * @param done how many of them the device has done
   * @param wouldPause something happened for which a run pauses where the host does not foresee it
   */
  observe(submitted: number, done: number, wouldPause: boolean): void {
    if (wouldPause) this.pause(true);
    this.#done += done;
    this.#streak += done;
    this.#vain += submitted - done;
  }

  /** Steps were submitted whose status will not be read, since the run paused or ended before them. */
  discard(submitted: number): void {
    this.#vain += submitted;
  }

  /** The run has paused for the host. @param recurs for a reason that other requests have as well; room, once it is there, remains */
  pause(recurs: boolean): void {
    // A pause before the first step is that of the opening.
    if (recurs && this.#done > 0) this.#learn();
    this.#streak = 0;
  }

  /** The phase has ended. */
  end(): void {
    this.#learn();
  }

  /** Steps that may be in flight, at least one. */
  get most(): number {
    const expected = this.#hasPaused || this.#phase === undefined ? [] : (this.#needed.get(this.#phase) ?? []);
    const left = expected.length === 0 ? 0 : Math.min(...expected) - this.#done;
    return Math.max(1, left, Math.min(this.#streak, Math.floor(VAIN_SHARE * this.#done) - this.#vain));
  }

  /** The first stretch of the phase without a pause is over. */
  #learn(): void {
    if (this.#phase === undefined || this.#hasPaused) return;
    this.#hasPaused = true;
    this.#needed.set(this.#phase, [...(this.#needed.get(this.#phase) ?? []), this.#done].slice(-2));
  }
}
