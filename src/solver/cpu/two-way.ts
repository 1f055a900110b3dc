import type { Status } from '../../contract/report.js';
import type { CollisionMesh } from '../../mesh/types.js';
import type { Resolution, StepInput } from '../engine.js';
import { countPairs, describePair, findLimitingPairs } from '../pair-report.js';
import { distancesByVertex } from '../part-distances.js';
import { type Settings, servesBoth } from '../settings.js';
import { EdgeLengths } from './edges.js';
import { markMoving } from './motion.js';
import { Proximity } from './proximity.js';
import { PairBudgetExceeded } from './search.js';
import { Stages } from './stages.js';
import type { Workspace } from './workspace.js';

/** Sweeps of a step between two questions whether to stop. */
const SWEEPS_PER_QUESTION = 16;

/** Whether P must be searched before the next step, and for which vertices. */
interface NextSearch {
  readonly isDue: boolean;
  /** uint8[V] 1 = needs a new box; undefined = all do */
  readonly wanted: Uint8Array | undefined;
}

/** Thrown to abandon a step before anything has moved. */
class StepAbandoned {}

/**
 * Algorithm 1 on one mesh: alternating backward and forward steps over a proximity set that is searched rarely and kept
 * between requests. Single-threaded and synchronous.
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
  readonly #workspace: Workspace;
  /** counts the steps of all requests: seeds the order of sweeps, and tells current pair geometry from stale */
  #step = 0;

  /** @param workspace of the engine; no other scene uses it during a resolve */
  constructor(mesh: CollisionMesh, settings: Settings, workspace: Workspace) {
    this.#mesh = mesh;
    this.#settings = settings;
    this.#workspace = workspace;
    this.#distances = distancesByVertex(mesh, settings);
    this.#minDelta = minOf(this.#distances, settings.delta);
    this.#proximity = new Proximity(mesh, settings, workspace);
    this.#edges = settings.sigma > 0 ? new EdgeLengths(mesh) : undefined;
  }

  /**
   * Sets the settings from the next resolve on. The proximity set is kept unless a setting changed with which it was
   * searched; the static colouring of the edges is kept as well.
   */
  configure(settings: Settings): void {
    if (!servesBoth(this.#settings, settings)) {
      this.#proximity = new Proximity(this.#mesh, settings, this.#workspace);
    }
    if (settings.sigma > 0) this.#edges ??= new EdgeLengths(this.#mesh);
    else this.#edges = undefined;
    this.#distances = distancesByVertex(this.#mesh, settings);
    this.#minDelta = minOf(this.#distances, settings.delta);
    this.#settings = settings;
  }

  /** Bytes kept between requests besides the mesh. */
  get bytes(): number {
    return this.#proximity.bytes + (this.#edges?.bytes ?? 0) + (this.#distances?.byteLength ?? 0);
  }

  /** Vertices and pairs: a measure of the workspace that the scene needs. */
  get size(): number {
    return this.#mesh.vertexCount + this.#proximity.pairs.count;
  }

  /** @throws TOO_LARGE when the proximity set does not fit; the scene remains usable */
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
    const { epsilon, stepLimit } = this.#settings;
    const { x: start, y: target } = input;
    const x = Float32Array.from(start);
    const y = Float32Array.from(target);
    const { residuals, forward, watch, slide, clock } = stages;
    const proximity = this.#proximity;
    const counts = { activeContacts: 0, colours: 0 };
    let status: Status = 'STEP_LIMIT';
    let steps = 0;
    let searches = 0;

    residuals.begin(start, target);
    proximity.beginRequest(input.excluded);
    const isReused = residuals.unfinished > 0 && proximity.isValidFor(start, target);
    let next: NextSearch = { isDue: !isReused, wanted: undefined };
    const timeLeft = input.timeLeft ?? (() => Number.POSITIVE_INFINITY);
    const pulse = (): void => {
      if (timeLeft() <= 0) throw new StepAbandoned();
    };
    if (isReused) proximity.pairs.delta.fill(0, 0, proximity.pairs.count);
    clock.lap('search');
    this.#edges?.linearise(target, this.#settings.sigma, this.#workspace.scratch);
    watch.begin(x, residuals.r);
    slide.begin();
    clock.lap('backward');

    for (;;) {
      if (residuals.largest < epsilon) {
        status = 'CONVERGED';
        break;
      }
      if (steps >= stepLimit) break;
      if (input.shouldStop?.()) {
        status = 'DEADLINE';
        break;
      }
      clock.restart();
      this.#step++;
      try {
        if (next.isDue) {
          const isShortening = steps === 0 && this.#settings.guard === 'BOXES' && this.#settings.leap > 0;
          this.#search(x, y, next.wanted, isShortening ? shortenOnce(timeLeft, pulse) : pulse);
          searches++;
          clock.lap('search');
        }
        this.#backward(stages, x, y, start, target, counts, input.shouldStop);
        this.#forward(stages, x, y, pulse);
      } catch (thrown) {
        if (!(thrown instanceof StepAbandoned)) throw thrown;
        clock.lap(proximity.isValid ? 'forward' : 'search');
        status = 'DEADLINE';
        break;
      }
      residuals.update(x, y, forward.alpha, epsilon);
      slide.observe(forward, residuals.r, stages.moving);
      steps++;
      next = this.#nextSearch(stages);
      clock.lap('forward');
      input.onState?.(x);
      input.onProgress?.({ steps, residual: residuals.largest, unfinishedVertices: residuals.unfinished });
      clock.restart();
      const verdict = residuals.largest < epsilon ? 'going' : watch.judge(x, residuals.r);
      clock.lap('forward');
      if (verdict === 'search') next = { isDue: true, wanted: undefined };
      if (verdict === 'stalled') {
        status = 'STALLED';
        break;
      }
    }
    const { pairs } = proximity;
    return {
      status,
      positions: x,
      residuals: residuals.r.slice(),
      steps,
      searches,
      proximitySetReused: isReused,
      residual: residuals.largest,
      unfinishedVertices: residuals.unfinished,
      pairs: { ...countPairs((kind) => pairs.byKind[kind]), ...counts },
      touchingPairs: forward.touching,
      limitingPairs: findLimitingPairs(residuals.r, (i) => forward.limiter[i], epsilon, pairs.count).map((p) =>
        describePair(
          pairs.kind[p],
          pairs.vertex.subarray(4 * p, 4 * p + 4),
          pairs.distance[p],
          pairs.normal.subarray(3 * p, 3 * p + 3),
        ),
      ),
      timings: clock.timings,
    };
  }

  /** Searches P; a search that does not end leaves P empty, because no report may name a pair of it. */
  #search(x: Float32Array, y: Float32Array, wanted: Uint8Array | undefined, pulse: () => void): void {
    try {
      this.#proximity.renew(x, y, wanted, pulse);
    } finally {
      if (!this.#proximity.isValid) this.#proximity.pairs.clear();
    }
  }

  /**
   * y ← Backward(y, x, y*, P), Eqs. 9–13: from λ = 0, sweeps over edge lengths, then contacts, as many as set or as time
   * allows.
   */
  #backward(
    stages: Stages,
    x: Float32Array,
    y: Float32Array,
    start: Float32Array,
    target: Float32Array,
    counts: { activeContacts: number; colours: number },
    shouldStop: StepInput['shouldStop'],
  ): void {
    const { delta, sweeps, forward } = this.#settings;
    const { pairs } = this.#proximity;
    const { active, candidates, contacts, slide, clock, moving } = stages;
    this.#edges?.reset();
    this.#edges?.sweep(y);
    clock.lap('backward');

    active.gather(pairs, moving, markMoving(x, y, moving));
    candidates.find(pairs, active, x, start, this.#step, delta, this.#distances);
    clock.lap('geometry');

    const { list, count } = candidates;
    contacts.assemble(pairs, list, count, x, this.#step);
    contacts.sweep(x, y);
    for (let n = 1; n < sweeps; n++) {
      // Many sweeps may exceed the time budget. Every y is a safe target, so the remaining sweeps can be omitted.
      if (n % SWEEPS_PER_QUESTION === 0 && shouldStop?.()) break;
      this.#edges?.sweep(y);
      contacts.sweep(x, y);
    }
    if (forward === 'PLANAR') slide.apply(pairs, list, count, x, y, this.#mesh.inverseMasses);
    restoreOverflow(y, target);
    counts.activeContacts = Math.max(counts.activeContacts, contacts.count);
    counts.colours = Math.max(counts.colours, contacts.colouring.colours);
    clock.lap('backward');
  }

  /** x, r ← Forward(x, y, P), Eqs. 14–17. */
  #forward(stages: Stages, x: Float32Array, y: Float32Array, pulse: () => void): void {
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
    });
  }

  /** Whether P must be searched before the next step: under RADIUS when D < Dmin, under BOXES when boxes stop vertices. */
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
}

/**
 * A pulse for the first search, which has the longest leap: once half of the remaining time has passed, it declares the
 * pairs too many, and the search restarts with half the leap. The rest of a first step costs as much as its search, so that
 * step would have been abandoned; half the leap has a third to a tenth of the pairs.
 */
function shortenOnce(timeLeft: () => number, pulse: () => void): () => void {
  const half = timeLeft() / 2;
  let isShort = false;
  return () => {
    pulse();
    if (isShort || !(timeLeft() < half)) return;
    isShort = true;
    throw new PairBudgetExceeded();
  };
}

function minOf(distances: Float32Array | undefined, delta: number): number {
  return distances?.reduce((min, distance) => Math.min(min, distance)) ?? delta;
}

/**
 * Sets y_i back to y*_i where the backward step left the range of float32: targets may lie 1e12 extents away. y is guidance
 * only, so this costs quality, not safety, and keeps NaN out of every stage.
 */
function restoreOverflow(y: Float32Array, target: Float32Array): void {
  for (let k = 0; k < y.length; k++) {
    if (!Number.isFinite(y[k])) {
      const i = k - (k % 3);
      for (let c = i; c < i + 3; c++) y[c] = target[c];
    }
  }
}
