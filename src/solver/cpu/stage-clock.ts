import type { StageTimings } from '../../contract/report.js';

/** Shares out the time of a resolve: every lap goes to the stage that has just ended. */
export class StageClock {
  readonly #milliseconds: StageTimings = { search: 0, geometry: 0, backward: 0, forward: 0 };
  #since = performance.now();

  /** What has passed since the last lap belongs to no stage. */
  restart(): void {
    this.#since = performance.now();
  }

  lap(stage: keyof StageTimings): void {
    const now = performance.now();
    this.#milliseconds[stage] += now - this.#since;
    this.#since = now;
  }

  /** µs */
  get timings(): StageTimings {
    const { search, geometry, backward, forward } = this.#milliseconds;
    return { search: 1000 * search, geometry: 1000 * geometry, backward: 1000 * backward, forward: 1000 * forward };
  }
}
