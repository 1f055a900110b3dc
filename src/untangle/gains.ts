import type { EnginePositions } from '../solver/engine.js';
import type { StateFindings } from '../verify/types.js';

/** Iterations without a gain after which regions are widened, by so many rings; after which guesses are made the other way; and after which there is no hope. */
const PATIENCE = 3;
const WIDER = 2;
const OTHER_WAY = 6;
const HOPELESS = 15;

/** A state and what was found in it. */
export interface Tested {
  readonly x: EnginePositions;
  /** the same, or the start itself, in the caller's unit */
  readonly at: Float64Array;
  readonly findings: StateFindings;
}

/** What iterations have gained, and what is tried where they gain nothing. */
export class Gains {
  /** of those that are near enough, the state with the fewest pierces */
  best: Tested | undefined;
  /** rings by which floods go beyond what they need */
  rings = 0;
  /** whether contours that nothing decides are made shorter, in place of their smaller sides being pushed through */
  shortens = false;
  #sinceBest = 0;

  /** @returns BEST; BACK: the next iteration is to begin at the best state; ON: it is to go on */
  note(state: Tested, isNear: () => boolean): 'BEST' | 'BACK' | 'ON' {
    const { best } = this;
    if (state.findings.intersectionCount < (best?.findings.intersectionCount ?? Infinity) && isNear()) {
      this.best = state;
      this.#sinceBest = 0;
      return 'BEST';
    }
    if (++this.#sinceBest % PATIENCE === 0) this.rings += WIDER;
    if (this.#sinceBest % OTHER_WAY !== 0) return 'ON';
    this.shortens = !this.shortens;
    return best ? 'BACK' : 'ON';
  }

  get isHopeless(): boolean {
    return this.#sinceBest >= HOPELESS;
  }
}
