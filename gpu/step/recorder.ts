import type { Pass } from '../device/recording.js';
import { LIST_SLOT, STEP_SLOT } from '../kernels/constants.js';
import type { Dispatcher } from './dispatcher.js';
import { canListEdges, type EdgePlan } from './edge-plan.js';
import type { Stage } from './stage-clock.js';

/** The rounds of contacts that are whole dispatches and precede a tail; this affects speed only, never the result. */
export interface WideRounds {
  /** of a sweep */
  readonly rounds: number;
  /** of the colouring that precedes the sweeps of a step of the pull-back */
  readonly ordering: number;
  /** threads of each dispatch; a round may have more contacts, or fewer */
  readonly threads: number;
}

/** The projections of a contact sweep: those of Algorithm 1, or those of the pull-back with warm multipliers. */
export type SweepKind = 'sweep' | 'warm';

export interface StepShape {
  readonly sweeps: number;
  /** whether stuck vertices slide (half-space bound only) */
  readonly slides: boolean;
  readonly wide: WideRounds;
  /** whether edges are swept by lists of acting ones (gpu/kernels/listed); this affects speed only */
  readonly listsEdges?: boolean;
  /** whether one workgroup selects the contacts (gpu/kernels/chosen); this affects speed only */
  readonly selectsAlone?: boolean;
  /** whether λ of the rows stays with their pairs, for requests that ask what held each vertex (hold-reader.ts) */
  readonly keepsMultipliers?: boolean;
}

/**
 * Largest number of vertices whose lists of candidates one workgroup reserves: on an H100 it then takes about 40 µs,
 * while the two dispatches that do the same for any mesh take 6 µs, and more of the host's time.
 */
const RESERVED_ALONE = 32_768;

/**
 * Records the steps of one scene: the kernels of gpu/kernels/{backward,forward,control}, stage by stage in the order of
 * Algorithm 1 (TwoWay in src/solver/cpu). The device provides the size of every dispatch and so can switch steps off.
 */
export class StepRecorder {
  readonly #dispatcher: Dispatcher;
  readonly #isLarge: boolean;
  #edges: EdgePlan;

  /** @param vertexCount of the mesh; affects speed only */
  constructor(dispatcher: Dispatcher, edges: EdgePlan, vertexCount = 0) {
    this.#dispatcher = dispatcher;
    this.#edges = edges;
    this.#isLarge = vertexCount > RESERVED_ALONE;
  }

  useEdges(edges: EdgePlan): void {
    this.#edges = edges;
  }

  get edgeCount(): number {
    return this.#edges.count;
  }

