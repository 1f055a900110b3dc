import type { PathPhase, StateOrigin } from '../../contract/path.js';
import type { Status } from '../../contract/report.js';
import type { CollisionMesh } from '../../mesh/types.js';
import {
  CLOSED_SHARE,
  JAMMED_ALPHA,
  JAMMED_SHARE,
  PULL_BACK_REACH,
  PUSHED,
  REST,
  SHORTENING_REST,
  SHORTENING_SLACK,
  SHORTENING_SWEEPS,
  WARM_CONTACTS,
  WARM_EDGES,
} from '../constants.js';
import type { StepInput } from '../engine.js';
import { leastOffsetOf } from '../part-offsets.js';
import type { PullBackPlan } from '../scattered-targets.js';
import type { PullStage, Settings } from '../settings.js';
import { StepAbandoned } from '../step-abandoned.js';
import type { StepPhase } from '../step-shares.js';
import { UnshownStates } from '../unshown-states.js';
import { AcceleratedSweeps } from './accelerated-sweeps.js';
import { losesToBoxes } from './box-loss.js';
import { markOutside } from './boxes.js';
import { type AimingRange, aimsOf } from './contact-aims.js';
import type { EdgeLengths } from './edges.js';
import type { HoldRecord } from './hold-record.js';
import { KeptBounds } from './kept-bounds.js';
import { Merit } from './merit.js';
import { haveSameNumbers, isSameAt, markMoving, restShortMotions, stayWhereOverflown } from './motion.js';
import { Paces } from './paces.js';
import { costOfStep, mostPiecesOf, PoorShortenings, PoorSteps } from './poor-steps.js';
import type { Proximity } from './proximity.js';
import { ShapeLimits } from './shape-limits.js';
import { Shortfalls } from './shortfalls.js';
import type { Stages } from './stages.js';
import { WarmContacts } from './warm-contacts.js';
import type { Scratch } from './workspace.js';

/** One request at the beginning of the pull-back. */
export interface PullBackRun {
  /** float32[3·V] the state, moved in place; at the end the best one */
  readonly x: Float32Array;
  /** float32[3·V] overwritten */
  readonly y: Float32Array;
  readonly start: Float32Array;
  /** float32[3·V] y* */
  readonly target: Float32Array;
  /** whether P is valid for x and this target */
  readonly isSearched: boolean;
  /** Replaces P: all of it, or the pairs of the marked vertices. */
  readonly search: (wanted: Uint8Array | undefined) => void;
  /**
   * Begins a step of a phase. @returns its number, which seeds the orders of its sweeps; or why the phase has no further
   * step
   */
  readonly nextStep: (phase: StepPhase) => number | Extract<Status, 'STEP_LIMIT' | 'DEADLINE'>;
  /** @returns the number of a further piece of the step, which stamps the geometry of pairs */
  readonly nextPiece: () => number;
  /** Called at short intervals within a step; may throw StepAbandoned, which ends the step before its next piece. */
  readonly pulse: () => void;
  /** @returns the number of the present step, as the report counts steps */
  readonly stepNumber: () => number;
  /** Ends a step in which this many vertices wanted to move. */
  readonly onStep: (moving: number) => void;
  /** Reports a state of the answer's path. */
  readonly onState: NonNullable<StepInput['onState']>;
  /** whether the path is wanted, and not only its best states */
  readonly isPathWanted: boolean;
  /** undefined = not requested */
  readonly holds: HoldRecord | undefined;
  /** Contacts and colours of the rows of a step. */
  readonly onRows: (contacts: number, colours: number) => void;
}

export interface PullBackOutcome {
  readonly status: Status;
  /**
   * uint8[V] 1 = its box held the vertex when the phase stalled, or the vertex still wanted to move when the phase was
   * stopped
   */
  readonly unsettled: Uint8Array;
}

