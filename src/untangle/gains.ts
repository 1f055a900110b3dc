import type { EnginePositions } from '../solver/engine.js';
import type { StateFindings } from '../verify/types.js';
import type { KeptDecision } from './sides.js';

/**
 * The strategy for contours whose side is a guess. PUSH: the wrong sides are pushed through. MIXED: they are pushed
 * through where the guess is clear, and the other contours are shortened. SHORTEN: all of them are shortened.
 */
export type Strategy = 'PUSH' | 'MIXED' | 'SHORTEN';

/**
 * Iterations without a gain after which the next strategy begins, at the best state. A sheet that passes through
 * another one as a whole keeps its number of pierces until it is through, so pushing gets the most iterations.
 */
const PATIENCE: Readonly<Record<Strategy, number>> = { PUSH: 6, MIXED: 3, SHORTEN: 3 };
const NEXT: Readonly<Record<Strategy, Strategy>> = { PUSH: 'MIXED', MIXED: 'SHORTEN', SHORTEN: 'PUSH' };

/** Iterations of pushing without a gain after which regions become wider, and by how many rings. */
const WIDENED_AFTER = 3;
const WIDER = 2;

/**
 * Iterations without a gain after which the untangling ends. Where sides are guesses, each strategy gets its full
 * number of iterations within twelve, whichever gained last, because a gain restarts the count of its own strategy. In
 * the remaining six, pushing with wider regions is tried once more if pushing gained last; otherwise the next
 * strategies follow. Where sides are not guesses, all iterations push.
 */
const HOPELESS = 18;

/** A state and its intersections. */
export interface Tested {
  readonly x: EnginePositions;
  /** the same, or the start itself, in the caller's unit */
  readonly at: Float64Array;
  readonly findings: StateFindings;
  /** the iteration that begins at this state, counted from 1 */
  readonly iteration: number;
}

/** Records the gains of iterations and chooses the strategy when they gain nothing. */
export class Gains {
  /** the state with the fewest pierces among those that are near enough to the start */
  best: Tested | undefined;
  strategy: Strategy = 'PUSH';
  /** the number never falls again */
  #wider = 0;
  #sinceBest = 0;
  /** iterations of this strategy without a gain */
  #inVain = 0;

  /** rings by which floods go beyond what they need */
  get rings(): number {
    return this.strategy === 'PUSH' ? this.#wider : 0;
  }

  /**
   * @param isGuessed whether the sides of most pierces are guesses; only then do the strategies differ
   * @returns BEST: this is the best state so far; BACK: the next iteration must begin at the best state; ON: it
   *   continues from here
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
    if (this.strategy === 'PUSH' && this.#inVain % WIDENED_AFTER === 0) this.#wider += WIDER;
    if (this.#inVain < PATIENCE[this.strategy]) return 'ON';
    this.#inVain = 0;
    this.strategy = isGuessed ? NEXT[this.strategy] : 'PUSH';
    return best ? 'BACK' : 'ON';
  }

  get isHopeless(): boolean {
    return this.#sinceBest >= HOPELESS;
  }
}

/** A guess with at least this confidence is clear. */
const CLEAR = 0.9;

export const isGuess = ({ why }: KeptDecision): boolean => why === 'SMALLER' || why === 'COST';

/** Whether a contour is shortened; otherwise its wrong side is pushed through. */
export function isShortened(decision: KeptDecision, strategy: Strategy): boolean {
  if (strategy === 'PUSH' || !isGuess(decision)) return false;
  return strategy === 'SHORTEN' || decision.why === 'COST' || decision.confidence < CLEAR;
}
