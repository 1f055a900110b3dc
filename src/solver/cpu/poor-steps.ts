import type { Status } from '../../contract/report.js';
import {
  CLOSED_CHEAPER,
  EXCESS_WEIGHT,
  HEAP_MIN_GAIN,
  HEAP_SHORTENING_GAIN,
  MAX_HELD_SHORTENINGS,
  MAX_HELD_STEPS,
  MAX_POOR_SHORTENINGS,
  MAX_POOR_STEPS,
  MIN_SHORTENING_GAIN,
  MOST_RESUMPTIONS,
  PULL_BACK_PIECES,
  SWEPT_EXCESS,
} from '../constants.js';
import type { PullBackPlan } from '../scattered-targets.js';
import type { PullStage } from '../settings.js';

/** The properties of a step of the pull-back that decide whether the phase ends. */
export interface Gained {
  /** (Φ_best − Φ) / Φ_best */
  readonly gain: number;
  /** the same of the vertices near their targets (Merit.nearGain) */
  readonly nearGain: number;
  /** the cost of the step, relative to a cheap step; at least 1 */
  readonly cost: number;
  /** the gain that a mesh on its way requires (Merit.leastGain); absent = the mesh is not on its way */
  readonly leastGain?: number | undefined;
  /** whether a vertex with a distant target has come nearer by a sufficient part of a leap */
  readonly isLeaping: boolean;
  /** whether a trust box holds a vertex */
  readonly isHeld: boolean;
  /** whether no vertex wanted to move, so that the next step would be the same */
  readonly isStill: boolean;
  /** share of Φ that comes from edges and strains over their limits */
  readonly excess: number;
  /** whether hardly any vertex could make its motion (JAMMED_SHARE), and whether half of them could not (CLOSED_SHARE) */
  readonly isJammed: boolean;
  readonly isClosed: boolean;
}

/**
 * Counts poor steps in a row, and decides when they end the phase.
 *
 * A step is poor if it gains less than minGain, of Φ and of the terms of the vertices near their targets. If a mesh
 * contracts to a heap, thousands of pairs per vertex make a step a hundred times as expensive, and it gains less and less
 * without end. There a step must gain minGain of Φ, or HEAP_MIN_GAIN if that is more, times its cost relative to a cheap step.
 *
 * Far from its targets a mesh may come nearer by little in each step, while bodies slide off each other or around what is in
 * their way, and all at once afterwards. A share of Φ says little of that: with d the mean distance, a step that comes nearer
 * by s gains 2 s/d. So on its way a mesh need not gain more than with s = LEAST_PROGRESS δ (Merit.leastGain).
 *
 * Edges over their limits make Φ rise and fall: one step stretches some edges, the next one shortens them, and both may
 * come nearer to y*. After a poor step in which their part of Φ is larger than minGain, the required gain, the sweeps
 * of later steps continue until this part is small, and elements with strain limits get their rotations from the best
 * state (StrainLimits.begin).
 *
 * Where contacts stop a part of a mesh with strain limits and the rest goes on, such a step may leave a state far worse than
 * the best one, and those that follow need several to get lower again. After it, a step that lowers Φ by minGain, though not
 * below the best one, recovers: it does not count, and the poor steps before it stay counted. Three steps to worse states in
 * all end the phase, and the steps between them are few, because each takes its share off Φ.
 */
export class PoorSteps {
  readonly #minGain: number;
  readonly #isEarly: boolean;
  #count = 0;

  constructor({ minGain }: Pick<PullStage, 'minGain'>, { isEarly }: Pick<PullBackPlan, 'isEarly'>) {
    this.#minGain = minGain;
    this.#isEarly = isEarly;
  }

  #worse = 0;
  /** Φ of the last state beyond that of the best one, as a share of the latter; 0 = it was the best */
  #beyond = 0;
  /** whether, since the last good step, edges or strains over their limits have made one poor, and one has recovered from that */
  #wasTaut = false;
  #hasRecovered = false;
  /** what a cheap step must gain, as a share of Φ */
  #leastGain = 0;
  #isThorough = false;
  #hasGained = false;
  #isTaut = false;
  /** whether poor steps have ended the phase of a mesh on its way: no heap, no box, and something still wants to move */
  #isOnItsWay = false;
  #isClosed = false;

  /**
   * Whether edges or strains over their limits have ended the phase: the last steps were poor, although such edges are
   * more than minGain of Φ. Vertices that contacts stop then hold all others by edges that may not grow (hold-back), so
   * that neither these edges become shorter nor anything comes nearer to y*. The last steps shorten them, because few
   * vertices move there, and steps towards y* gain again afterwards.
   *
   * Where a step has recovered, such edges need not be as much of Φ in the last step: the steps before it have shortened
   * them, and lead to a state that is worse than the best one, from which the resumed phase begins.
   *
   * Far from y* such edges are a tiny part of Φ whatever they hold. There the phase may be resumed if the last step was
   * jammed: then all contacts are closed, a motion towards y* is granted as little of what would open them as of the
   * rest, and the last steps open them together with shortening edges.
   *
   * On its way, a mesh may be resumed once although no edge is over its limit, unless the last steps were all worse than the
   * best state: bodies in closed contact may be granted next to nothing in several steps in a row, and all of their motions
   * again with other multipliers.
   *
   * A phase that was resumed may be so again if it has gained something, and has lowered Φ since it ended the last time by
   * as much as a cheap step must gain. Its first state has lost what the last steps gave away to bring edges within their
   * limits. To gain that back, and to end with the same edges over their limits, is no progress.
   *
   * @param resumptions how often the phase has been resumed
   * @param best Φ of the best state
   * @param before the same where the phase ended the last time; needed if it has been resumed
   */
  mayResume(resumptions: number, best: number, before = Number.POSITIVE_INFINITY): boolean {
    if (resumptions === 0) return this.#isTaut || (this.#isOnItsWay && !this.gainsNothing);
    const hasGained = this.#hasGained && best <= (1 - this.#leastGain) * before;
    return this.#isTaut && resumptions < MOST_RESUMPTIONS && hasGained;
  }

