import { COMPLETE_EVERY, PULL_BACK_PIECES } from '../../src/solver/constants.js';
import type { StrainElements } from '../../src/solver/strain/elements.js';
import type { Pass } from '../device/recording.js';
import { LIST_SLOT, PHASE, type Phase, SMALL_VERTICES, STEP_SLOT } from '../kernels/constants.js';
import type { Dispatcher } from './dispatcher.js';
import type { EdgePlan } from './edge-plan.js';
import type { StepRecorder, WideRounds } from './recorder.js';
import type { Stage } from './stage-clock.js';
import { StrainRecorder } from './strain-recorder.js';

export interface PullBackShape {
  readonly phase: Exclude<Phase, 0>;
  readonly sweeps: number;
  readonly wide: WideRounds;
  /** whether whole dispatches sweep large colours even if only acting edges are swept; this affects speed only */
  readonly hasDenseEdges: boolean;
  /** whether one workgroup sweeps (sweepSmall); this affects speed only, never the result */
  readonly isSmall: boolean;
  /** whether one workgroup makes the sweeps that do not visit all edges (sweepFew); this affects speed only */
  readonly isFew?: boolean;
  /** whether one workgroup selects the contacts (gpu/kernels/chosen); this affects speed only */
  readonly selectsAlone?: boolean;
}

/** The parts of a shape on which the sweeps of a step depend; further rounds of them must have the `isFew` of the first. */
export type SweepsShape = Omit<PullBackShape, 'phase'>;

/** The parts of a recorded step of the pull-back. */
export interface PullBackParts {
  /** whether the sweeps have made a y: the forward step towards it comes first */
  readonly hasAim: boolean;
  /** whether its sweeps had no room for their candidates: the forward step, and the search before it, are done */
  readonly isContinued: boolean;
  /** rounds of sweeps of the step that are done, after which limits of edges or strains require another one; 0 = none */
  readonly roundsDone: number;
  /** rounds to record, of which the device skips those that nothing requires */
  readonly rounds: number;
  /** whether the states between the pieces of the forward step are kept for the host */
  readonly showsPieces: boolean;
}

/**
 * Records the pull-back (PullBack in src/solver/cpu): the kernels of gpu/kernels/pull-back between those of Algorithm 1.
 *
 * A search runs between the sweeps of a step and its forward step, so that boxes contain the y that was pushed. Because
 * a search is recorded in one place, a recorded step is rotated: [search, forward step and decision of the last sweeps,
 * sweeps]. The first one of a phase has no forward step. A run that ends before its y is reached loses that y, which is
 * not a state.
 */
export class PullBackRecorder {
  readonly #dispatcher: Dispatcher;
  readonly #steps: StepRecorder;
  /** undefined = the mesh has no strain limits */
  readonly #strains: StrainRecorder | undefined;
  #edges: EdgePlan;

  constructor(dispatcher: Dispatcher, steps: StepRecorder, edges: EdgePlan, strains?: StrainElements) {
    this.#dispatcher = dispatcher;
    this.#steps = steps;
    this.#strains = strains && new StrainRecorder(dispatcher, strains);
    this.#edges = edges;
  }

  useEdges(edges: EdgePlan): void {
    this.#edges = edges;
  }

  /** Whether one workgroup may sweep a mesh of this many vertices. */
  isSmall(vertexCount: number): boolean {
    return vertexCount <= SMALL_VERTICES && !this.#strains && this.#dispatcher.has('sweepSmall');
  }

  /** Whether one workgroup may make sweeps in which few vertices take part. */
  get canSweepFew(): boolean {
    return !this.#strains && this.#dispatcher.has('sweepFew');
  }

  /** Opens a phase of a run that has paused for it and was armed again. */
  open(pass: Pass, phase: PullBackShape['phase'], vertexCount: number): void {
    const { count } = this.#edges;
    if (weighsAnew(phase)) {
      this.#dispatcher.direct(pass, phase === PHASE.PULL ? 'beginPull' : 'restoreBest', vertexCount);
      if (count > 0) this.#dispatcher.direct(pass, 'beginEdges', count);
      this.#strains?.open(pass, count);
      if (phase === PHASE.PULL) this.#dispatcher.indirect(pass, 'clearAims', STEP_SLOT.PAIRS);
      this.#aimAnew(pass, phase);
      this.weigh(pass);
      this.#dispatcher.direct(pass, 'openPull', 1);
    } else if (phase === PHASE.REFINE) {
      this.#aimAnew(pass, phase);
    } else {
      this.#dispatcher.direct(pass, 'restoreBest', vertexCount);
      this.#dispatcher.direct(pass, 'openShortening', 1);
      this.#aimAnew(pass, phase);
    }
    this.#dispatcher.direct(pass, 'awaitSearch', 1);
  }

