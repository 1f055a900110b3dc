import type { PathPhase } from '../../contract/path.js';
import type { Status } from '../../contract/report.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { BeforeSteps } from '../before-steps.js';
import { SWEEPS_PER_STOP_CHECK } from '../constants.js';
import type { Resolution, StepInput } from '../engine.js';
import { distancesByVertex, smallestDistance } from '../part-distances.js';
import type { SavedScene } from '../saved-scene.js';
import { type PullBackPlan, planPullBack } from '../scattered-targets.js';
import { type Settings, servesBoth } from '../settings.js';
import { StepAbandoned } from '../step-abandoned.js';
import { statusAfterPullBack, stepLimitOf } from '../step-shares.js';
import { countUnserved } from '../unserved-limits.js';
import { aimAtPrescribed, allOrNothing, settleArrived } from './arrive.js';
import { FORWARD_RULES } from './bound.js';
import { EdgeLengths } from './edges.js';
import { HoldRecord } from './hold-record.js';
import { markMoving, restoreOverflow } from './motion.js';
import type { Verdict } from './progress-watch.js';
import { Proximity } from './proximity.js';
import { PullBack } from './pull-back.js';
import { toResolution } from './resolution.js';
import { type NextSearch, noteRows, type Run } from './run.js';
import { pulseOfSearch } from './shorten-once.js';
import { Stages } from './stages.js';
import { mayOnlySearch, timeLeftOf } from './time-left.js';
import type { Workspace } from './workspace.js';

/**
 * Algorithm 1 on one mesh: alternating backward and forward steps over a proximity set that is searched rarely and kept
 * between requests. Synchronous: helper threads share the work of a stage (src/threads), and the stage returns when all
 * have ended.
 */
export class TwoWay {
  readonly #mesh: CollisionMesh;
  #settings: Settings;
  /** float32[V] δ by vertex, engine units; undefined = one δ for all */
  #distances: Float32Array | undefined;
  /** the smallest δ of a vertex */
  #minDelta: number;
  #proximity: Proximity;
  #edges: EdgeLengths | undefined;
  readonly #before: BeforeSteps;
  readonly #workspace: Workspace;
  /**
   * counts the steps of all requests, and the further pieces of their forward steps: seeds the order of sweeps, and
   * distinguishes current pair geometry from stale geometry
   */
  #step = 0;

  /** @param workspace of the engine; no other scene uses it during a resolve */
  constructor(mesh: CollisionMesh, settings: Settings, workspace: Workspace) {
    this.#mesh = mesh;
    this.#settings = settings;
    this.#workspace = workspace;
    this.#distances = distancesByVertex(mesh, settings);
    this.#minDelta = smallestDistance(this.#distances, settings.delta);
    this.#proximity = new Proximity(mesh, settings, workspace);
    this.#edges = settings.sigma > 0 ? new EdgeLengths(mesh) : undefined;
    this.#before = new BeforeSteps(mesh, workspace.pairLimit);
  }