/**
 * The pull-back: brings x nearer to y* once the kinematic vertices have arrived.
 *
 * Algorithm 1 keeps y from step to step, so a push is never withdrawn, although its normal may have changed. Here every
 * step rebuilds y from y* and projects it again:
 *
 *   y_i ← x_i + t (y*_i − x_i), no longer than a leap;  t = 1 for a vertex that was not pushed in the last steps, otherwise τ
 *
 * which is projected gradient descent on ½ ‖x − y*‖²_M with the constraints linearised at x. Contacts aim at their
 * offset (contact-aims.ts), not at δ_p. The best state by Φ (merit.ts) is kept, and the phase ends when Φ falls too
 * little. Then steps that only shorten edges follow, until no edge is too long or they hardly shorten any edge. Where
 * edges over their limits have ended the phase, it is resumed after them.
 *
 * Safety is that of Algorithm 1: every step goes through the same bound, write, check and commit inside the trust
 * boxes, and the best state is a committed one. A search follows the sweeps, so that the new boxes contain the y that
 * they have pushed.
 */
export class PullBack {
  readonly #mesh: CollisionMesh;
  readonly #settings: Settings;
  readonly #plan: PullBackPlan;
  readonly #stages: Stages;
  readonly #proximity: Proximity;
  readonly #limits: ShapeLimits | undefined;
  readonly #contacts: WarmContacts;
  readonly #aims: AimingRange;
  readonly #leastOffset: number;
  readonly #merit: Merit;
  readonly #sweeps: AcceleratedSweeps;
  /** float32[V] δ by vertex, and the smallest δ */
  readonly #distances: Float32Array | undefined;
  readonly #minDelta: number;
  readonly #paces: Paces;
  /**
   * uint8[V] 1 if the vertex wanted to move in the last step, and float32[V] 1 if it still did in its last piece, as the
   * residual for the search rule
   */
  readonly #wants: Uint8Array;
  readonly #residuals: Float32Array;
  /** float32[3·V] the best x */
  readonly #best: Float32Array;
  readonly #held: Uint8Array;
  /** committed states since the best one, if the path is wanted */
  readonly #unshown = new UnshownStates();
  #phase: PathPhase = 'PULL_BACK';
  /** whether P is valid for x */
  #hasPairs = false;
  #isSearchDue = false;
  #isSearchComplete = false;
  /** whether a step has reached a better state, and whether one has wanted to move a vertex that no row had pushed */
  #hasGained = false;
  #hasFree = false;
  /** whether P contains only pairs that can meet within the reach of this phase */
  #isTight = false;

