/** What follows the engine in a request, ms. */
export interface AnswerCosts {
  /** the exact test of the answer */
  readonly check: number;
  /** mapping, report and encoding */
  readonly finish: number;
  /** the smallest distance of the report, which is optional */
  readonly distances: number;
}

/** Before they are measured: in units of the exact test of the start, which is a state in which everything is new. */
const FINISH_PER_CHECK = 0.25;
/** Both build the same kind of tree. */
const DISTANCES_PER_CHECK = 1.3;

/** How many measurements an estimate is the median of. */
const RECENT = 3;

/** What is left of an estimate after a frame in which it has allowed no step. */
const RELAXED = 0.7;

/** The median of the last measurements, of two the longer, ms. */
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
 * What the parts of a step cost on one scene and one engine, learned from the steps before: a time budget keeps back what
 * follows the engine, and no more.
 *
 * One measurement that was long by accident would keep the whole budget back, and as no step is then made, nothing would be
 * measured that corrects it. So an estimate that has allowed no step is taken for smaller in the next one.
 */
export class StepCosts {
  readonly #check = new Estimate();
  readonly #lightCheck = new Estimate();
  readonly #finish = new Estimate();
  readonly #distances = new Estimate();
  readonly #search = new Estimate();
  readonly #step = new Estimate();
  /** ms that a search has taken which later steps continue */
  #unfinished = 0;

  /**
   * @param moving share of the vertices that may move. A test leaves out what rests (verify/memory.ts): up to half of the
   *   vertices it takes that share of a whole test at most, and as much again where they are scattered.
   * @param isLight the test should leave out as much as the last one did (verify/memory.ts)
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

  /** A budget of so many ms has room for a search, a step and the test of its answer; undefined = not known yet. */
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

  /** One that left out most pairs. */
  noteLightCheck(milliseconds: number): void {
    this.#lightCheck.note(milliseconds);
  }

  /** A test that the budget has ended takes at least as long. */
  noteCheckCutShort(milliseconds: number): void {
    this.#check.note(Math.max(milliseconds, this.#check.value ?? 0));
  }

  noteFinish(milliseconds: number): void {
    this.#finish.note(milliseconds);
  }

  noteDistances(milliseconds: number): void {
    this.#distances.note(milliseconds);
  }

  /** Of one run of the engine: the time of its searches, and of everything else in its steps. */
  noteRun(searches: number, searching: number, steps: number, stepping: number): void {
    this.#unfinished += searching;
    if (searches > 0) {
      this.#search.note(this.#unfinished / searches);
      this.#unfinished = 0;
    }
    if (steps > 0) this.#step.note(stepping / steps);
  }

  /** The budget of a step was kept back without a step. */
  relax(): void {
    this.#check.relax();
    this.#lightCheck.relax();
    this.#finish.relax();
  }
}
