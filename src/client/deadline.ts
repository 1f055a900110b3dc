/** Seconds. A budget that is used up is sent as this, because 0 would mean no budget. */
const SMALLEST_BUDGET = 0.001;

/** Share of a budget by which the answer of a server may be late (docs/api.md, Time budgets). */
const GRACE = 1 / 8;

/** The time budget of a call, which covers all of its attempts. */
export class Deadline {
  /** performance.now() after which no attempt starts; undefined = the call has no budget */
  readonly endsAt: number | undefined;
  readonly #answeredBy: number | undefined;

  /** @param allowanceSeconds beyond the budget and its {@link GRACE}, for the way to the server and back */
  constructor(budgetSeconds: number | undefined, allowanceSeconds: number) {
    if (budgetSeconds === undefined) return;
    const now = performance.now();
    this.endsAt = now + budgetSeconds * 1000;
    this.#answeredBy = now + (budgetSeconds * (1 + GRACE) + allowanceSeconds) * 1000;
  }

  /** Seconds of the budget for an attempt that starts at once. */
  get left(): number | undefined {
    return secondsUntil(this.endsAt);
  }

  /** Seconds that an attempt that starts at once may take. */
  get limit(): number | undefined {
    return secondsUntil(this.#answeredBy);
  }
}

function secondsUntil(end: number | undefined): number | undefined {
  return end === undefined ? undefined : Math.max(SMALLEST_BUDGET, (end - performance.now()) / 1000);
}