  /**
   * Sets the settings from the next resolve on. The proximity set is kept unless a setting changed with which it was
   * searched; the static colouring of the edges is kept as well.
   */
  configure(settings: Settings): void {
    if (servesBoth(this.#settings, settings)) this.#proximity.configure(settings);
    else {
      this.#proximity.dispose();
      this.#proximity = new Proximity(this.#mesh, settings, this.#workspace);
    }
    if (settings.sigma > 0) this.#edges ??= new EdgeLengths(this.#mesh);
    else this.#edges = undefined;
    this.#distances = distancesByVertex(this.#mesh, settings);
    this.#minDelta = smallestDistance(this.#distances, settings.delta);
    this.#settings = settings;
  }

  /** Returns the data that later requests depend on, besides mesh and settings. */
  save(): Pick<SavedScene, 'step' | 'proximity'> {
    return { step: this.#step, proximity: this.#proximity.save() };
  }

  /** Continues from the saved data of another scene with the same mesh and settings; only before the first resolve. */
  restore({ step, proximity }: Pick<SavedScene, 'step' | 'proximity'>): void {
    this.#step = step;
    if (proximity) this.#proximity.restore(proximity);
  }

  /** Bytes kept between requests besides the mesh. */
  get bytes(): number {
    const own = (this.#edges?.bytes ?? 0) + (this.#distances?.byteLength ?? 0);
    return this.#proximity.bytes + this.#before.bytes + own;
  }

  /** Frees all memory; no method may be called afterwards. */
  dispose(): void {
    this.#proximity.dispose();
  }

  /** Vertices and pairs: a measure of the workspace that the scene needs. */
  get size(): number {
    return this.#mesh.vertexCount + this.#proximity.pairs.count;
  }

  /** @throws TOO_LARGE if the proximity set does not fit; the scene remains usable */
  resolve(input: StepInput): Resolution {
    const proximity = this.#proximity;
    return this.#workspace.run(() => {
      try {
        proximity.acquire();
        const resolution = this.#run(input, new Stages(this.#mesh, this.#settings, this.#workspace));
        proximity.release();
        return resolution;
      } catch (thrown) {
        proximity.invalidate();
        throw thrown;
      } finally {
        this.#edges?.release();
      }
    });
  }

  #run(input: StepInput, stages: Stages): Resolution {
    const run = this.#begin(input, stages);
    const status = this.#advance(run);
    if (status !== 'DEADLINE') this.#arrive(run);
    const ended = run.plan ? this.#pullBack(run, run.plan, status) : status;
    const resolution = toResolution(run, ended, this.#proximity, this.#settings);
    return countUnserved(resolution, { mesh: this.#mesh, settings: this.#settings, target: input.y });
  }

  /** Runs Algorithm 1, with x, y and r of step l in `run`. @returns how it ended */
  #advance(run: Run): Status {
    const { stages } = run;
    for (;;) {
      const status = this.#statusBeforeStep(run);
      if (status) return status;
      try {
        if (run.next.isDue) this.#search(run);
        run.pulse();
        this.#step++;
        this.#backward(run);
        this.#forward(run);
      } catch (thrown) {
        if (!(thrown instanceof StepAbandoned)) throw thrown;
        stages.clock.lap(this.#proximity.isValid ? 'forward' : 'search');
        return 'DEADLINE';
      }
      run.holds?.noteStep(run.steps + 1, this.#proximity.pairs, stages.contacts, stages.forward.limiter);
      this.#updateResiduals(run);
      run.next = this.#nextSearch(stages);
      this.#publish(run);
      const verdict = this.#judge(run);
      if (verdict === 'stalled') return 'STALLED';
      if (verdict === 'search') run.next = { isDue: true, wanted: undefined };
    }
  }

  /**
   * x ← x^[k], after the motions before the first step; y ← y* = y^[k+1]; r ← 1. P of the last request is reused if it
   * is still valid; vertices that their boxes would stop far from where they get before the next search get new ones first.
   */
  #begin(input: StepInput, stages: Stages): Run {
    const { x: start, y: target } = input;
    const { residuals, watch, slide, clock } = stages;
    const proximity = this.#proximity;
    const { scratch } = this.#workspace;
    const x = scratch.float32('x', start.length);
    const y = scratch.float32('y', target.length);
    x.set(start);
    y.set(target);
    const time = timeLeftOf(input);
    const moved = this.#before.move(this.#settings, input, x, time.searchPulse);
    clock.lap('forward');
    residuals.begin(x, target, this.#settings.floor);
    proximity.beginRequest(input.excluded);
    const { rigid } = moved;
    if (rigid && rigid.pieces === moved.pieces) proximity.carry(start, x, rigid);
    const isServed = residuals.unfinished > 0 && proximity.isValidFor(x, target);
    const wanted = scratch.uint8('wanted before the first step', this.#mesh.vertexCount).fill(0);
    const isPartial =
      !isServed && rigid !== undefined && residuals.unfinished > 0 && proximity.markUnserved(x, target, wanted);
    const isReused = isServed || isPartial;
    const isCut = isReused && proximity.markCut(x, target, wanted);
    if (isReused) proximity.pairs.delta.fill(0, 0, proximity.pairs.count);
    clock.lap('search');
    this.#edges?.linearise(target, this.#settings.sigma, scratch, this.#settings.scale);
    watch.begin(x, residuals.r);
    slide.begin();
    const next = { isDue: !isServed || isCut, wanted: isPartial || isCut ? wanted : undefined };
    const plan = planPullBack(this.#mesh, this.#settings, x, target);
    clock.lap('backward');
    const counts = { steps: moved.pieces, searches: 0, activeContacts: 0, colours: 0 };
    const holds = input.recordsHolds ? new HoldRecord(this.#mesh.vertexCount) : undefined;
    return { input, stages, x, y, moved, plan, isReused, ...time, next, holds, ...counts };
  }

  /** Returns the status of a run that takes no further step; undefined = it takes one. */
  #statusBeforeStep({ input, stages, moved, plan, steps, next }: Run): Status | undefined {
    if (moved.isGivenUp) return 'DEADLINE';
    const { epsilon } = this.#settings;
    if (stages.residuals.largest < epsilon) return 'CONVERGED';
    // The pull-back brings dynamic vertices nearer than further steps would, unless their targets are scattered.
    if (plan?.isEarly && stages.residuals.haveArrived(this.#mesh.kinematic, epsilon)) return 'CONVERGED';
    if (steps >= stepLimitOf('ADVANCE', this.#settings)) return 'STEP_LIMIT';
    return input.shouldStop?.() && !mayOnlySearch(input, steps, next.isDue) ? 'DEADLINE' : undefined;
  }

  /**
   * Runs the pull-back from the state in which Algorithm 1 has ended, unless time or all steps are used up.
   *
   * @param ended how it has ended
   */
  #pullBack(run: Run, plan: PullBackPlan, ended: Status): Status {
    const { input, stages, next, steps: stepsBefore } = run;
    const { stepLimit, epsilon } = this.#settings;
    if (ended === 'DEADLINE' || (ended === 'STEP_LIMIT' && stepsBefore >= stepLimit)) return ended;
    const before = run.x.slice();
    const { clock, residuals } = stages;
    const deltas = { distances: this.#distances, min: this.#minDelta };
    const edges = this.#edges;
    const { scratch } = this.#workspace;
    const proximity = this.#proximity;
    const ends = { start: input.x, target: input.y };
    // A search that is due may be omitted only while P serves x: a flight may have left boxes, and no step has followed.
    let isSearched = proximity.contains(run.x) && (!next.isDue || next.wanted !== undefined);
    const phase = new PullBack(this.#mesh, this.#settings, plan, stages, proximity, deltas, edges, ends, scratch);
    clock.lap('backward');
    const { status, unsettled } = phase.run({
      ...{ x: run.x, y: run.y, ...ends, pulse: run.pulse, holds: run.holds },
      isSearched,
      search: (wanted) => {
        clock.lap('forward');
        run.next = { isDue: true, wanted };
        this.#searchInPullBack(run, !isSearched);
        isSearched = true;
      },
      nextStep: (phase) => {
        if (run.steps >= stepLimitOf(phase, this.#settings)) return 'STEP_LIMIT';
        if (input.shouldStop?.() && !mayOnlySearch(input, run.steps, !isSearched)) return 'DEADLINE';
        clock.lap('forward');
        return ++this.#step;
      },
      nextPiece: () => ++this.#step,
      onRows: (contacts, colours) => noteRows(run, contacts, colours),
      onState: (...state) => input.onState?.(...state),
      isPathWanted: input.onState !== undefined && input.omitsPassed !== true,
      stepNumber: () => run.steps + 1,
      onStep: (moving) => {
        run.steps++;
        input.onProgress?.({ steps: run.steps, residual: moving > 0 ? 1 : 0, unfinishedVertices: moving });
      },
    });
    run.pullBack = { steps: run.steps - stepsBefore, before };
    residuals.settle(unsettled, this.#mesh.kinematic, epsilon);
    clock.lap('forward');
    return statusAfterPullBack(status, residuals.unfinished, ended === 'STEP_LIMIT');
  }

  /**
   * If a step begins with a search, because P does not serve x, and is abandoned during it, the next step gets the same
   * number.
   *
   * @param isFirst whether the step begins with it
   */
  #searchInPullBack(run: Run, isFirst: boolean): void {
    try {
      this.#search(run);
      if (isFirst) run.pulse();
    } catch (thrown) {
      if (isFirst) this.#step--;
      throw thrown;
    }
  }

  /** P ← Proximity_Search(x). An interrupted search leaves its pairs for the next request, which may continue it. */
  #search(run: Run): void {
    try {
      this.#proximity.renew(run.x, run.y, run.next.wanted, pulseOfSearch(run, this.#settings));
    } finally {
      if (!this.#proximity.isValid && !this.#proximity.isUnfinished) this.#proximity.pairs.clear();
    }
    run.searches++;
    run.stages.clock.lap('search');
  }

  /**
   * y ← Backward(y, x, y*, P), Eqs. 9–13: from λ = 0, sweeps over edge lengths, then contacts, as many as set or as
   * time allows.
   */
  #backward(run: Run): void {
    const { x, y, input, pulse } = run;
    const { delta, sweeps, forward } = this.#settings;
    const { pairs } = this.#proximity;
    const { active, candidates, contacts, slide, clock, moving } = run.stages;
    this.#edges?.reset();
    this.#edges?.sweep(y);
    clock.lap('backward');

    active.gather(pairs, moving, markMoving(x, y, moving));
    candidates.find(pairs, active, x, input.x, this.#step, delta, this.#distances, pulse);
    clock.lap('geometry');

    const { list, count } = candidates;
    contacts.assemble(pairs, list, count, x, this.#step, pulse);
    contacts.sweep(x, y);
    for (let n = 1; n < sweeps; n++) {
      // Many sweeps may exceed the time budget. Every y is a safe target, so the remaining sweeps can be omitted.
      if (n % SWEEPS_PER_STOP_CHECK === 0 && input.shouldStop?.()) break;
      this.#edges?.sweep(y);
      contacts.sweep(x, y);
    }
    if (FORWARD_RULES[forward].isAlongNormal) slide.apply(pairs, list, count, x, y, this.#mesh.inverseMasses);
    restoreOverflow(y, input.y);
    noteRows(run, contacts.count, contacts.colouring.colours);
    clock.lap('backward');
  }

  /** x ← Forward(x, y − x, P), Eqs. 14–16. */
  #forward({ stages, x, y, pulse }: Run, limitFurther?: (alpha: Float32Array) => void): void {
    const { pairs, boxes, radius } = this.#proximity;
    const { active, moving } = stages;
    const { guard, gamma, floor, forward: rule } = this.#settings;
    active.gather(pairs, moving, markMoving(x, y, moving));
    stages.forward.advance({
      x,
      y,
      pairs,
      active: active.list,
      activeCount: active.count,
      moving,
      step: this.#step,
      rule,
      gamma,
      delta: this.#minDelta,
      floor,
      box: guard === 'BOXES' ? boxes.box : undefined,
      radius,
      pulse,
      limitFurther,
    });
  }

  /** Makes the last step of kinematic vertices that have used up their motion, if there are any (arrive.ts). */
  #arrive(run: Run): void {
    const { input, stages, x, y } = run;
    const { epsilon, stepLimit, guard } = this.#settings;
    const { forward, residuals } = stages;
    // PAPER is exactly Algorithm 1 of the paper.
    if (guard === 'RADIUS' || !this.#proximity.isValid || run.steps >= stepLimit || input.shouldStop?.()) return;
    if (aimAtPrescribed(x, y, input.y, this.#mesh.kinematic, residuals.r, epsilon) === 0) return;
    const { limitedIn, touching } = forward;
    const limiter = forward.limiter.slice();
    this.#step++;
    try {
      this.#forward(run, allOrNothing);
      if (forward.largestMove === 0) return;
      settleArrived(residuals, stages.moving, forward.alpha);
      run.steps++;
      this.#publish(run, 'ARRIVAL');
    } catch (thrown) {
      if (!(thrown instanceof StepAbandoned)) throw thrown;
    } finally {
      // Limiting and touching pairs of the other vertices remain those of the last ordinary step.
      forward.limiter.set(limiter);
      forward.limitedIn = limitedIn;
      forward.touching = touching;
    }
  }

  /** r ← (1 − α) r, Eq. 17. */
  #updateResiduals(run: Run): void {
    const { residuals, forward, slide, moving } = run.stages;
    residuals.update(run.x, run.y, forward.alpha, this.#settings.epsilon);
    slide.observe(forward, residuals.r, moving);
    run.steps++;
  }

  /** Whether P must be searched before the next step: under RADIUS if D < Dmin, under BOXES if boxes stop vertices. */
  #nextSearch({ forward, moving, residuals, watch }: Stages): NextSearch {
    const { guard, searchRadiusMin } = this.#settings;
    const proximity = this.#proximity;
    if (guard === 'RADIUS') {
      proximity.radius -= 2 * forward.largestMove;
      return { isDue: proximity.radius < searchRadiusMin, wanted: undefined };
    }
    const isDue = watch.wantsSearch(residuals.r, forward, moving, proximity.pairs);
    return { isDue, wanted: watch.wanted };
  }

  /** Passes the state and the progress of a step to the caller. Their time belongs to no stage. */
  #publish({ input, stages, x, steps }: Run, phase: PathPhase = 'FORWARD'): void {
    const { residuals, clock } = stages;
    clock.lap('forward');
    input.onState?.(x, { phase, step: steps });
    input.onProgress?.({ steps, residual: residuals.largest, unfinishedVertices: residuals.unfinished });
    clock.restart();
  }

  #judge({ stages, x }: Run): Verdict {
    const { residuals, watch, clock } = stages;
    const verdict = residuals.largest < this.#settings.epsilon ? 'going' : watch.judge(x, residuals.r);
    clock.lap('forward');
    return verdict;
  }
}
