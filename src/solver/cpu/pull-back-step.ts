import type { PathPhase, StateOrigin } from '../../contract/path.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { JAMMED_ALPHA, PULL_BACK_REACH, WARM_CONTACTS, WARM_EDGES } from '../constants.js';
import type { PullBackPlan } from '../scattered-targets.js';
import type { Settings } from '../settings.js';
import { StepAbandoned } from '../step-abandoned.js';
import { UnshownStates } from '../unshown-states.js';
import { AcceleratedSweeps } from './accelerated-sweeps.js';
import { losesToBoxes } from './box-loss.js';
import { markOutside } from './boxes.js';
import type { AimingRange } from './contact-aims.js';
import { KeptBounds } from './kept-bounds.js';
import { haveSameNumbers, isSameAt, markMoving, restShortMotions, stayWhereOverflown } from './motion.js';
import { costOfStep, mostPiecesOf } from './poor-steps.js';
import type { Proximity } from './proximity.js';
import type { PullBackRun } from './pull-back-run.js';
import type { ShapeLimits } from './shape-limits.js';
import type { Stages } from './stages.js';
import { WarmContacts } from './warm-contacts.js';
import type { Scratch } from './workspace.js';

/**
 * What every step of the pull-back does, whatever its phase (pull-back.ts): rows project y, the forward step moves x, a
 * search renews P, and the best state is kept.
 *
 * Safety is that of Algorithm 1: every step goes through the same bound, write, check and commit inside the trust
 * boxes, and the best state is a committed one. A search follows the sweeps, so that the new boxes contain the y that
 * they have pushed.
 */
export class PullBackStep {
  /** uint8[V] 1 if the vertex wanted to move in the last step */
  readonly wants: Uint8Array;
  /** uint8[V] 1 if its box held the vertex in the last piece of that step */
  readonly held: Uint8Array;
  readonly #mesh: CollisionMesh;
  readonly #settings: Settings;
  readonly #plan: PullBackPlan;
  readonly #stages: Stages;
  readonly #proximity: Proximity;
  readonly #limits: ShapeLimits | undefined;
  readonly #contacts: WarmContacts;
  readonly #aims: AimingRange;
  readonly #sweeps: AcceleratedSweeps;
  /** float32[V] δ by vertex, and the smallest δ */
  readonly #distances: Float32Array | undefined;
  readonly #minDelta: number;
  /** float32[V] 1 if the vertex still wanted to move in the last piece, as the residual for the search rule */
  readonly #residuals: Float32Array;
  /** float32[3·V] the best x */
  readonly #best: Float32Array;
  /** committed states since the best one, if the path is wanted */
  readonly #unshown = new UnshownStates();
  #phase: PathPhase = 'PULL_BACK';
  #hasGained = false;
  /** whether P is valid for x */
  #hasPairs = false;
  #isSearchDue = false;
  #isSearchComplete = false;
  /** whether P contains only pairs that can meet within the reach of this phase */
  #isTight = false;

  /** @param limits undefined = no edge has a limit, and no strain */
  constructor(
    mesh: CollisionMesh,
    settings: Settings,
    plan: PullBackPlan,
    stages: Stages,
    proximity: Proximity,
    deltas: { readonly distances: Float32Array | undefined; readonly min: number },
    limits: ShapeLimits | undefined,
    aims: AimingRange,
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
    this.#limits = limits;
    this.#aims = aims;
    this.#contacts = new WarmContacts(stages.contacts, scratch);
    this.#sweeps = new AcceleratedSweeps(inverseMasses, scratch);
    this.wants = scratch.uint8('wants to move', vertexCount);
    this.held = scratch.uint8('held', vertexCount).fill(0);
    this.#residuals = scratch.float32('residuals of the pull-back', vertexCount);
    this.#best = scratch.float32('best state', 3 * vertexCount);
  }