  /** Whether edges may be swept by lists. */
  get canListEdges(): boolean {
    return canListEdges(this.#edges) && this.#dispatcher.has('sweepListed');
  }

  /** Whether one workgroup may select the contacts of a step. */
  get canSelectAlone(): boolean {
    return this.#dispatcher.has('selectAlone');
  }

  /**
   * Opens a request: edge constraints, residuals, reuse of P, the sizes of the first step's dispatches.
   *
   * @param hasPairs whether there is a P that may be reused
   */
  begin(enter: (stage: Stage) => Pass, vertexCount: number, hasPairs: boolean): void {
    if (this.#edges.count > 0) this.linearise(enter('backward'));
    const pass = enter('search');
    this.#dispatcher.direct(pass, 'begin', vertexCount);
    this.#dispatcher.direct(pass, 'open', 1);
    if (hasPairs) this.#dispatcher.indirect(pass, 'forget', STEP_SLOT.PAIRS);
  }

  linearise(pass: Pass): void {
    if (this.#edges.count > 0) this.#dispatcher.direct(pass, 'edgeRows', this.#edges.count);
  }

  /** Continues a run that had paused for the host. */
  arm(pass: Pass): void {
    this.#dispatcher.direct(pass, 'arm', 1);
  }

  /** Takes over the result of a search on the device; does nothing if none ran in this step. */
  afterSearch(pass: Pass): void {
    this.#dispatcher.direct(pass, 'afterSearch', 1);
  }

  /** If a step is recorded without a search, the run pauses if one is due. */
  watchForSearch(pass: Pass): void {
    this.#dispatcher.direct(pass, 'watchForSearch', 1);
  }

  /**
   * Packs residuals and limiters for the host, at the end of a run: `next` is overwritten.
   *
   * @param hasPairs whether P is valid, and its pairs are counted by kind
   */
  packAnswer(pass: Pass, vertexCount: number, hasPairs: boolean): void {
    this.#dispatcher.direct(pass, hasPairs ? 'countAndPack' : 'packAnswer', vertexCount);
  }

  /**
   * One step: geometry, backward step, forward step, decision.
   *
   * @param enter gives the pass of the stage that begins
   * @param isContinued whether the step has already begun and had no room for its candidates: its first edge sweep is
   *   done
   */
  step(enter: (stage: Stage) => Pass, shape: StepShape, isContinued: boolean): void {
    let pass: Pass;
    if (this.#edges.count > 0 && !isContinued) {
      pass = enter('backward');
      this.firstEdgeSweep(pass, shape);
    }
    pass = enter('geometry');
    this.findContacts(pass, shape.listsEdges && !isContinued);
    pass = enter('backward');
    this.selectContacts(pass, shape.selectsAlone);
    this.sweeps(pass, shape);
    if (shape.keepsMultipliers) {
      this.#dispatcher.indirect(pass, 'dropMultipliers', STEP_SLOT.PAIRS);
      this.#dispatcher.overCandidates(pass, 'keepMultipliers', LIST_SLOT.CANDIDATES);
    }
    this.#finish(enter, shape);
  }

  /** From the y of the sweeps to the decision. */
  #finish(enter: (stage: Stage) => Pass, { slides }: StepShape): void {
    const isJoined = slides && this.#dispatcher.has('slideAndGuard');
    if (slides && !isJoined) this.slide(enter('backward'));
    const pass = enter('forward');
    if (isJoined) {
      this.#dispatcher.indirect(pass, 'slideAndGuard', STEP_SLOT.VERTICES);
      this.#boundPairs(pass);
      this.#write(pass);
      this.#dispatcher.indirect(pass, 'commitAndWatch', STEP_SLOT.VERTICES);
    } else {
      this.advance(pass);
      this.watch(pass);
    }
    this.#dispatcher.direct(pass, 'decide', 1);
  }

  /** The first sweep of a step over edges, before the geometry. With lists it also opens the contact part. */
  firstEdgeSweep(pass: Pass, { listsEdges }: Pick<StepShape, 'listsEdges'>): void {
    if (!listsEdges) {
      this.edgeSweep(pass, true);
      return;
    }
    this.#dispatcher.indirect(pass, 'openStep', STEP_SLOT.OPENING);
    this.#dispatcher.indirect(pass, 'sweepListedEdges', STEP_SLOT.ONE);
  }

  /** The later sweeps of a step. */
  sweeps(pass: Pass, { sweeps, wide, listsEdges }: Pick<StepShape, 'sweeps' | 'wide' | 'listsEdges'>): void {
    if (listsEdges && wide.rounds === 0) {
      this.#dispatcher.indirect(pass, 'sweepListed', STEP_SLOT.ONE);
      return;
    }
    this.contactSweep(pass, wide);
    for (let n = 1; n < sweeps; n++) {
      this.edgeSweep(pass, false);
      this.contactSweep(pass, wide);
    }
  }

  /** One sweep over the edge length constraints (Eq. 13). */
  edgeSweep(pass: Pass, isFirst: boolean): void {
    const { wideColours, colours } = this.#edges;
    const first = isFirst ? 0 : wideColours + 1;
    for (let c = 0; c < wideColours; c++) {
      this.#dispatcher.indirect(pass, 'edgesWide', STEP_SLOT.FIRST_EDGES + c, first + c);
    }
    if (colours.length - 1 > wideColours) {
      this.#dispatcher.indirect(pass, 'edgesTail', STEP_SLOT.ONE, first + wideColours);
    }
  }

  /**
   * Lists the pairs that may be close, and measures them: the candidates of this step.
   *
   * @param isOpen whether the first sweep over edges has opened the contact part of the step
   */
  findContacts(pass: Pass, isOpen = false): void {
    if (!isOpen) this.#dispatcher.indirect(pass, 'prepare', STEP_SLOT.VERTICES);
    this.#dispatcher.indirect(pass, 'listForGeometry', STEP_SLOT.PAIRS);
    this.#dispatcher.overCandidates(pass, this.#countsCandidates ? 'countedGeometry' : 'geometry', LIST_SLOT.NEAR);
  }

  /** Whether the geometry counts the candidates of each vertex (gpu/kernels/chosen). */
  get #countsCandidates(): boolean {
    return this.#dispatcher.has('countedGeometry');
  }

  /** Selects the contacts among the candidates and makes the rows of the sweep, in order. */
  selectContacts(pass: Pass, isAlone = false): void {
    if (isAlone) {
      // It writes the sizes of indirect dispatches, so it cannot be one itself.
      this.#dispatcher.direct(pass, 'selectAlone', 1);
      return;
    }
    if (this.#countsCandidates) {
      if (this.#isLarge) {
        this.#dispatcher.direct(pass, 'afterGeometry', 1);
        this.#dispatcher.indirect(pass, 'offsets', STEP_SLOT.VERTICES);
      } else this.#dispatcher.direct(pass, 'reserveLists', 1);
      for (const entry of ['fill', 'selectUnique', 'chooseRows', 'linkRows'] as const) {
        this.#dispatcher.overCandidates(pass, entry, LIST_SLOT.CANDIDATES);
      }
      return;
    }
    this.#dispatcher.direct(pass, 'afterGeometry', 1);
    this.#dispatcher.overCandidates(pass, 'count', LIST_SLOT.CANDIDATES);
    this.#dispatcher.indirect(pass, 'offsets', STEP_SLOT.VERTICES);
    for (const entry of ['fill', 'selectUnique', 'rank', 'contactRows', 'listRows', 'linkRows'] as const) {
      this.#dispatcher.overCandidates(pass, entry, LIST_SLOT.CANDIDATES);
    }
  }

  /** One sweep over the contacts (Eq. 9). */
  contactSweep(pass: Pass, { rounds, threads }: WideRounds, kind: SweepKind = 'sweep'): void {
    for (let round = 0; round < rounds; round++) this.#dispatcher.direct(pass, `${kind}Round`, threads, round);
    this.#dispatcher.indirect(pass, `${kind}Tail`, STEP_SLOT.ONE, rounds);
  }

  /** Colours the contacts of a step of the pull-back, whose sweeps take them colour by colour. */
  colourContacts(pass: Pass, { ordering, threads }: WideRounds): void {
    if (ordering === 0) {
      this.#dispatcher.indirect(pass, 'colourTail', STEP_SLOT.ONE);
      return;
    }
    this.#dispatcher.overCandidates(pass, 'openColours', LIST_SLOT.CANDIDATES);
    for (let round = 0; round < ordering; round++) this.#dispatcher.direct(pass, 'colourRound', threads, round);
    this.#dispatcher.indirect(pass, 'colourTail', STEP_SLOT.ONE, ordering);
    this.#dispatcher.overCandidates(pass, 'orderRows', LIST_SLOT.CANDIDATES);
  }

  slide(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'slide', STEP_SLOT.VERTICES);
  }

