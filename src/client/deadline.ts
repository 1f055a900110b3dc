/** Seconds. A budget of which nothing is left is sent as this: one of 0 would be none. */
const SMALLEST_BUDGET = 0.001;

/** The time budget of a call, which covers all of its attempts. */
export class Deadline {
  /** performance.now() after which no attempt starts; undefined = the call has no budget */
  readonly endsAt: number | undefined;

  constructor(budgetSeconds: number | undefined) {
    this.endsAt = budgetSeconds === undefined ? undefined : performance.now() + budgetSeconds * 1000;
  }

  /** Seconds for an attempt that starts at once. */
  get left(): number | undefined {
    return this.endsAt === undefined ? undefined : Math.max(SMALLEST_BUDGET, (this.endsAt - performance.now()) / 1000);
  }
}