  /** Takes x as the best state, and all vertices that are not at their targets as those that want to move. */
  begin({ x, target, isSearched }: PullBackRun): void {
    this.#best.set(x);
    for (let i = 0, k = 0; i < this.wants.length; i++, k += 3) {
      this.wants[i] = isSameAt(x, target, k) ? 0 : 1;
      this.#residuals[i] = this.wants[i];
    }
    this.#hasPairs = isSearched;
    this.#isTight = false;
    this.#proximity.shortenReach(PULL_BACK_REACH * this.#settings.delta);
    this.#isSearchDue = !isSearched;
    this.#isSearchComplete = true;
    this.#stages.watch.begin(x, this.#residuals);
    if (!this.#hasPairs) return;
    const { pairs } = this.#proximity;
    this.#contacts.reset(pairs);
    // From δ_p to aims.
    pairs.delta.fill(0, 0, pairs.count);
  }

  /** x ← the best state, from which the steps of a phase begin. */
  returnToBest(x: Float32Array, phase: PathPhase): void {
    x.set(this.#best);
    this.#unshown.drop();
    this.#phase = phase;
  }

  /** Forgets the states after the best one, when no step follows. */
  forgetPassed(): void {
    this.#unshown.drop();
  }

  /** float32[3·V] the best state; read-only */
  get best(): Float32Array {
    return this.#best;
  }

  /** Whether a step has reached a better state. */
  get hasGained(): boolean {
    return this.#hasGained;
  }

  /** Whether P is valid for x. Without it there are no contacts to sweep; other searches come after the sweeps. */
  get hasPairs(): boolean {
    return this.#hasPairs;
  }

  /** The cost of a step relative to a cheap one. */
  get cost(): number {
    return costOfStep(this.#proximity.pairs.count, this.#plan);
  }

  /** Searches before the next forward step. */
  demandSearch(): void {
    this.#isSearchDue = true;
  }

  /** Begins the multipliers of contacts at 0. */
  resetContacts(): void {
    this.#contacts.reset(this.#proximity.pairs);
  }

  /** Whether at least this share of the vertices that wanted to move hardly could in the last piece. */
  isJammed(share: number): boolean {
    const { moving, forward } = this.#stages;
    const jammed = moving.reduce((n, moves, i) => n + (moves === 1 && forward.alpha[i] < JAMMED_ALPHA ? 1 : 0), 0);
    const wanted = this.wants.reduce((n, wants) => n + wants, 0);
    return jammed >= share * wanted;
  }

  /** Whether x has vertices outside their boxes, which are then marked as wanted: boxes may have been renewed since. */
  isOutside(x: Float32Array): boolean {
    return this.#hasPairs && markOutside(this.#proximity.boxes.box, x, this.#stages.watch.wanted);
  }

  /**
   * Marks as moving the vertices that edges pull because they are too long, their neighbours, and the vertices that
   * moved in the last step: whose contacts may be in the way.
   */
  markPulled({ x, y }: PullBackRun, limits: ShapeLimits, options: { sweeps: number; slack: number }): number {
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
  sweepRows(
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
  forward(
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
    if (this.#isSearchDue || (loses && this.cost === 1)) this.search(run);
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
    this.wants.set(watch.wanted);
    const wantedCount = this.wants.reduce((count, wants) => count + wants, 0);
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
      this.held[i] = moving[i] === 1 && alphaGuard[i] < 1 && alpha[i] >= alphaGuard[i] ? 1 : 0;
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

  /** Searches now: P for all vertices, or for those that want new boxes. */
  search(run: PullBackRun): void {
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
  keep({ x, onState, holds }: PullBackRun, from: StateOrigin): void {
    const { clock } = this.#stages;
    this.#hasGained = true;
    this.#best.set(x);
    if (this.#phase === 'PULL_BACK') holds?.keepPushes();
    clock.lap('forward');
    this.#unshown.show(onState);
    onState(x, from);
    clock.restart();
  }

  /** Notes that the step did not reach a better state, if the path is wanted: a later step may. */
  pass({ x, isPathWanted }: PullBackRun, from: StateOrigin): void {
    if (isPathWanted) this.#unshown.add(x, from);
  }
}
