/** Laps of the shared clock. */
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
