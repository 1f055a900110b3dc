import type { EnginePositions } from '../solver/engine.js';
import type { StateFindings } from '../verify/types.js';

/**
 * What is done with contours whose side is a guess: PUSH: what is wrong is pushed through. MIXED: so where the guess is clear; other
 * contours are made shorter. SHORTEN: all of them are.
 */
export type Way = 'PUSH' | 'MIXED' | 'SHORTEN';

/**
 * Iterations without a gain after which the next way is tried, from the best state. A sheet that goes through another one as a whole has
 * as many pierces until it is through, so pushing takes longest.
 */
const PATIENCE: Readonly<Record<Way, number>> = { PUSH: 6, MIXED: 3, SHORTEN: 3 };
const NEXT: Readonly<Record<Way, Way>> = { PUSH: 'MIXED', MIXED: 'SHORTEN', SHORTEN: 'PUSH' };

/** Iterations of pushing without a gain after which regions are wider, by so many rings. */
const WIDENED_AFTER = 3;
const WIDER = 2;

/**
 * Iterations without a gain after which it ends. Where sides are guessed, twelve are one turn of each way, whichever gained last, since a
 * gain gives its own way the whole patience again; the six that follow are pushing once more, with wider regions, where that gained
 * last, and else the ways whose turn it is. Where sides are not guessed, all are pushing.
 */
const HOPELESS = 18;

/** A state and what was found in it. */
export interface Tested {
  readonly x: EnginePositions;
  /** the same, or the start itself, in the caller's unit */
  readonly at: Float64Array;
  readonly findings: StateFindings;
  /** that begins at it, from 1 */
  readonly iteration: number;
}

/** What iterations have gained, and what is tried where they gain nothing. */
export class Gains {
  /** of those that are near enough, the state with the fewest pierces */
  best: Tested | undefined;
  way: Way = 'PUSH';
  /** rings; never fewer again */
  #wider = 0;
  #sinceBest = 0;
  /** iterations of this way without a gain */
  #inVain = 0;

  /** rings by which floods go beyond what they need */
  get rings(): number {
    return this.way === 'PUSH' ? this.#wider : 0;
  }

  /**
   * @param isGuessed whether the sides of most pierces are guesses, so that the ways differ
   * @returns BEST; BACK: the next iteration is to begin at the best state; ON: it is to go on
   */
  note(state: Tested, isGuessed: boolean, isNear: () => boolean): 'BEST' | 'BACK' | 'ON' {
    const { best } = this;
    if (state.findings.intersectionCount < (best?.findings.intersectionCount ?? Infinity) && isNear()) {
      this.best = state;
      this.#sinceBest = 0;
      this.#inVain = 0;
      return 'BEST';
    }
    this.#sinceBest++;
    this.#inVain++;
    if (this.way === 'PUSH' && this.#inVain % WIDENED_AFTER === 0) this.#wider += WIDER;
    if (this.#inVain < PATIENCE[this.way]) return 'ON';
    this.#inVain = 0;
    this.way = isGuessed ? NEXT[this.way] : 'PUSH';
    return best ? 'BACK' : 'ON';
  }

  get isHopeless(): boolean {
    return this.#sinceBest >= HOPELESS;
  }
}
