import type { Status } from '../../contract/report.js';
import { MAX_HELD_STEPS, MAX_POOR_STEPS } from '../constants.js';
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
}

/**
 * Counts the steps in a row that gained too little, and says when they end the phase: less than minGain, times what the step cost
 * over a cheap one. Where a mesh is drawn together to a heap, thousands of pairs a vertex make a step a hundred times dearer,
 * and it gains less and less: the vertices creep into each other for as long as they may.
 */
export class PoorSteps {
  readonly #plan: Pick<PullBackPlan, 'minGain' | 'isEarly'>;
  #count = 0;

  constructor(plan: Pick<PullBackPlan, 'minGain' | 'isEarly'>) {
    this.#plan = plan;
  }

  /** Whether the last step was one of them. */
  get hasAny(): boolean {
    return this.#count > 0;
  }

  /** @returns how the phase ends with this step; undefined = it goes on */
  after({ gain, cost, isLeaping, isHeld }: Gained): Extract<Status, 'CONVERGED' | 'STALLED'> | undefined {
    if (gain >= cost * this.#plan.minGain || (gain > 0 && this.#plan.isEarly && isLeaping)) {
      this.#count = 0;
      return undefined;
    }
    this.#count++;
    if (this.#count >= MAX_POOR_STEPS && !isHeld) return 'CONVERGED';
    // New boxes may let what they hold gain something; in a heap they cannot be larger.
    return this.#count >= (cost > 1 ? MAX_POOR_STEPS : MAX_HELD_STEPS) ? 'STALLED' : undefined;
  }
}

/** What a step costs, over what a cheap one does. @param pairs in P */
export function costOfStep(pairs: number, { cheapPairs }: Pick<PullBackPlan, 'cheapPairs'>): number {
  return Math.max(1, pairs / cheapPairs);
}