  /** @param edges those with a limit, in sweep order; undefined = σ is off */
  constructor(
    mesh: CollisionMesh,
    settings: Settings,
    plan: PullBackPlan,
    stages: Stages,
    proximity: Proximity,
    deltas: { readonly distances: Float32Array | undefined; readonly min: number },
    edges: EdgeLengths | undefined,
    { start, target }: Pick<PullBackRun, 'start' | 'target'>,
    scratch: Scratch,
  ) {
    const { vertexCount, inverseMasses } = mesh;
    this.#mesh = mesh;
    this.#settings = settings;
    this.#plan = plan;
    this.#stages = stages;
    this.#proximity = proximity;
    this.#distances = deltas.distances;
    this.#minDelta = deltas.min;
    this.#limits = ShapeLimits.of(mesh, settings, plan.longest, edges, target, scratch);
    this.#contacts = new WarmContacts(stages.contacts, scratch);
    this.#aims = aimsOf(mesh, settings, plan, scratch);
    this.#leastOffset = leastOffsetOf(mesh, settings);
    const own = { delta: settings.delta, distances: deltas.distances };
    const shortfalls = new Shortfalls(vertexCount, own, this.#aims, start, scratch);
    this.#merit = new Merit(inverseMasses, this.#limits, shortfalls);
    this.#sweeps = new AcceleratedSweeps(inverseMasses, scratch);
    this.#paces = new Paces(inverseMasses, plan.longest, this.#limits, scratch);
    this.#wants = scratch.uint8('wants to move', vertexCount);
    this.#residuals = scratch.float32('residuals of the pull-back', vertexCount);
    this.#best = scratch.float32('best state', 3 * vertexCount);
    this.#held = scratch.uint8('held', vertexCount).fill(0);
  }

  run(run: PullBackRun): PullBackOutcome {
    const { x, target } = run;
    this.#best.set(x);
    for (let i = 0, k = 0; i < this.#wants.length; i++, k += 3) {
      this.#wants[i] = isSameAt(x, target, k) ? 0 : 1;
      this.#residuals[i] = this.#wants[i];
    }
    this.#hasPairs = run.isSearched;
    this.#isTight = false;
    this.#proximity.shortenReach(PULL_BACK_REACH * this.#settings.delta);
    this.#isSearchDue = !run.isSearched;
    this.#isSearchComplete = true;
    this.#stages.watch.begin(x, this.#residuals);
    if (this.#hasPairs) {
      const { pairs } = this.#proximity;
      this.#contacts.reset(pairs);
      // From δ_p to aims.
      pairs.delta.fill(0, 0, pairs.count);
    }
    let status: Status;
    try {
      status = this.#end(run);
    } finally {
      this.#unshown.drop();
    }
    x.set(this.#best);
    if (status === 'CONVERGED') this.#wants.fill(0);
    return { status, unsettled: status === 'STALLED' ? this.#held : this.#wants };
  }

  /** Runs both phases, as often as the second lets the first one gain again. @returns how they ended */
  #end(run: PullBackRun): Status {
    try {
      for (let resumptions = 0; ; resumptions++) {
        const { status, mayResume } = this.#pull(run, resumptions);
        if (status === 'DEADLINE') return status;
        const isOver = status !== 'STEP_LIMIT' && !mayResume;
        const limit = isOver && !this.#hasGained && this.#hasFree ? this.#release(run) : undefined;
        if (limit === 'DEADLINE') return limit;
        const [held, wants] = [this.#held.slice(), this.#wants.slice()];
        try {
          const stopped = this.#shortenEdges(run);
          if (stopped || !mayResume) return stopped ?? limit ?? status;
        } finally {
          // The report states what held the vertices on their way to y*, and which wanted to move on, not what did so in
          // the last steps, of which the last one may have been abandoned.
          this.#held.set(held);
          this.#wants.set(wants);
        }
        this.#resume(run);
      }
    } catch (thrown) {
      if (thrown instanceof StepAbandoned) return 'DEADLINE';
      throw thrown;
    }
  }

  /** Begins steps towards y* again, from the best state and without multipliers. */
  #resume({ x }: PullBackRun): void {
    x.set(this.#best);
    this.#unshown.drop();
    this.#phase = 'PULL_BACK';
    this.#limits?.reset();
    this.#contacts.reset(this.#proximity.pairs);
  }

  /**
   * Makes steps from the best state in which only vertices move that no row pushes, as long as they gain and a leap limits
   * one of them.
   *
   * Φ is one number. In a heap at rest, contacts that the sweeps of a step do not quite open raise it by more than what
   * slow vertices elsewhere gain. Then every step is worse than the start, which would be the answer, so that a sheet
   * would hang in the air for as long as the heap beside it rests.
   *
   * No later step opens the contacts that such a vertex closes, so these steps leave the smallest contact offset of gaps,
   * not only the floor.
   *
   * @returns why they were stopped; undefined = they are complete
   */
  #release(run: PullBackRun): Extract<Status, 'STEP_LIMIT' | 'DEADLINE'> | undefined {
    const [held, wants] = [this.#held.slice(), this.#wants.slice()];
    const { x, y, target } = run;
    const { moving } = this.#stages;
    const { delta } = this.#settings;
    const rows = { sweeps: this.#plan.sweeps, slack: 0, mostExcess: Number.POSITIVE_INFINITY };
    this.#resume(run);
    this.#paces.forget();
    try {
      for (let best: number | undefined; ; ) {
        const step = run.nextStep('PULL');
        if (typeof step !== 'number') return best === undefined ? undefined : step;
        this.#paces.rebuild(x, y, target, 0);
        if (best === undefined) {
          if (this.#isOutside(x)) this.#search(run);
          best = this.#merit.of(x, target, this.#proximity.pairs);
        }
        this.#sweepRows(run, step, markMoving(x, y, moving), rows);
        this.#paces.countUnpushed(y, PUSHED * delta);
        this.#paces.holdPushed(x, y);
        const { isWhole, from } = this.#forward(run, step, REST * delta, false, this.#leastOffset);
        const merit = this.#merit.of(x, target, this.#proximity.pairs);
        const isBetter = merit < best;
        if (isBetter) this.#keep(run, from);
        else if (run.isPathWanted) this.#unshown.add(x, from);
        if (!isWhole) return 'DEADLINE';
        if (!isBetter || !this.#paces.isLeaping(x, target, this.#cost)) return undefined;
        best = merit;
      }
    } finally {
      // The report states what held the vertices in the steps before, and which wanted to move.
      this.#held.set(held);
      this.#wants.set(wants);
    }
  }

  /**
   * Steps towards y* until Φ no longer falls, then finer ones if the quality has them.
   *
   * @param resumptions how often this phase has been resumed
   * @returns how it ended, and whether it may be resumed after the last steps (PoorSteps.mayResume)
   */
  #pull(run: PullBackRun, resumptions: number): { readonly status: Status; readonly mayResume: boolean } {
    const { x, y, target } = run;
    const { moving } = this.#stages;
    const { delta } = this.#settings;
    let best = this.#merit.of(x, target, undefined);
    let stage: PullStage = this.#plan;
    let poorSteps = new PoorSteps(stage, this.#plan);
    for (let n = 0; best > 0; n++) {
      const step = run.nextStep('PULL');
      if (typeof step !== 'number') return { status: step, mayResume: false };
      this.#paces.rebuild(x, y, target, stage.tau);
      // Without a valid P there are no contacts to sweep; any other search comes after the sweeps.
      const isOutside = n === 0 && resumptions > 0 && this.#isOutside(x);
      if (isOutside || !this.#hasPairs) this.#search(run);
      if (n === 0) best = this.#merit.of(x, target, this.#proximity.pairs);
      const rows = {
        ...{ sweeps: stage.sweeps, slack: 0, mostExcess: poorSteps.mostExcess(best) },
        framesOf: poorSteps.isThorough ? this.#best : undefined,
      };
      this.#sweepRows(run, step, markMoving(x, y, moving), rows);
      this.#paces.countUnpushed(y, PUSHED * delta);
      const { isWhole, from } = this.#forward(run, step, REST * delta, poorSteps.isClosed);
      const merit = this.#merit.of(x, target, this.#proximity.pairs);
      const gain = (best - merit) / best;
      if (gain > 0) {
        best = merit;
        this.#keep(run, from);
      } else if (run.isPathWanted) this.#unshown.add(x, from);
      if (!isWhole) return { status: 'DEADLINE', mayResume: false };
      this.#hasFree ||= this.#paces.hasFree(this.#wants);
      const { excess } = this.#merit;
      const [isLeaping, isHeld, isStill, isJammed, isClosed] = [
        this.#paces.isLeaping(x, target, this.#cost),
        this.#held.includes(1),
        !this.#wants.includes(1),
        this.#isJammed(JAMMED_SHARE),
        this.#isJammed(CLOSED_SHARE),
      ];
      const ended = poorSteps.after({ gain, cost: this.#cost, isLeaping, isHeld, isStill, excess, isJammed, isClosed });
      const { finer } = this.#plan;
      const mayResume = ended !== undefined && stage !== finer && poorSteps.mayResume(resumptions);
      if (mayResume) return { status: ended, mayResume };
      if (ended && finer && stage !== finer && best > 0 && !isStill && this.#cost === 1) {
        stage = finer;
        poorSteps = new PoorSteps(stage, this.#plan);
        continue;
      }
      if (ended) return { status: ended, mayResume };
      // A vertex that its box holds may gain something in a new box, if that can be larger.
      if (isHeld && poorSteps.hasAny && this.#cost === 1) this.#isSearchDue = true;
    }
    return { status: 'CONVERGED', mayResume: false };
  }

  /** Whether at least this share of the vertices that wanted to move hardly could in the last piece. */
  #isJammed(share: number): boolean {
    const { moving, forward } = this.#stages;
    const jammed = moving.reduce((n, moves, i) => n + (moves === 1 && forward.alpha[i] < JAMMED_ALPHA ? 1 : 0), 0);
    const wanted = this.#wants.reduce((n, wants) => n + wants, 0);
    return jammed >= share * wanted;
  }

  /** Whether x has vertices outside their boxes, which are then marked as wanted: boxes may have been renewed since. */
  #isOutside(x: Float32Array): boolean {
    return this.#hasPairs && markOutside(this.#proximity.boxes.box, x, this.#stages.watch.wanted);
  }

  /**
   * Shortens edges from the best state: y = x, every multiplier is 0, and only edges that are too long pull, together
   * with the contacts that obstruct them.
   *
   * @returns why it was stopped; undefined = it is complete
   */
  #shortenEdges(run: PullBackRun): Extract<Status, 'STEP_LIMIT' | 'DEADLINE'> | undefined {
    const { x, y } = run;
    const { moving } = this.#stages;
    const { delta } = this.#settings;
    if (!this.#limits) return undefined;
    x.set(this.#best);
    this.#unshown.drop();
    this.#phase = 'SHORTENING';
    moving.fill(0);
    const options = { sweeps: SHORTENING_SWEEPS, slack: SHORTENING_SLACK * delta };
    const poorSteps = new PoorShortenings();
    let excess = this.#limits.excess(x);
    for (let n = 0; excess > 0; n++) {
      const step = run.nextStep('SHORTEN');
      if (typeof step !== 'number') return step;
      y.set(x);
      if ((n === 0 && this.#isOutside(x)) || !this.#hasPairs) this.#search(run);
      this.#contacts.reset(this.#proximity.pairs);
      this.#sweepRows(run, step, this.#markPulled(run, this.#limits, options), { ...options, mostExcess: 0 });
      const { isWhole, from } = this.#forward(run, step, SHORTENING_REST * delta, false);
      // Few vertices move, each a little, so a vertex that its box held gets a new box at once.
      const isHeld = this.#held.includes(1);
      if (isHeld) this.#isSearchDue = true;
      const left = this.#limits.excess(x);
      const gain = (excess - left) / excess;
      if (gain > 0) {
        excess = left;
        this.#keep(run, from);
      } else if (run.isPathWanted) this.#unshown.add(x, from);
      if (!isWhole) return 'DEADLINE';
      if (poorSteps.after({ gain, cost: this.#cost, isHeld })) break;
    }
    return undefined;
  }

  /**
   * Marks as moving the vertices that edges pull because they are too long, their neighbours, and the vertices that
   * moved in the last step: whose contacts may be in the way.
   */
  #markPulled({ x, y }: PullBackRun, limits: ShapeLimits, options: { sweeps: number; slack: number }): number {
    const { moving } = this.#stages;
    // There are no contacts then.
    if (this.#proximity.pairs.count === 0) return 0;
    limits.reset();
    this.#sweeps.run(x, y, limits, undefined, { ...options, delta: this.#settings.delta });
    for (let i = 0, k = 0; i < moving.length; i++, k += 3) if (!isSameAt(x, y, k)) moving[i] = 1;
    limits.spread(moving);
    limits.reset();
    y.set(x);
    return moving.reduce((count, moves) => count + moves, 0);
  }

  /**
   * y ← y projected onto edge limits and contacts, both linearised at x; only contacts of vertices that are marked as
   * moving.
   *
   * @param options.framesOf the state that gives elements with strain limits their rotations; undefined = y
   */
  #sweepRows(
    { x, y, start, onRows, pulse, holds }: PullBackRun,
    step: number,
    movingCount: number,
    {
      framesOf,
      ...options
    }: { sweeps: number; slack: number; mostExcess: number; framesOf?: Float32Array | undefined },
  ): void {
    const { active, candidates, contacts, moving, clock } = this.#stages;
    const { pairs } = this.#proximity;
    const { delta } = this.#settings;
    active.gather(pairs, moving, movingCount);
    candidates.find(pairs, active, x, start, step, delta, this.#distances, pulse, this.#aims);
    clock.lap('geometry');
    contacts.assemble(pairs, candidates.list, candidates.count, x, step, pulse);
    this.#limits?.beginStrains(x, y, framesOf);
    this.#contacts.begin(pairs, y, WARM_CONTACTS);
    this.#limits?.beginEdges(y, WARM_EDGES);
    this.#sweeps.run(x, y, this.#limits, this.#contacts, { ...options, delta, pulse });
    this.#contacts.end(pairs);
    holds?.takePushes(pairs);
    this.#limits?.end(x, y);
    stayWhereOverflown(x, y);
    onRows(contacts.count, contacts.colouring.colours);
    clock.lap('backward');
  }

  get #cost(): number {
    return costOfStep(this.#proximity.pairs.count, this.#plan);
  }

  /**
   * Makes the forward step, after a search if one is due: as many linear pieces towards y as mostPiecesOf permits, or
   * fewer if every vertex has reached it. Each piece has its own planes, bounds, check and commit, so that it is as safe as a
   * forward step of Algorithm 1. Motions shorter than `rest` are not made.
   *
   * P serves all pieces, because no search lies between them: every vertex stays in its box, so the pairs outside P stay
   * apart (docs/method.md, S3). Every piece examines each pair of P with a vertex that moves in it. Its number makes the
   * geometry of earlier pieces stale, so a pair counts at the x with which the piece begins, and is skipped only if it
   * stays apart for this piece (S11); without current pairs the first pass of two bounds nothing (forward.ts). The
   * search rule looks at what moved in the last piece. It decides when new boxes are worth a search; what is safe does
   * not depend on it.
   *
   * @param isClosed as of mostPiecesOf
   * @param keptGap a gap that the step leaves of larger ones; absent = the floor
   * @returns `isWhole`: false if time ended a further piece before it moved anything, so that the step consists of the
   *   pieces before it; `from`: the origin of the state
   * @throws StepAbandoned if time ended before anything had moved
   */
  #forward(
    run: PullBackRun,
    step: number,
    rest: number,
    isClosed: boolean,
    keptGap?: number,
  ): { readonly isWhole: boolean; readonly from: StateOrigin } {
    const { x, y } = run;
    const { moving, forward, watch } = this.#stages;
    const { inverseMasses } = this.#mesh;
    restShortMotions(x, y, run.target, inverseMasses, rest);
    if (!this.#isTight) this.#proximity.tighten(x, y);
    this.#isTight = true;
    // Always called, because a search for any reason renews the boxes of the vertices that want to move in this step.
    const loses = losesToBoxes(this.#proximity.boxes.box, x, y, watch.wanted);
    // In a heap contacts limit motions more than the boxes do, and a search would leave the boxes as small.
    if (this.#isSearchDue || (loses && this.#cost === 1)) this.#search(run);
    const kept = run.holds && this.#limits && new KeptBounds(forward);
    const from = { phase: this.#phase, step: run.stepNumber() };
    /** int32[V] of the last piece */
    let limiter: Int32Array | undefined;
    let isWhole = true;
    const mostPieces = mostPiecesOf(this.#proximity.pairs.count, this.#plan, isClosed);
    for (let n = 0; n < mostPieces && (n === 0 || !haveSameNumbers(x, y)); n++) {
      const movingCount = markMoving(x, y, moving);
      if (n > 0 && run.isPathWanted) this.#unshown.add(x, from);
      try {
        this.#advance(run, n === 0 ? step : run.nextPiece(), movingCount, kept, keptGap);
      } catch (thrown) {
        if (n === 0 || !(thrown instanceof StepAbandoned)) throw thrown;
        if (run.isPathWanted) this.#unshown.dropLast();
        isWhole = false;
        break;
      }
      if (run.holds) limiter = kept?.limiter ?? forward.limiter.slice();
    }
    // What has reached y before the last piece wanted to move as well: its y need not be its target.
    this.#wants.set(watch.wanted);
    const wantedCount = this.#wants.reduce((count, wants) => count + wants, 0);
    run.onStep(wantedCount);
    if (limiter) run.holds?.notePull(from.step, this.#proximity.pairs, limiter);
    // A run whose time has ended needs no search, and what bounds a piece that was not made holds nothing.
    if (isWhole) this.#watch();
    return { isWhole, from };
  }

  /** Notes what boxes hold after the last piece of a step, and whether a search is due. */
  #watch(): void {
    const { moving, forward, watch } = this.#stages;
    const { alpha, alphaGuard } = forward;
    for (let i = 0; i < moving.length; i++) {
      this.#residuals[i] = moving[i];
      this.#held[i] = moving[i] === 1 && alphaGuard[i] < 1 && alpha[i] >= alphaGuard[i] ? 1 : 0;
    }
    if (!watch.wantsSearch(this.#residuals, forward, moving, this.#proximity.pairs)) return;
    this.#isSearchDue = true;
    this.#isSearchComplete = false;
  }

  /** Makes a piece of the forward step. @param movingCount number of vertices that are marked as moving */
  #advance(
    { x, y, pulse }: PullBackRun,
    piece: number,
    movingCount: number,
    kept: KeptBounds | undefined,
    keptGap: number | undefined,
  ): void {
    const { active, moving, forward } = this.#stages;
    const { gamma, floor, forward: rule } = this.#settings;
    const { pairs, boxes, radius } = this.#proximity;
    const limits = this.#limits;
    active.gather(pairs, moving, movingCount);
    forward.advance({
      ...{ x, y, pairs, moving, step: piece, rule, gamma, floor, keptGap, radius, pulse },
      active: active.list,
      activeCount: active.count,
      delta: this.#minDelta,
      box: boxes.box,
      limitFurther:
        limits &&
        ((alpha) => {
          kept?.begin(alpha);
          limits.holdBack(x, y, alpha);
          kept?.end(alpha);
        }),
    });
  }

  #search(run: PullBackRun): void {
    run.search(this.#isSearchComplete ? undefined : this.#stages.watch.wanted);
    if (!this.#hasPairs) this.#isTight = true;
    this.#hasPairs = true;
    this.#isSearchDue = false;
    this.#isSearchComplete = false;
  }

  /**
   * Records x as the best state so far, and reports the path to it. States after the best one do not belong to the
   * answer's path. The time that the caller takes for them belongs to no stage.
   */
  #keep({ x, onState, holds }: PullBackRun, from: StateOrigin): void {
    const { clock } = this.#stages;
    this.#hasGained = true;
    this.#best.set(x);
    if (this.#phase === 'PULL_BACK') holds?.keepPushes();
    clock.lap('forward');
    this.#unshown.show(onState);
    onState(x, from);
    clock.restart();
  }
}
