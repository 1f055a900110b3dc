import type { Status } from '../../contract/report.js';
import {
  EXCESS_WEIGHT,
  HEAP_MIN_GAIN,
  HEAP_SHORTENING_GAIN,
  MAX_HELD_SHORTENINGS,
  MAX_HELD_STEPS,
  MAX_POOR_SHORTENINGS,
  MAX_POOR_STEPS,
  MIN_SHORTENING_GAIN,
  SWEPT_EXCESS,
} from '../constants.js';
import type { PullBackPlan } from '../scattered-targets.js';

/** One step of the pull-back, as its end depends on it. */
export interface Gained {
  /** (Φ_best − Φ) / Φ_best */
  readonly gain: number;
  /** what the step cost, over what a cheap one does: at least 1 */
  readonly cost: number;
  /** a vertex on its way to a far target has come nearer by a good part of its leap */
  readonly isLeaping: boolean;
  /** a trust box holds a vertex */
  readonly isHeld: boolean;
  /** no vertex wanted to move: the next step would find the same */
  readonly isStill: boolean;
  /** share of Φ that comes from edges and strains over their limits */
  readonly excess: number;
}

/**
 * Counts the steps in a row that gained too little, and says when they end the phase.
 *
 * Too little is less than minGain. Where a mesh is drawn together to a heap, thousands of pairs a vertex make a step a hundred times
 * dearer, and it gains less and less: the vertices creep into each other for as long as they may. There a step must gain
 * HEAP_MIN_GAIN times what it costs over a cheap one, if that is more.
 *
 * Edges over their limits make Φ rise and fall: a step stretches some, the next one shortens them, and both may come nearer to y*. Where
 * their part of Φ is larger than minGain, which is what is asked of a step, sweeps go on from then on until they leave less.
 */
export class PoorSteps {
  readonly #plan: Pick<PullBackPlan, 'minGain' | 'isEarly'>;
  #count = 0;

  constructor(plan: Pick<PullBackPlan, 'minGain' | 'isEarly'>) {
    this.#plan = plan;
  }

  /** one of them was poor because of edges over their limits */
  #isThorough = false;

  /** Whether the last step was one of them. */
  get hasAny(): boolean {
    return this.#count > 0;
  }

  /** What edges over their limits may add up to after the sweeps of a step, or these go on. @param best Φ of the best state */
  mostExcess(best: number): number {
    return this.#isThorough ? (SWEPT_EXCESS * best) / EXCESS_WEIGHT : Number.POSITIVE_INFINITY;
  }

  /** @returns how the phase ends with this step; undefined = it goes on */
  after({
    gain,
    cost,
    isLeaping,
    isHeld,
    isStill,
    excess,
  }: Gained): Extract<Status, 'CONVERGED' | 'STALLED'> | undefined {
    const { minGain, isEarly } = this.#plan;
    const isHeap = cost > 1;
    const least = isHeap ? cost * Math.max(minGain, HEAP_MIN_GAIN) : minGain;
    if (gain >= least || (gain > 0 && isEarly && isLeaping)) {
      this.#count = 0;
      return undefined;
    }
    this.#count++;
    this.#isThorough ||= excess > minGain && !isHeap;
    if (isHeld) {
      // New boxes may let what they hold gain something; in a heap they cannot be larger.
      return this.#count >= (isHeap ? MAX_POOR_STEPS : MAX_HELD_STEPS) ? 'STALLED' : undefined;
    }
    return isStill || this.#count >= MAX_POOR_STEPS ? 'CONVERGED' : undefined;
  }
}

/** Counts the steps in a row that only shorten edges and took too little off what is over the limits, and says when they end. */
export class PoorShortenings {
  #count = 0;

  /**
   * One poor step says little: the planes between elements change from step to step, and what one step closes the next one may open. What a box
   * holds may go on in a new one, which the next step gets; not in a heap, where steps are dear.
   *
   * @param gain share of the excess that the step has taken off
   * @returns whether the step is the last one
   */
  after({ gain, cost, isHeld }: Pick<Gained, 'gain' | 'cost' | 'isHeld'>): boolean {
    const isHeap = cost > 1;
    this.#count = gain < (isHeap ? HEAP_SHORTENING_GAIN : MIN_SHORTENING_GAIN) ? this.#count + 1 : 0;
    if (isHeap) return this.#count > 0;
    return this.#count >= (isHeld ? MAX_HELD_SHORTENINGS : MAX_POOR_SHORTENINGS);
  }
}

/** What a step costs, over what a cheap one does. @param pairs in P */
export function costOfStep(pairs: number, { cheapPairs }: Pick<PullBackPlan, 'cheapPairs'>): number {
  return Math.max(1, pairs / cheapPairs);
}
