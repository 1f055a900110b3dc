/** Seconds. A budget that is used up is sent as this, because 0 would mean no budget. */
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
