import type { Phase } from '../kernels/constants.js';
import { PHASE, SEARCH_MODE, STATE } from '../kernels/constants.js';
import type { ControlBlock } from './answer.js';
import type { Precedes } from './batch.js';
import { LookAhead } from './look-ahead.js';

/** The steps and searches that are recorded and submitted next. */
export interface Submission {
  /** 0 = only what was recorded so far, and a search if one precedes */
  readonly steps: number;
  /** what precedes the first of them */
  readonly precedes: Precedes;
  /** what precedes each of the others */
  readonly between: Precedes;
}

/**
 * If a search is due before one step in this many, it is recorded before every step about which nothing is known. The
 * value rests on estimates: 120 µs for an empty search of 20 dispatches, and 200 to 250 µs for a pause with its reading
 * and the unused steps after it, which is as much as the unused searches between two that are due, if one is due before
 * one step in 2.7 to 3.1. On an H100 such a search takes 130 µs; what a pause costs there was not measured.
 */
const OFTEN = 2.7;

/** Steps of a phase, and the searches before them. */
interface Habit {
  readonly steps: number;
  readonly searches: number;
}

/**
 * Decides how many steps a run of one scene submits, and where a search is recorded. Unused submissions cost their
 * dispatches: a search when none is due, or steps after a pause. Submitting too little costs a reading of the status.
 */
export class SubmissionPlan {
  readonly #lookAhead = new LookAhead();
  /** by phase, of this request and, with half the weight each time, of earlier ones */
  readonly #habits = new Map<Phase, Habit>();
  #phase: Phase = PHASE.ADVANCE;
  /** searches of the request so far */
  #searches = 0;
  /** whether P had room for the result of a search, so that another search is likely to end without a pause */
  #hasKnownRoom: boolean;
  /** what precedes the next step if no step is in flight */
  #precedes: Precedes = 'SEARCH';
  /** whether a search precedes the first step of the phase, and its status was not read */
  #beginsWithSearch = false;
  /** whether the opening of the request is likely to end it, or to request another phase */
  #opensAlone = false;
  /** whether the request began with a valid P, and no status of it has been read */
  #mayReuse = false;
  /** whether the last request that began with a valid P searched before its first step; undefined = there was none */
  #outgrewPairs: boolean | undefined;

  /** @param searchesOnHost whether the run pauses for each search, and none is recorded */
  constructor(searchesOnHost: boolean) {
    this.#hasKnownRoom = searchesOnHost;
  }

  /**
   * Begins a request.
   *
   * @param hasPairs whether P is valid; the opening decides whether it serves the request
   * @param isEarly whether the pull-back follows at once unless kinematic vertices move
   */
  begin(hasPairs: boolean, isEarly: boolean): void {
    this.#searches = 0;
    this.#open(PHASE.ADVANCE);
    this.#mayReuse = hasPairs;
    this.#opensAlone = isEarly;
    this.#precedes = hasPairs && this.#outgrewPairs !== true ? 'WATCH' : 'SEARCH';
    this.#beginsWithSearch = this.#precedes === 'SEARCH';
  }

  /** Begins another phase. @param wantsSearch the word of the control block */
  enter(phase: Phase, wantsSearch: number): void {
    this.#open(phase);
    this.#precedes = precedesOf(wantsSearch);
    this.#beginsWithSearch = this.#precedes === 'SEARCH';
  }

  /**
   * @param inFlight steps that are submitted and whose status was not read
   * @param most steps of one submission
   * @param left steps that the limit allows beyond those in flight
   * @param isStepwise one step at a time
   */
  next(inFlight: number, most: number, left: number, isStepwise: boolean): Submission {
    const between = this.#searchesOften ? 'SEARCH' : 'WATCH';
    if (left <= 0 || this.#opensAlone) return { steps: 0, precedes: 'NONE', between };
    const precedes = inFlight > 0 ? between : this.#precedes;
    // Reading its status is cheap and shows whether a search is due.
    if (isStepwise && precedes === 'WATCH') return { steps: 0, precedes, between };
    if (precedes === 'SEARCH' && inFlight === 0 && !this.#hasKnownRoom) return { steps: 0, precedes, between };
    const isUncertain = this.#mayReuse && this.#outgrewPairs === undefined;
    const allowed = isStepwise || isUncertain ? 1 : this.#lookAhead.most;
    // In two submissions, so that the second one runs while the status of the first is read.
    const wanted = inFlight === 0 ? Math.ceil(allowed / 2) : allowed - inFlight;
    return { steps: Math.max(0, Math.min(most, left, wanted)), precedes, between };
  }

  /** Notes the status of a submission. @param done number of submitted steps that the device has done */
  observe(control: ControlBlock, submitted: number, done: number): void {
    const searched = control.searches - this.#searches;
    this.#lookAhead.observe(submitted, done, searched > 0 && !this.#searchesOften);
    const { steps, searches } = this.#habit;
    // A search that begins a phase does not predict searches between its steps.
    const ofHabit = this.#beginsWithSearch ? Math.max(0, searched - 1) : searched;
    if (searched > 0 || done > 0) this.#beginsWithSearch = false;
    this.#habits.set(this.#phase, { steps: steps + done, searches: searches + ofHabit });
    this.#searches = control.searches;
    this.#opensAlone = false;
    if (this.#mayReuse) this.#outgrewPairs = control.isReused === 0 || searched > 0 || (done === 0 && isDue(control));
    this.#mayReuse = false;
    if (control.searches > 0) this.#hasKnownRoom = true;
    this.#precedes = precedesOf(control.wantsSearch);
  }

  /** Notes that this many submitted steps did nothing, because the run had paused or ended. */
  discard(steps: number): void {
    this.#lookAhead.discard(steps);
  }

  /** Notes that the run continues with this control block after it has paused in `state`. */
  resume(state: number, { wantsSearch }: Pick<ControlBlock, 'wantsSearch'>): void {
    this.#lookAhead.pause(state === STATE.NEEDS_SEARCH || state === STATE.NEEDS_SWEEPS);
    if (wantsSearch === SEARCH_MODE.RESUME) this.#hasKnownRoom = true;
    const isWithinStep =
      state === STATE.NEEDS_CANDIDATES || state === STATE.NEEDS_ROUNDS || state === STATE.NEEDS_SWEEPS;
    // A search that is wanted there precedes the step after this one.
    this.#precedes = isWithinStep ? 'NONE' : precedesOf(wantsSearch);
  }

  /** Notes that a phase has ended by itself. */
  end(): void {
    this.#lookAhead.end();
  }

  #open(phase: Phase): void {
    this.#phase = phase;
    this.#lookAhead.enter(phase);
    const { steps, searches } = this.#habit;
    this.#habits.set(phase, { steps: steps / 2, searches: searches / 2 });
  }

  get #habit(): Habit {
    return this.#habits.get(this.#phase) ?? { steps: 0, searches: 0 };
  }

  get #searchesOften(): boolean {
    const { steps, searches } = this.#habit;
    return searches > 0 && OFTEN * searches >= steps;
  }
}

const isDue = ({ wantsSearch }: Pick<ControlBlock, 'wantsSearch'>): boolean => wantsSearch !== SEARCH_MODE.NONE;

const precedesOf = (wantsSearch: number): Precedes => (isDue({ wantsSearch }) ? 'SEARCH' : 'NONE');
