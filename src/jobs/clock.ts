/**
 * Milliseconds of the monotonic clock that all threads of the process share. (`performance.now()` counts from the start of
 * each thread, so its values cannot be compared between threads.)
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Converts a value of this thread's `performance.now()` to the shared clock. */
export function toMonotonicMs(performanceNow: number): number {
  return monotonicMs() - (performance.now() - performanceNow);
}

/** Measures consecutive laps of a clock. */
export class Stopwatch {
  readonly startedAt: number;
  private last: number;

  /** @param now ms */
  constructor(private readonly now: () => number) {
    this.startedAt = this.last = now();
  }

  /** µs since the last lap */
  lap(): number {
    const now = this.now();
    const lap = (now - this.last) * 1000;
    this.last = now;
    return lap;
  }
}

/** Passes at most one value per interval on; the first value always passes. @param now ms */
export function throttle<T>(deliver: (value: T) => void, intervalMs: number, now: () => number): (value: T) => void {
  let next = Number.NEGATIVE_INFINITY;
  return (value) => {
    const time = now();
    if (time < next) return;
    next = time + intervalMs;
    deliver(value);
  };
}
