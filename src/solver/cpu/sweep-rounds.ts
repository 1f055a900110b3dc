import { MORE_SWEEPS } from '../constants.js';

/**
 * Decides when further rounds of sweeps in a step are useless. A sweep carries a pull by about one ring of elements, so
 * a mesh that is stretched as a whole needs several times as many sweeps as it is wide. An excess that contacts prevent
 * from falling is accepted.
 */
export class SweepRounds {
  #leastExcess = Number.POSITIVE_INFINITY;
  #bestRound = 0;

  /** Begins the sweeps of a step. */
  begin(): void {
    this.#leastExcess = Number.POSITIVE_INFINITY;
    this.#bestRound = 0;
  }

  /**
   * @param excess of y after a round, Σ of squares
   * @param rounds number of rounds so far, at least 1
   * @returns whether another round may reduce it: the last rounds have reached a new minimum, lower by a tenth
   */
  mayFall(excess: number, rounds: number): boolean {
    if (excess < MORE_SWEEPS.fallenTo * this.#leastExcess) {
      this.#leastExcess = excess;
      this.#bestRound = rounds;
    }
    return rounds < MORE_SWEEPS.rounds && rounds - this.#bestRound < MORE_SWEEPS.patience;
  }
}
