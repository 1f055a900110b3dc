import { type ErrorCode, IntersticeError } from '../contract/errors.js';
import type { UntangleReport } from '../contract/untangle.js';
import { MemoryShort } from '../threads/account.js';
import type { UntangleTools } from './problem.js';

export type Ended = NonNullable<UntangleReport['ended']>;

/** Thrown by {@link Budget.pulse}: it abandons the iteration, and the best state so far is the answer. */
export class Interrupted extends Error {
  constructor(readonly why: Ended) {
    super(`The iteration was given up: ${why}.`);
  }
}

/**
 * Decides when an untangling must end: when it is cancelled, or when only the time for the tests of the answer is left.
 * Each of these is assumed to take as long as the longest test so far, because all of them test the same mesh.
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

  /** ms until the tests of the answer must begin; 0 or less if everything else must end now */
  timeLeft(): number {
    return this.#tools.isCancelled() ? 0 : this.#tools.timeLeft() - this.#keptBack;
  }

  /** ms */
  get #keptBack(): number {
    return this.#tests * this.#longestTest;
  }

  /** @param tests number of tests of the answer that may be needed from now on; it is 1 at the beginning */
  keepBack(tests: number): void {
    this.#tests = tests;
  }

  /** Why it must end now; undefined = it need not. */
  whyOver(): Ended | undefined {
    if (this.#tools.isCancelled()) return 'CANCELLED';
    return this.#tools.timeLeft() <= this.#keptBack ? 'TIME_BUDGET' : undefined;
  }

  /** To be called at short intervals within an iteration. @throws Interrupted */
  readonly pulse = (): void => {
    const why = this.whyOver();
    if (why) throw new Interrupted(why);
  };

  /**
   * What ends a resolve in time. The status is then DEADLINE, even if the resolve was cancelled; {@link whyOver} tells
   * these cases apart.
   */
  interrupts() {
    return {
      shouldStop: () => this.timeLeft() <= 0,
      timeLeft: () => this.timeLeft(),
    };
  }

  /** Runs the test of a state, and reserves as much time for the test of the answer. */
  async measure<T>(test: () => Promise<T>): Promise<T> {
    const before = this.#tools.timeLeft();
    const findings = await test();
    const took = before - this.#tools.timeLeft();
    // Without a budget there is no difference.
    if (took > this.#longestTest) this.#longestTest = took;
    return findings;
  }
}

/**
 * Errors of engines after which the best state so far is the answer: the request exceeds its memory or that of the
 * device, or the device is lost. Where all requests together have no more memory, {@link MemoryShort} says so.
 */
const ENDS: Partial<Record<ErrorCode, Ended>> = {
  TOO_LARGE: 'MEMORY',
  OUT_OF_DEVICE_MEMORY: 'MEMORY',
  DEVICE_LOST: 'LOST_DEVICE',
};

/** Why the best state so far is the answer. @throws any other error unchanged */
export function whyGivenUp(thrown: unknown): Ended {
  if (thrown instanceof Interrupted) return thrown.why;
  if (thrown instanceof MemoryShort) return 'MEMORY';
  const why = thrown instanceof IntersticeError ? ENDS[thrown.code] : undefined;
  if (why) return why;
  throw thrown;
}

/**
 * Why an untangling ended. NO_PROGRESS of the pushing counts only if nothing cut the pull-back short, because more time
 * or memory for the pull-back could have led to another answer.
 */
export function endOf(pushing: Ended | undefined, pullBack: Ended | undefined): Ended | undefined {
  return pushing === 'NO_PROGRESS' ? (pullBack ?? pushing) : (pushing ?? pullBack);
}