  /** The forward step (Eq. 14 to 17): bounds, written positions, the check that reads them back, the commit. */
  advance(pass: Pass): void {
    this.bound(pass);
    this.commit(pass);
  }

  /** α of every vertex. Later kernels may reduce it and must not raise it. */
  bound(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'guard', STEP_SLOT.VERTICES);
    this.#boundPairs(pass);
  }

  #boundPairs(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'listForBound', STEP_SLOT.PAIRS);
    this.#dispatcher.overCandidates(pass, 'bound', LIST_SLOT.ACTIVE);
  }

  /** x ← x + α (y − x) if the check allows it. */
  commit(pass: Pass): void {
    this.#write(pass);
    this.#dispatcher.indirect(pass, 'commit', STEP_SLOT.VERTICES);
  }

  #write(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'write', STEP_SLOT.VERTICES);
    this.#dispatcher.overCandidates(pass, 'check', LIST_SLOT.ACTIVE);
  }

  /** The last step of kinematic vertices that have used up their motion, when Algorithm 1 has ended (TwoWay.#arrive). */
  arrive(pass: Pass): void {
    this.#dispatcher.direct(pass, 'openArrival', 1);
    this.#dispatcher.indirect(pass, 'aimPrescribed', STEP_SLOT.VERTICES);
    this.bound(pass);
    this.#dispatcher.indirect(pass, 'keepWhole', STEP_SLOT.VERTICES);
    this.commit(pass);
    this.#dispatcher.indirect(pass, 'settleArrived', STEP_SLOT.VERTICES);
    this.#dispatcher.direct(pass, 'closeArrival', 1);
  }

  /** Counts the numbers on which the decision at the end of a step is based. */
  watch(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'watch', STEP_SLOT.VERTICES);
  }
}
