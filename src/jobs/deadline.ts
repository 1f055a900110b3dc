import { IntersticeError } from '../contract/errors.js';
import type { OnBudget } from '../contract/requests.js';

/**
 * Decides when the work of one request must end. The engine asks between steps, so the answer must allow for everything that
 * follows: the step that would start, and the mapping, verification and report of the answer.
 *
 * - A step is assumed to take as long as the longest of the last {@link RECENT_STEPS}, measured between two questions. The
 *   first step searches everything and later ones hardly anything, so older steps say little.
 * - The rest follows from this request: the test of the answer costs as much as the test of the start, the report a little
 *   more, and the transport has to encode: {@link RESERVE_PER_CHECK}. If less time is left, steps have priority over the
 *   smallest distance of the report, which is then not measured: {@link LEAN_RESERVE_PER_CHECK}.
 *
 * This is an estimate: RETURN_SAFE may end a little late, but never with an unverified answer.
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

  /** @throws DEADLINE_EXCEEDED if the budget is spent */
  refuseIfOver(where: string): void {
    const late = this.now() - this.endsAt;
    if (late >= 0) throw deadlineExceeded(where);
  }

  /** Whether the smallest distance of the report, which is optional, can still be measured in time. */
  hasTimeForDistances(): boolean {
    return this.hasTimeFor(this.checkMs * DISTANCES_PER_CHECK);
  }

  /** As {@link refuseIfOver}, but only under FAIL: under RETURN_SAFE there is a safe state to return. */
  refuseIfOverAndHard(where: string): void {
    if (this.isHard) this.refuseIfOver(where);
  }

  /** @param checkMs how long the exact test of the caller's start took */
  reserveAfter(checkMs: number): void {
    // Under FAIL a late answer is useless, so no time is reserved for it.
    this.checkMs = checkMs;
    const reserve = checkMs * RESERVE_PER_CHECK;
    if (this.isHard) this.reserve = 0;
    else this.reserve = this.hasTimeFor(reserve) ? reserve : checkMs * LEAN_RESERVE_PER_CHECK;
  }

  /** Whether the engine must stop now; to be asked between steps. */
  isDue(): boolean {
    const now = this.now();
    if (this.lastAsked !== undefined) this.recentSteps.push(now - this.lastAsked);
    if (this.recentSteps.length > RECENT_STEPS) this.recentSteps.shift();
    this.lastAsked = now;
    const step = this.isHard ? 0 : Math.max(0, ...this.recentSteps);
    return now + step + this.reserve >= this.endsAt;
  }

  /** ms until the test of the answer has to begin; to be asked within a step, which has priority over the smallest distance. */
  timeLeft(): number {
    return this.endsAt - (this.isHard ? 0 : this.checkMs * LEAN_RESERVE_PER_CHECK) - this.now();
  }

  private hasTimeFor(milliseconds: number): boolean {
    return this.now() + milliseconds < this.endsAt;
  }
}

/** In units of the exact test of the start: the test of the answer 1, minDistance about 1.3 (both build the same kind of
 *  tree), the rest of the report, mapping and encoding 0.7. */
const RESERVE_PER_CHECK = 3;
/** The same without minDistance. */
const LEAN_RESERVE_PER_CHECK = 1.7;
/** minDistance alone, in the same unit. */
const DISTANCES_PER_CHECK = 1.3;

/** How many past steps the estimate of the next one takes into account. */
const RECENT_STEPS = 4;

export function deadlineExceeded(where: string): IntersticeError {
  return new IntersticeError('DEADLINE_EXCEEDED', `The time budget was spent ${where}.`);
}

/** Returns what `work` returns, or undefined if the budget ended it. @throws any other error of `work` */
export async function unlessOver<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof IntersticeError && thrown.code === 'DEADLINE_EXCEEDED') return undefined;
    throw thrown;
  }
}

/** Whether a checkpoint (JobRun) has ended a test. */
export function isCheckStopped(thrown: unknown): boolean {
  return thrown instanceof IntersticeError && (thrown.code === 'DEADLINE_EXCEEDED' || thrown.code === 'CANCELLED');
}
