import type { Phase } from '../kernels/constants.js';

/** Unused steps that may have been submitted, as a share of the steps that a phase has done. */
const VAIN_SHARE = 1 / 4;

/**
 * How many steps a run may have in flight, that is, submitted before the status of the previous ones is known. A step
 * that turns out not to be needed, because the run has ended or paused, costs all its dispatches.
 *
 * A phase begins with the number of steps that it made in the last two requests before it first paused, the smaller of
 * both, because the frames of a session usually resemble each other. From there on it may have in flight as many as it
 * has done since the last pause, as long as the unused ones are at most VAIN_SHARE of those done. A first request
 * begins with one.
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

  /** Begins a phase of a request. */
  enter(phase: Phase): void {
    this.#phase = phase;
    this.#done = 0;
    this.#vain = 0;
    this.#streak = 0;
    this.#hasPaused = false;
  }

  /**
   * Notes that the status of submitted steps was read.
   *
   * @param done number of them that the device has done
   * @param wouldPause whether something happened for which a run pauses if the host does not foresee it
   */
  observe(submitted: number, done: number, wouldPause: boolean): void {
    if (wouldPause) this.pause(true);
    this.#done += done;
    this.#streak += done;
    this.#vain += submitted - done;
  }

  /** Notes submitted steps whose status will not be read, because the run paused or ended before them. */
  discard(submitted: number): void {
    this.#vain += submitted;
  }

  /** Notes that the run has paused for the host. @param recurs whether other requests would pause, too */
  pause(recurs: boolean): void {
    // A pause before the first step is that of the opening.
    if (recurs && this.#done > 0) this.#learn();
    this.#streak = 0;
  }

  /** Notes that the phase has ended. */
  end(): void {
    this.#learn();
  }

  /** Steps that may be in flight, at least one. */
  get most(): number {
    const expected = this.#hasPaused || this.#phase === undefined ? [] : (this.#needed.get(this.#phase) ?? []);
    const left = expected.length === 0 ? 0 : Math.min(...expected) - this.#done;
    return Math.max(1, left, Math.min(this.#streak, Math.floor(VAIN_SHARE * this.#done) - this.#vain));
  }

  /** Remembers the first part of the phase without a pause. */
  #learn(): void {
    if (this.#phase === undefined || this.#hasPaused) return;
    this.#hasPaused = true;
    this.#needed.set(this.#phase, [...(this.#needed.get(this.#phase) ?? []), this.#done].slice(-2));
  }
}
