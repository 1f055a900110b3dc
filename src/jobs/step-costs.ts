/** Costs of what follows the engine in a request, ms. */
export interface AnswerCosts {
  /** the exact test of the answer */
  readonly check: number;
  /** mapping, report and encoding */
  readonly finish: number;
  /** the smallest distance of the report, which is optional */
  readonly distances: number;
}

/** Before they are measured: relative to the exact test of the start, in which everything is new. */
const FINISH_PER_CHECK = 0.25;
/** Both build the same kind of tree. */
const DISTANCES_PER_CHECK = 1.3;

/** How many measurements an estimate is the median of. */
const RECENT = 3;

/** Factor on an estimate after a frame in which it left no time for a step. */
const RELAXED = 0.7;

/** The median of the last measurements, or the longer of two, ms. */
class Estimate {
  #recent: number[] = [];

  get value(): number | undefined {
    return [...this.#recent].sort((a, b) => a - b)[this.#recent.length >> 1];
  }

  note(milliseconds: number): void {
    this.#recent.push(milliseconds);
    if (this.#recent.length > RECENT) this.#recent.shift();
  }

  relax(): void {
    this.#recent = this.#recent.map((milliseconds) => RELAXED * milliseconds);
  }
}

/**
 * The costs of the parts of a step on one scene and one engine, learned from earlier steps: a time budget reserves the
 * time for what follows the engine, and no more.
 *
 * One measurement that was long by accident would reserve the whole budget. No step would then be made, so no
 * measurement would correct it. Therefore an estimate that left no time for a step is reduced for the next one.
 */
export class StepCosts {
  readonly #check = new Estimate();
  readonly #lightCheck = new Estimate();
  readonly #finish = new Estimate();
  readonly #distances = new Estimate();
  readonly #search = new Estimate();
  readonly #step = new Estimate();
  /** ms of a search that later steps continue */
  #unfinished = 0;

  /**
   * @param moving share of the vertices that may move. A test skips elements at rest (verify/memory.ts). If up to half
   *   of the vertices move, it takes at most that share of a complete test, and as much again if they are scattered.
   * @param isLight the test should skip as much as the last one did (verify/memory.ts)
   */
  answerFor(moving: number, isLight = false): AnswerCosts {
    const whole = this.#check.value ?? 0;
    const partial = Math.min(1, 2 * moving) * whole;
    const check = isLight ? Math.min(partial, this.#lightCheck.value ?? partial) : partial;
    return {
      check,
      finish: this.#finish.value ?? FINISH_PER_CHECK * whole,
      distances: this.#distances.value ?? DISTANCES_PER_CHECK * whole,
    };
  }

  /** ms of a budget with room for a search, a step and the test of its answer; undefined = not known yet. */
  get needed(): number | undefined {
    const search = this.#search.value;
    const step = this.#step.value;
    const { check, finish } = this.answerFor(1);
    return search === undefined || step === undefined ? undefined : search + step + check + finish;
  }

  /** An exact test in which nothing was known before. */
  noteCheck(milliseconds: number): void {
    this.#check.note(milliseconds);
  }

  /** Notes an exact test that skipped most pairs. */
  noteLightCheck(milliseconds: number): void {
    this.#lightCheck.note(milliseconds);
  }

  /** Notes that a test takes at least as long as one that the budget has ended. */
  noteCheckCutShort(milliseconds: number): void {
    this.#check.note(Math.max(milliseconds, this.#check.value ?? 0));
  }

  noteFinish(milliseconds: number): void {
    this.#finish.note(milliseconds);
  }

  noteDistances(milliseconds: number): void {
    this.#distances.note(milliseconds);
  }

  /** Notes one run of the engine: the time of its searches, and of everything else in its steps. */
  noteRun(searches: number, searching: number, steps: number, stepping: number): void {
    this.#unfinished += searching;
    if (searches > 0) {
      this.#search.note(this.#unfinished / searches);
      this.#unfinished = 0;
    }
    if (steps > 0) this.#step.note(stepping / steps);
  }

  /** The whole budget of a step was reserved, and no step was made. */
  relax(): void {
    this.#check.relax();
    this.#lightCheck.relax();
    this.#finish.relax();
  }
}
