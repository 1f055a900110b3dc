/** ms; assumed before the first job has ended */
const FIRST_GUESS_MS = 1000;
/** Weight of the newest job in the running mean: about the last five count. */
const MEAN_WEIGHT = 0.2;

/** The running mean of durations. */
export class MeanDuration {
  ms = FIRST_GUESS_MS;

  note(ms: number): void {
    this.ms += (ms - this.ms) * MEAN_WEIGHT;
  }
}
