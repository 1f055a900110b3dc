/** Log lines per second that a remote party can cause. */
const LINES_PER_SECOND = 10;
const SECOND_MS = 1000;

/** Calls back after a delay. @returns cancels the call */
export type Later = (milliseconds: number, then: () => void) => () => void;

const later: Later = (milliseconds, then) => {
  // The timer must not keep an idle process alive.
  const timer = setTimeout(then, milliseconds).unref();
  return () => clearTimeout(timer);
};

/**
 * Limits log lines of one kind to a number per second. Further lines are counted by reason and summarised in one line
 * when the second ends. A second starts with the first line after the previous one has ended, so that no timer runs
 * when idle.
 */
export class LineBound {
  #written = 0;
  #suppressed = new Map<string, number>();
  #cancel: (() => void) | undefined;

  /**
   * @param report called with the number of suppressed lines by reason, if there are any
   * @param after replaces the timer in tests
   */
  constructor(
    private readonly report: (suppressed: Readonly<Record<string, number>>) => void,
    private readonly linesPerSecond: number = LINES_PER_SECOND,
    private readonly after: Later = later,
  ) {}

  /** Whether a line may be written; if not, it is counted. */
  allows(reason: string): boolean {
    this.#cancel ??= this.after(SECOND_MS, () => this.flush());
    if (this.#written < this.linesPerSecond) {
      this.#written++;
      return true;
    }
    this.#suppressed.set(reason, (this.#suppressed.get(reason) ?? 0) + 1);
    return false;
  }

  /** Ends the second now, e.g. before the log is closed. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#written = 0;
    const suppressed = Object.fromEntries(this.#suppressed);
    this.#suppressed = new Map();
    if (Object.keys(suppressed).length > 0) this.report(suppressed);
  }
}
