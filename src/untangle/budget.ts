import { type ErrorCode, IntersticeError } from '../contract/errors.js';
import type { UntangleReport } from '../contract/untangle.js';
import type { UntangleTools } from './problem.js';

export type Ended = NonNullable<UntangleReport['ended']>;

/** Thrown by {@link Budget.pulse}: the iteration is given up, and the best state so far is the answer. */
export class Interrupted extends Error {
  constructor(readonly why: Ended) {
    super(`The iteration was given up: ${why}.`);
  }
}

/**
 * When an untangling has to end: it was cancelled, or its time is over but for what the tests of the answer take. Each of them is
 * assumed to take as long as the longest test so far, since all of them test the same mesh.
 */
export class Budget {
  readonly #tools: Pick<UntangleTools, 'timeLeft' | 'isCancelled'>;
  /** ms */
  #longestTest = 0;
  /** tests of the answer that may be needed */
  #tests = 1;

  constructor(tools: Pick<UntangleTools, 'timeLeft' | 'isCancelled'>) {
    this.#tools = tools;
  }

  /** ms until the tests of the answer have to begin; 0 or less where everything else has to end */
  timeLeft(): number {
    return this.#tools.isCancelled() ? 0 : this.#tools.timeLeft() - this.#keptBack;
  }

  /** ms */
  get #keptBack(): number {
    return this.#tests * this.#longestTest;
  }

  /** @param tests of the answer that may be needed from now on, which are one until then */
  keepBack(tests: number): void {
    this.#tests = tests;
  }

  /** Why it has to end now; undefined = it has not. */
  whyOver(): Ended | undefined {
    if (this.#tools.isCancelled()) return 'CANCELLED';
    return this.#tools.timeLeft() <= this.#keptBack ? 'TIME_BUDGET' : undefined;
  }

  /** To be called at short intervals within an iteration. @throws Interrupted */
  readonly pulse = (): void => {
    const why = this.whyOver();
    if (why) throw new Interrupted(why);
  };

  /** What ends a resolve in time. Its status is then DEADLINE, also where it was cancelled: {@link whyOver} knows which. */
  interrupts() {
    return {
      shouldStop: () => this.timeLeft() <= 0,
      timeLeft: () => this.timeLeft(),
    };
  }

  /** Runs the test of a state, and keeps back as much time for that of the answer. */
  async measure<T>(test: () => Promise<T>): Promise<T> {
    const before = this.#tools.timeLeft();
    const findings = await test();
    const took = before - this.#tools.timeLeft();
    // Without a budget there is no difference.
    if (took > this.#longestTest) this.#longestTest = took;
    return findings;
  }
}

/** Errors of engines after which the best state so far is the answer: the request is larger than its budget or the device, or that is gone. */
const ENDS: Partial<Record<ErrorCode, Ended>> = {
  TOO_LARGE: 'MEMORY',
  OUT_OF_DEVICE_MEMORY: 'MEMORY',
  DEVICE_LOST: 'LOST_DEVICE',
};

/** Why the best state so far is the answer. @throws what is no reason for that */
export function whyGivenUp(thrown: unknown): Ended {
  if (thrown instanceof Interrupted) return thrown.why;
  const why = thrown instanceof IntersticeError ? ENDS[thrown.code] : undefined;
  if (why) return why;
  throw thrown;
}
