import { MORE_SWEEPS } from '../constants.js';

/**
 * Decides when further rounds of sweeps in a step are useless. A sweep carries a pull by about one ring of elements, so
 * a mesh that is stretched as a whole needs several times as many sweeps as it is wide. An excess that contacts prevent from falling is accepted.
 */
export class SweepRounds {
  #leastExcess = Number.POSITIVE_INFINITY;
  #bestRound = 0;

  /** The sweeps of a step begin. */
  begin(): void {
    this.#leastExcess = Number.POSITIVE_INFINITY;
    this.#bestRound = 0;
  }

  /**
   * @param excess of y after a round, Σ of squares
   * @param rounds so far, from 1
   * @returns whether another round may lower it: it has reached a new low, by a tenth, in the last ones
   */
  mayFall(excess: number, rounds: number): boolean {
    if (excess < MORE_SWEEPS.gain * this.#leastExcess) {
      this.#leastExcess = excess;
      this.#bestRound = rounds;
    }
    return rounds < MORE_SWEEPS.rounds && rounds - this.#bestRound < MORE_SWEEPS.patience;
  }
}
