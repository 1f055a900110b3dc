/** The clocks and timers of the session room, in one place so that tests can move them. */
export interface SessionClock {
  /** ms since 1970: what a caller is shown */
  wallMs(): number;
  /** ms of a clock that nobody sets: what idle times and budgets are measured with (src/lanes/clock.ts) */
  monotonicMs(): number;
  /** Calls back once, `ms` later at the earliest; never keeps the process alive. @returns a function that calls it off */
  after(ms: number, callback: () => void): () => void;
}

/** setTimeout's largest delay; a longer one would fire at once */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function realClock(monotonicMs: () => number): SessionClock {
  return {
    wallMs: Date.now,
    monotonicMs,
    after(ms, callback) {
      // Whoever asks for more looks again when it fires: both users compare with the clock before they act.
      const timer = setTimeout(callback, Math.min(Math.max(0, ms), LONGEST_TIMER_MS)).unref();
      return () => clearTimeout(timer);
    },
  };
}
