import { IntersticeError } from '../contract/errors.js';
import type { OnBudget } from '../contract/requests.js';
import type { AnswerCosts } from './step-costs.js';

/**
 * Decides when the work of one request must end. The engine asks between steps, so the answer must allow for everything that
 * follows: the step that would start, and the test, mapping and report of the answer.
 *
 * - A step is assumed to take as long as the longest of the last {@link RECENT_STEPS}, measured between two questions and
 *   without the time of searches, because hardly any step searches.
 * - The time for what follows the engine is reserved, as `StepCosts` (step-costs.ts) has learned it. The smallest
 *   distance of the report is optional: time for it is reserved only if everything that follows fits into
 *   {@link LARGEST_COMFORT} of the remaining time.
 * - An answer that has not moved needs no test. So a search may use the time of the test as long as no step has been made, if
 *   its result outlives the request: the next one then begins with a step.
 *
 * These are estimates: under RETURN_SAFE a request may end late, by {@link GRACE} of its budget and the time between
 * two questions, but never with an unverified answer.
 */
export class Deadline {
  private readonly endsAt: number;
  private readonly isHard: boolean;
  /** ms */
  private readonly grace: number;
  private costs: AnswerCosts = { check: 0, finish: 0, distances: 0 };
  private reserve = 0;
  private leavesNoRoom = false;
  private readonly recentSteps: number[] = [];
  private lastAsked: number | undefined;

  /** @param budgetSeconds undefined = no deadline @param receivedAt ms of the clock `now` */
  constructor(
    budgetSeconds: number | undefined,
    onBudget: OnBudget,
    receivedAt: number,
    private readonly now: () => number,
  ) {
    this.grace = budgetSeconds === undefined || onBudget === 'FAIL' ? 0 : GRACE * budgetSeconds * 1000;
    this.endsAt = budgetSeconds === undefined ? Infinity : receivedAt + budgetSeconds * 1000;
    this.isHard = onBudget === 'FAIL';
  }

  /** ms reserved for what follows the engine; optional parts count only if time is reserved for them */
  get keptBack(): AnswerCosts {
    const { check, finish, distances } = this.costs;
    if (this.isHard) return { check: 0, finish: 0, distances: 0 };
    return { check, finish, distances: this.reserve > check + finish ? distances : 0 };
  }

  /** Whether the reserved time left no time for a step from the beginning. */
  get hadNoRoom(): boolean {
    return this.leavesNoRoom;
  }

  /** @throws DEADLINE_EXCEEDED if the budget is spent */
  refuseIfOver(where: string): void {
    const late = this.now() - this.endsAt;
    if (late >= 0) throw deadlineExceeded(where);
  }

  /** Like {@link refuseIfOver}, once {@link GRACE} of the budget has passed beyond it. @throws DEADLINE_EXCEEDED */
  refuseIfLate(where: string): void {
    if (this.now() >= this.endsAt + this.grace) throw deadlineExceeded(where);
  }

  /** Whether the smallest distance of the report, which is optional, can still be measured in time. */
  hasTimeForDistances(): boolean {
    return this.now() + this.costs.distances < this.endsAt;
  }

  /** Whether a test may take {@link PREPARING} times as long as usual. */
  hasTimeToPrepare(): boolean {
    const { check, finish, distances } = this.costs;
    return this.now() + PREPARING * (check + distances) + finish < this.endsAt;
  }

  /** Like {@link refuseIfOver}, but only under FAIL: under RETURN_SAFE there is a safe state to return. */
  refuseIfOverAndHard(where: string): void {
    if (this.isHard) this.refuseIfOver(where);
  }

  /** Reserves time for what follows the engine, as far as it is known; under FAIL none, as a late answer is useless. */
  keepBack(costs: AnswerCosts): void {
    this.costs = costs;
    const lean = costs.check + costs.finish;
    const comfortable = lean + costs.distances;
    const isComfortable = comfortable <= LARGEST_COMFORT * (this.endsAt - this.now());
    this.reserve = this.isHard ? 0 : isComfortable ? comfortable : lean;
    if (this.lastAsked === undefined) this.leavesNoRoom = this.now() + this.reserve >= this.endsAt;
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

  /** ms until the test of the answer must begin; asked within a step, which has priority over the smallest distance. */
  timeLeft(): number {
    return this.endsAt - (this.isHard ? 0 : this.costs.check + this.costs.finish) - this.now();
  }

  /**
   * The same within a search, whose time does not count as that of a step.
   *
   * @param needsNoTest no step has been made, and what the search finds is kept
   */
  searchTimeLeft(needsNoTest: boolean): number {
    const now = this.now();
    if (this.lastAsked !== undefined) this.lastAsked = now;
    return this.endsAt - (this.isHard ? 0 : this.costs.finish + (needsNoTest ? 0 : this.costs.check)) - now;
  }
}

/** How much later than its budget an answer may be if its test takes longer than before, as a share of the budget. */
const GRACE = 1 / 8;

/** A test that also makes a list for the next ones (verify/clearance.ts) takes up to this many times as long. */
const PREPARING = 6;

/** Share of the remaining time that may be reserved for everything, the optional smallest distance included. */
const LARGEST_COMFORT = 1 / 2;

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