  /** Whether a step was poor because of edges or strains over their limits. */
  get isThorough(): boolean {
    return this.#isThorough;
  }

  /** Whether as many steps in a row as end the phase were worse than the best state: nothing that moves gains by them. */
  get gainsNothing(): boolean {
    return this.#worse >= MAX_POOR_STEPS;
  }

  /** Whether the last step was poor. */
  get hasAny(): boolean {
    return this.#count > 0;
  }

  /** Whether the last step was poor and contacts were closed: further pieces of the next one would gain next to nothing. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Returns the largest excess of edges over their limits at which the sweeps of a step end.
   *
   * @param best Φ of the best state
   */
  mostExcess(best: number): number {
    return this.#isThorough ? (SWEPT_EXCESS * best) / EXCESS_WEIGHT : Number.POSITIVE_INFINITY;
  }

  /** @returns how the phase ends with this step; undefined = it continues */
  after({
    gain,
    nearGain,
    leastGain,
    cost,
    isLeaping,
    isHeld,
    isStill,
    excess,
    isJammed,
    isClosed,
  }: Gained): Extract<Status, 'CONVERGED' | 'STALLED'> | undefined {
    const minGain = this.#minGain;
    const isHeap = cost > 1;
    this.#leastGain = Math.min(minGain, leastGain ?? minGain);
    const least = isHeap ? cost * Math.max(minGain, HEAP_MIN_GAIN) : this.#leastGain;
    this.#worse = gain > 0 ? 0 : this.#worse + 1;
    const isRecovering = gain <= 0 && !isHeap && this.#wasTaut && this.#beyond + gain >= minGain * (1 + this.#beyond);
    this.#beyond = Math.max(0, -gain);
    const isEnough = gain >= least || (nearGain >= minGain && !isHeap) || (this.#isEarly && isLeaping);
    if (gain > 0 && isEnough) {
      this.#count = 0;
      this.#hasGained = true;
      this.#isClosed = false;
      this.#hasRecovered = false;
      this.#wasTaut = false;
      return undefined;
    }
    if (!isRecovering) this.#count++;
    this.#isClosed = isClosed;
    this.#hasRecovered ||= isRecovering;
    this.#wasTaut ||= excess > minGain && !isHeap;
    const isFarTaut = excess > 0 && isJammed && this.#isEarly;
    const isTaut = excess > minGain || isFarTaut || this.#hasRecovered;
    const hasEnded = !isHeap && !isHeld && !isStill;
    this.#isOnItsWay = leastGain !== undefined && hasEnded;
    this.#isTaut = isTaut && hasEnded;
    this.#isThorough ||= excess > minGain && !isHeap;
    if (isHeld) {
      // In new boxes the held vertices may gain something; in a heap new boxes cannot be larger.
      return this.#count >= (isHeap ? MAX_POOR_STEPS : MAX_HELD_STEPS) ? 'STALLED' : undefined;
    }
    return isStill || (this.#count >= MAX_POOR_STEPS && !isRecovering) ? 'CONVERGED' : undefined;
  }
}

/**
 * Counts the steps in a row that only shorten edges and removed too little of the excess, and decides when these steps
 * end.
 */
export class PoorShortenings {
  #count = 0;

  /**
   * A single poor step does not end them, because the planes between elements change from step to step, so that the
   * next step may move what this one could not. A vertex that its box holds may move on in the new box that the next
   * step gets. In a heap steps are too expensive for either.
   *
   * @param gain share of the excess that the step has removed
   * @returns whether the step is the last one
   */
  after({ gain, cost, isHeld }: Pick<Gained, 'gain' | 'cost' | 'isHeld'>): boolean {
    const isHeap = cost > 1;
    this.#count = gain < (isHeap ? HEAP_SHORTENING_GAIN : MIN_SHORTENING_GAIN) ? this.#count + 1 : 0;
    if (isHeap) return this.#count > 0;
    return this.#count >= (isHeld ? MAX_HELD_SHORTENINGS : MAX_POOR_SHORTENINGS);
  }
}

/** Returns the cost of a step relative to a cheap step. @param pairs number of pairs in P */
export function costOfStep(pairs: number, { cheapPairs }: Pick<PullBackPlan, 'cheapPairs'>): number {
  return Math.max(1, pairs / cheapPairs);
}

/**
 * Returns the most pieces of a forward step. Where even boxes without a leap overlap, P has more pairs than the
 * comfortable number (half of cheapPairs), and contacts stop nearly every vertex at once: further pieces then cost more
 * than the sweeps, and gain next to nothing. With a quarter of that number they cost about as much as the sweeps, and gain
 * next to nothing after a poor step that contacts have stopped.
 *
 * @param pairs number of pairs in P
 * @param isClosed whether the last step was such a one (PoorSteps.isClosed)
 */
export function mostPiecesOf(
  pairs: number,
  { cheapPairs }: Pick<PullBackPlan, 'cheapPairs'>,
  isClosed: boolean,
): number {
  const most = isClosed ? cheapPairs / CLOSED_CHEAPER : cheapPairs;
  return 2 * pairs > most ? 1 : PULL_BACK_PIECES;
}
