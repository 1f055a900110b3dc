import { LIST_SLOT, PHASE, type Phase, STEP_SLOT } from '../kernels/constants.js';
import type { Dispatcher } from './dispatcher.js';
import type { EdgePlan } from './edge-plan.js';
import { type StepRecorder, WIDE_ROUNDS } from './recorder.js';
import type { Stage } from './stage-clock.js';

export interface PullBackShape {
  readonly phase: Exclude<Phase, 0>;
  readonly sweeps: number;
  /** rounds of whole dispatches precede the tail of a contact sweep; this affects speed only, never the result */
  readonly isWide: boolean;
}

/** What a recorded step of the pull-back consists of. */
export interface PullBackParts {
  /** the sweeps have made a y: the forward step towards it comes first */
  readonly hasAim: boolean;
  /** its sweeps had no room for their candidates: the forward step, and the search before it, are done */
  readonly isContinued: boolean;
}

/**
 * Records the pull-back (PullBack in src/solver/cpu): the kernels of gpu/kernels/pull-back between those of Algorithm 1.
 *
 * A search comes between the sweeps of a step and its forward step, so that boxes hold the y that was pushed. As a search
 * is recorded in one place, a recorded step is rotated: [search, forward step and decision of the last sweeps, sweeps]. The
 * first one of a phase has no forward step. A run that ends before its y is reached loses that y, which is no state.
 */
export class PullBackRecorder {
  readonly #dispatcher: Dispatcher;
  readonly #steps: StepRecorder;
  #edges: EdgePlan;

  constructor(dispatcher: Dispatcher, steps: StepRecorder, edges: EdgePlan) {
    this.#dispatcher = dispatcher;
    this.#steps = steps;
    this.#edges = edges;
  }

  useEdges(edges: EdgePlan): void {
    this.#edges = edges;
  }

  /** Opens a phase of a run that has paused for it and was armed again. */
  open(pass: GPUComputePassEncoder, phase: PullBackShape['phase'], vertexCount: number): void {
    const { count } = this.#edges;
    if (phase === PHASE.PULL) {
      this.#dispatcher.direct(pass, 'beginPull', vertexCount);
      if (count > 0) this.#dispatcher.direct(pass, 'beginEdges', count);
      this.#dispatcher.indirect(pass, 'clearAims', STEP_SLOT.PAIRS);
      this.#aimAnew(pass, phase);
      this.weigh(pass);
      this.#dispatcher.direct(pass, 'openPull', 1);
    } else {
      this.#dispatcher.direct(pass, 'restoreBest', vertexCount);
      this.#dispatcher.direct(pass, 'openShortening', 1);
      this.#aimAnew(pass, phase);
    }
    this.#dispatcher.direct(pass, 'awaitSearch', 1);
  }

  /** After a search, and what it tells the steps: the multipliers of the contacts follow their pairs. */
  afterSearch(pass: GPUComputePassEncoder): void {
    this.#dispatcher.indirect(pass, 'gatherMultipliers', STEP_SLOT.CARRIED);
    this.#dispatcher.indirect(pass, 'settleMultipliers', STEP_SLOT.CARRIED);
  }

  /** @param enter gives the pass of the stage that begins */
  step(enter: (stage: Stage) => GPUComputePassEncoder, shape: PullBackShape, parts: PullBackParts): void {
    if (parts.hasAim && !parts.isContinued) {
      const pass = enter('forward');
      this.forward(pass);
      this.#steps.watch(pass);
      this.#dispatcher.indirect(pass, 'findShortfalls', STEP_SLOT.PAIRS);
      this.weigh(pass);
      this.#dispatcher.direct(pass, 'decidePull', 1);
      this.#dispatcher.indirect(pass, 'keepBest', STEP_SLOT.BEST);
      this.#aimAnew(pass, shape.phase);
    }
    if (!parts.hasAim && !parts.isContinued) this.rate(enter('forward'), shape.phase);
    this.#steps.findContacts(enter('geometry'));
    const pass = enter('backward');
    this.#steps.selectContacts(pass);
    this.sweeps(pass, shape);
    this.#dispatcher.indirect(pass, 'aim', STEP_SLOT.VERTICES);
    this.#dispatcher.direct(pass, 'awaitSearch', 1);
  }

