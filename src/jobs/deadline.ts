import { IntersticeError } from '../contract/errors.js';
import type { OnBudget } from '../contract/requests.js';

/**
 * When the work of one request must end. Asked between steps, so the answer to "is it due?" must already count what
 * comes after a yes: the step that a no would start, and the mapping, verification and report of the answer.
 *
 * - A step is taken to last as long as the longest of the last {@link RECENT_STEPS}, the time between two questions: the
 *   first one searches everything, later ones hardly anything, so what was long ago says little.
 * - The rest is taken from this very request: the answer's test costs what the start's cost, the report a little
 *   more than that, and the transport has to encode: {@link RESERVE_PER_CHECK}. Where so much is not left, steps come
 *   before the report's smallest distance, which is then not measured: {@link LEAN_RESERVE_PER_CHECK}.
 *
 * An estimate, not a promise: RETURN_SAFE may end a little late, but never with an unverified answer.
 */
export class Deadline {
  private readonly endsAt: number;
  private readonly isHard: boolean;
  private reserve = 0;
  private checkMs = 0;
  private readonly recentSteps: number[] = [];
  private lastAsked: number | undefined;

  /** @param budgetSeconds undefined = no deadline @param receivedAt ms of the clock `now` */
  constructor(
    budgetSeconds: number | undefined,
    onBudget: OnBudget,
    receivedAt: number,
    private readonly now: () => number,
  ) {
    this.endsAt = budgetSeconds === undefined ? Infinity : receivedAt + budgetSeconds * 1000;
    this.isHard = onBudget === 'FAIL';
  }

  /** @throws DEADLINE_EXCEEDED when the budget is spent */
  refuseIfOver(where: string): void {
    const late = this.now() - this.endsAt;
    if (late >= 0) throw deadlineExceeded(where);
  }

  /** Whether the report's smallest distance could still be measured in time; nobody needs it in order to go on. */
  hasTimeForDistances(): boolean {
    return this.hasTimeFor(this.checkMs * DISTANCES_PER_CHECK);
  }

  /** As {@link refuseIfOver}, where only a caller who asked for FAIL is refused: there is a safe state to return. */
  refuseIfOverAndHard(where: string): void {
    if (this.isHard) this.refuseIfOver(where);
  }

  /** @param checkMs how long the exact test of the caller's start took */
  reserveAfter(checkMs: number): void {
    // With FAIL a late answer is worth as little as none, so no time is kept back for it.
    this.checkMs = checkMs;
    const reserve = checkMs * RESERVE_PER_CHECK;
    if (this.isHard) this.reserve = 0;
    else this.reserve = this.hasTimeFor(reserve) ? reserve : checkMs * LEAN_RESERVE_PER_CHECK;
  }

  /** To be asked between steps. */
  isDue(): boolean {
    const now = this.now();
    if (this.lastAsked !== undefined) this.recentSteps.push(now - this.lastAsked);
    if (this.recentSteps.length > RECENT_STEPS) this.recentSteps.shift();
    this.lastAsked = now;
    const step = this.isHard ? 0 : Math.max(0, ...this.recentSteps);
    return now + step + this.reserve >= this.endsAt;
  }

  /** ms until the test of the answer has to begin; to be asked within a step, which comes before the smallest distance. */
  timeLeft(): number {
    return this.endsAt - (this.isHard ? 0 : this.checkMs * LEAN_RESERVE_PER_CHECK) - this.now();
  }

  private hasTimeFor(milliseconds: number): boolean {
    return this.now() + milliseconds < this.endsAt;
  }
}

/** in units of the start's exact test: that of the answer 1, minDistance about 1.3 (both build the same kind of tree), the
 *  rest of the report, mapping and encoding 0.7 */
const RESERVE_PER_CHECK = 3;
/** the same without minDistance */
const LEAN_RESERVE_PER_CHECK = 1.7;
/** of minDistance, in the same unit */
const DISTANCES_PER_CHECK = 1.3;

/** Steps that an estimate of the next one looks back on. */
const RECENT_STEPS = 4;

export function deadlineExceeded(where: string): IntersticeError {
  return new IntersticeError('DEADLINE_EXCEEDED', `the time budget was spent ${where}`);
}

/** What `work` gives, or undefined where the budget ended it on the way. @throws whatever else it ends with */
export async function unlessOver<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof IntersticeError && thrown.code === 'DEADLINE_EXCEEDED') return undefined;
    throw thrown;
  }
}

/** Thrown by a checkpoint (JobRun), not by the test itself. */
export function isCheckStopped(thrown: unknown): boolean {
  return thrown instanceof IntersticeError && (thrown.code === 'DEADLINE_EXCEEDED' || thrown.code === 'CANCELLED');
}
