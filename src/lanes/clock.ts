/**
 * Milliseconds of a clock that every thread of the process shares and nobody sets. (`performance.now()` counts from each
 * thread's own start, so its values mean nothing on the other side of a message.)
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A moment of this thread's `performance.now()` on the shared clock. */
export function toMonotonicMs(performanceNow: number): number {
  return monotonicMs() - (performance.now() - performanceNow);
}