  /** After a search and the update of the steps: the multipliers of the contacts follow their pairs. */
  afterSearch(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'gatherMultipliers', STEP_SLOT.CARRIED);
    this.#dispatcher.indirect(pass, 'settleMultipliers', STEP_SLOT.CARRIED);
  }

  /** @param enter gives the pass of the stage that begins */
  step(enter: (stage: Stage) => Pass, shape: PullBackShape, parts: PullBackParts): void {
    if (parts.roundsDone === 0) this.#beforeSweeps(enter, shape, parts);
    const pass = enter('backward');
    this.sweepRounds(pass, shape, parts);
    this.#strains?.end(pass);
    this.#dispatcher.indirect(pass, 'aim', STEP_SLOT.VERTICES);
    this.#dispatcher.direct(pass, 'awaitSearch', 1);
  }

  /** Rounds of sweeps of a step. */
  sweepRounds(
    pass: Pass,
    shape: SweepsShape,
    { roundsDone, rounds }: Pick<PullBackParts, 'roundsDone' | 'rounds'>,
  ): void {
    for (let round = 0; round < rounds; round++) this.sweeps(pass, shape, roundsDone + round);
    if (rounds > 1) this.#dispatcher.direct(pass, 'endSweeps', 1);
  }

  /** The forward step of the previous sweeps, its decision, and the rows of the next sweeps. */
  #beforeSweeps(enter: (stage: Stage) => Pass, shape: PullBackShape, parts: PullBackParts): void {
    if (parts.hasAim && !parts.isContinued) {
      const pass = enter('forward');
      this.forward(pass, parts.showsPieces);
      this.#steps.watch(pass);
      this.#dispatcher.indirect(pass, 'findShortfalls', STEP_SLOT.PAIRS);
      this.weigh(pass);
      this.#dispatcher.direct(pass, 'decidePull', 1);
      this.#aimAnew(pass, shape.phase);
    }
    if (!parts.hasAim && !parts.isContinued) this.rate(enter('forward'), shape.phase);
    this.#steps.findContacts(enter('geometry'));
    this.#steps.selectContacts(enter('backward'), shape.selectsAlone);
  }

  /** Before the first sweeps of a phase: the aims of pairs that a search has found, and Φ of the initial state. */
  rate(pass: Pass, phase: Phase): void {
    this.#dispatcher.indirect(pass, 'findShortfalls', STEP_SLOT.PAIRS);
    if (!weighsAnew(phase)) return;
    this.weigh(pass);
    this.#dispatcher.direct(pass, 'ratePull', 1);
    this.#dispatcher.indirect(pass, 'keepBest', STEP_SLOT.VERTICES);
  }

  /**
   * The sweeps of a step over edge limits, strain limits and contact rows, and the storing of their results; a step may
   * pause after them for another round.
   *
   * @param roundsDone rounds of the step before this one
   */
  sweeps(pass: Pass, { sweeps, wide, hasDenseEdges, isSmall, isFew }: SweepsShape, roundsDone = 0): void {
    if (roundsDone > 0) this.#dispatcher.direct(pass, 'continueSweeps', 1);
    else this.#steps.colourContacts(pass, wide);
    if (isSmall) {
      this.#dispatcher.indirect(pass, 'sweepSmall', STEP_SLOT.ONE);
      this.#judgeLengths(pass);
      return;
    }
    if (roundsDone > 0) this.#closePass(pass, true);
    else {
      this.#dispatcher.overCandidates(pass, 'takeMultipliers', LIST_SLOT.CANDIDATES);
      // Pass 0 moves y by the multipliers with which the step begins.
      this.#strains?.begin(pass);
      this.#limitEdges(pass, hasDenseEdges);
      this.#steps.contactSweep(pass, wide, 'warm');
      this.#closePass(pass, false);
    }
    const last = (roundsDone + 1) * sweeps;
    for (let n = roundsDone * sweeps + 1; n <= last; n++) {
      if (isFew && !isCompletePass(n)) {
        this.#dispatcher.indirect(pass, 'sweepFew', STEP_SLOT.ONE);
        while (n < last && !isCompletePass(n + 1)) n++;
        if (n < last) this.#closePass(pass, true);
        continue;
      }
      this.#limitEdges(pass, hasDenseEdges || isCompletePass(n));
      this.#strains?.sweep(pass);
      this.#steps.contactSweep(pass, wide, 'warm');
      // The last sweep is not extrapolated, because extrapolation would violate the rows that it has just projected.
      if (n < last) this.#closePass(pass, true);
    }
    this.#dispatcher.overCandidates(pass, 'keepMultipliers', LIST_SLOT.CANDIDATES);
    this.#strains?.judge(pass);
    this.#judgeLengths(pass);
  }

  /** Whether edges require another round of sweeps if strains do not. */
  #judgeLengths(pass: Pass): void {
    if (this.#edges.count === 0) return;
    this.#dispatcher.indirect(pass, 'weighLengths', STEP_SLOT.SUMS);
    this.#dispatcher.direct(pass, 'judgeLengths', 1);
  }

  #closePass(pass: Pass, isSweep: boolean): void {
    if (isSweep) this.#dispatcher.indirect(pass, 'turn', STEP_SLOT.SUMS);
    this.#dispatcher.direct(pass, 'closeSweep', 1);
    this.#dispatcher.indirect(pass, 'extrapolate', STEP_SLOT.VERTICES);
  }

  /**
   * The forward step: pieces in which edges hold back vertices whose neighbours are held. The device skips those that
   * follow when every vertex has reached y.
   */
  forward(pass: Pass, showsPieces = false): void {
    for (let piece = 0; piece < PULL_BACK_PIECES; piece++) {
      if (piece > 0) this.#dispatcher.direct(pass, 'nextPiece', 1);
      if (piece > 0 && showsPieces) this.#dispatcher.indirect(pass, 'showPiece', STEP_SLOT.VERTICES);
      this.#steps.bound(pass);
      this.holdBack(pass);
      this.#steps.commit(pass);
    }
    this.#dispatcher.direct(pass, 'endPieces', 1);
    this.#dispatcher.indirect(pass, 'settleStep', STEP_SLOT.VERTICES);
  }

  /** Reduces α of vertices whose edges would grow past their limits, or whose neighbours in an element are held. */
  holdBack(pass: Pass): void {
    if (this.#edges.count > 0) {
      this.#dispatcher.indirect(pass, 'listHeld', STEP_SLOT.EDGES);
      this.#dispatcher.indirect(pass, 'holdBack', STEP_SLOT.ONE);
    }
    this.#strains?.holdBack(pass);
  }

  /** At the end of a run: x becomes the best state, and r shows which vertices are not settled. */
  conclude(pass: Pass, vertexCount: number): void {
    this.#dispatcher.direct(pass, 'restoreBest', vertexCount);
    this.#dispatcher.direct(pass, 'conclude', vertexCount);
    this.#dispatcher.direct(pass, 'closeRun', 1);
  }

  /** Parts of Φ of x, and of its change from that of the best state. */
  weigh(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'weigh', STEP_SLOT.SUMS);
    this.#strains?.weigh(pass);
  }

  #aimAnew(pass: Pass, phase: Phase): void {
    const isShortening = phase === PHASE.SHORTEN;
    this.#dispatcher.indirect(pass, isShortening ? 'holdStill' : 'rebuild', STEP_SLOT.AIMS);
    if (!isShortening) this.#strains?.settlePaces(pass);
  }

  /** @param isWide whole dispatches sweep the large colours */
  #limitEdges(pass: Pass, isWide: boolean): void {
    const { wideColours, colours } = this.#edges;
    const first = wideColours + 1;
    for (let c = 0; isWide && c < wideColours; c++) {
      this.#dispatcher.indirect(pass, 'limitsWide', STEP_SLOT.FIRST_EDGES + c, first + c);
    }
    // Even if every colour is a wide one: few of its edges may act.
    const tail = isWide ? first + wideColours : 2 * first;
    if (colours.length > 1) this.#dispatcher.indirect(pass, 'limitsTail', STEP_SLOT.ONE, tail);
  }
}

/** Whether a phase begins with cold multipliers, and with Φ of the state from which it goes on. */
const weighsAnew = (phase: Phase): boolean =>
  phase !== PHASE.ADVANCE && phase !== PHASE.SHORTEN && phase !== PHASE.REFINE;

/** As in pull-back/passes.wgsl: such a sweep visits all edges. */
const isCompletePass = (n: number): boolean => (n - 1) % COMPLETE_EVERY === 0;
