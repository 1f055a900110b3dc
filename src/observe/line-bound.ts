/** Lines that somebody outside can cause are no more than this a second. */
const LINES_A_SECOND = 10;
const SECOND_MS = 1000;

/** Calls back after a time, unless it is called off. */
export type Later = (milliseconds: number, then: () => void) => () => void;

const later: Later = (milliseconds, then) => {
  // Must not keep a process alive that has nothing else to do.
  const timer = setTimeout(then, milliseconds).unref();
  return () => clearTimeout(timer);
};

/**
 * So many lines of one kind a second; what is beyond is counted by its reason, and told in one line when the second is over.
 * A second begins with the first line after the last one has ended, so nothing runs while nothing happens.
 */
export class LineBound {
  #written = 0;
  #unwritten = new Map<string, number>();
  #cancel: (() => void) | undefined;

  /**
   * @param tell what was not written, by reason: called only when there is something
   * @param after for tests; default: a timer
   */
  constructor(
    private readonly tell: (unwritten: Readonly<Record<string, number>>) => void,
    private readonly linesASecond: number = LINES_A_SECOND,
    private readonly after: Later = later,
  ) {}

  /** Whether this one may be written; it is counted otherwise. */
  allows(reason: string): boolean {
    this.#cancel ??= this.after(SECOND_MS, () => this.flush());
    if (this.#written < this.linesASecond) {
      this.#written++;
      return true;
    }
    this.#unwritten.set(reason, (this.#unwritten.get(reason) ?? 0) + 1);
    return false;
  }

  /** Ends the second now: before the log ends, nothing is left untold. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#written = 0;
    const unwritten = Object.fromEntries(this.#unwritten);
    this.#unwritten = new Map();
    if (Object.keys(unwritten).length > 0) this.tell(unwritten);
  }
}