  /** Before the first sweeps of a phase: the aims of pairs that a search has found, and Φ of the state that it begins with. */
  rate(pass: GPUComputePassEncoder, phase: Phase): void {
    this.#dispatcher.indirect(pass, 'findShortfalls', STEP_SLOT.PAIRS);
    if (phase !== PHASE.PULL) return;
    this.weigh(pass);
    this.#dispatcher.direct(pass, 'ratePull', 1);
    this.#dispatcher.indirect(pass, 'keepBest', STEP_SLOT.VERTICES);
  }

  /** All sweeps of a step over the contact rows and the edge limits, with what is kept of them. */
  sweeps(pass: GPUComputePassEncoder, { sweeps, isWide }: Pick<PullBackShape, 'sweeps' | 'isWide'>): void {
    this.#dispatcher.overCandidates(pass, 'takeMultipliers', LIST_SLOT.CANDIDATES);
    // Pass 0 moves y by the multipliers that the step begins with.
    for (let n = 0; n <= sweeps; n++) {
      this.#limitEdges(pass);
      this.#sweepContacts(pass, isWide);
      // The last one is not extrapolated: its y satisfies the rows as well as they can be.
      if (n === sweeps) break;
      if (n > 0) this.#dispatcher.indirect(pass, 'turn', STEP_SLOT.SUMS);
      this.#dispatcher.direct(pass, 'closeSweep', 1);
      this.#dispatcher.indirect(pass, 'extrapolate', STEP_SLOT.VERTICES);
    }
    this.#dispatcher.overCandidates(pass, 'keepMultipliers', LIST_SLOT.CANDIDATES);
  }

  /** The forward step, in which edges hold back vertices whose neighbours are held. */
  forward(pass: GPUComputePassEncoder): void {
    this.#steps.bound(pass);
    this.holdBack(pass);
    this.#steps.commit(pass);
    this.#dispatcher.indirect(pass, 'settleStep', STEP_SLOT.VERTICES);
  }

  /** Lowers α of vertices whose edges would grow past their limits. */
  holdBack(pass: GPUComputePassEncoder): void {
    if (this.#edges.count === 0) return;
    this.#dispatcher.indirect(pass, 'listHeld', STEP_SLOT.EDGES);
    this.#dispatcher.indirect(pass, 'holdBack', STEP_SLOT.ONE);
  }

  /** At the end of a run: x is the best state, and r says which vertices are not settled. */
  conclude(pass: GPUComputePassEncoder, vertexCount: number): void {
    this.#dispatcher.direct(pass, 'restoreBest', vertexCount);
    this.#dispatcher.direct(pass, 'conclude', vertexCount);
    this.#dispatcher.direct(pass, 'closeRun', 1);
  }

  /** Φ of x, and what it is above that of the best state. */
  weigh(pass: GPUComputePassEncoder): void {
    this.#dispatcher.indirect(pass, 'weigh', STEP_SLOT.SUMS);
    this.#dispatcher.indirect(pass, 'sumUp', STEP_SLOT.ONE);
  }

  #aimAnew(pass: GPUComputePassEncoder, phase: Phase): void {
    this.#dispatcher.indirect(pass, phase === PHASE.PULL ? 'rebuild' : 'holdStill', STEP_SLOT.VERTICES);
  }

  #limitEdges(pass: GPUComputePassEncoder): void {
    const { wideColours, colours } = this.#edges;
    const first = wideColours + 1;
    for (let c = 0; c < wideColours; c++) {
      this.#dispatcher.indirect(pass, 'limitsWide', STEP_SLOT.FIRST_EDGES + c, first + c);
    }
    // Also where every colour is a wide one: few of its edges may act.
    if (colours.length > 1) this.#dispatcher.indirect(pass, 'limitsTail', STEP_SLOT.ONE, first + wideColours);
  }

  #sweepContacts(pass: GPUComputePassEncoder, isWide: boolean): void {
    if (isWide) {
      for (let round = 0; round < WIDE_ROUNDS; round++) {
        this.#dispatcher.indirect(pass, 'openRound', STEP_SLOT.ONE);
        this.#dispatcher.overCandidates(pass, 'warmRound', LIST_SLOT.ROUND);
      }
    }
    this.#dispatcher.indirect(pass, 'warmTail', STEP_SLOT.ONE);
  }
}
