import type { Status } from '../../contract/report.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { countPairs, describePair, findLimitingPairs } from '../pair-report.js';
import { distancesByVertex } from '../part-distances.js';
import { type Settings, servesBoth } from '../settings.js';
import type { Resolution, StepInput } from '../types.js';
import { EdgeLengths } from './edges.js';
import { Proximity } from './proximity.js';
import { PairBudgetExceeded } from './search.js';
import { StageClock } from './stage-clock.js';
import { Stages } from './stages.js';
import type { Workspace } from './workspace.js';

/** Sweeps of a step between two looks at whether to go on. */
const SWEEPS_UNASKED = 16;

interface NextSearch {
  readonly isDue: boolean;
  /** uint8[V] 1 = needs a new box; undefined = everything anew */
  readonly wanted: Uint8Array | undefined;
}

/** A step that was given up halfway: nothing has moved in it. */
class StepAbandoned {}

/**
 * Algorithm 1 on one mesh: backward and forward steps in turn over a proximity set that is searched rarely and kept
 * between requests. Single-threaded and synchronous; `resolve` may be called again with the next request.
 */
export class TwoWay {
  readonly #mesh: CollisionMesh;
  #settings: Settings;
  /** float32[V] δ by vertex, engine units; undefined = one δ for all */
  #distances: Float32Array | undefined;
  /** the smallest of them, or δ */
  #leastDelta: number;
  #proximity: Proximity;
  #edges: EdgeLengths | undefined;
  readonly #workspace: Workspace;
  /** counts every step of every request: the seed of their orders, and what tells stale pair geometry from current */
  #step = 0;

  /** @param workspace of the engine; no other scene computes in it while this one does */
  constructor(mesh: CollisionMesh, settings: Settings, workspace: Workspace) {
    this.#mesh = mesh;
    this.#settings = settings;
    this.#workspace = workspace;
    this.#distances = distancesByVertex(mesh, settings);
    this.#leastDelta = leastOf(this.#distances, settings.delta);
    this.#proximity = new Proximity(mesh, settings, workspace);
    this.#edges = settings.sigma > 0 ? new EdgeLengths(mesh) : undefined;
  }

  /**
   * Other settings from the next resolve on. What outlives requests is the proximity set, kept as long as nothing changed
   * that it was found with, and the static colouring of the edges.
   */
  configure(settings: Settings): void {
    if (!servesBoth(this.#settings, settings)) {
      this.#proximity = new Proximity(this.#mesh, settings, this.#workspace);
    }
    if (settings.sigma > 0) this.#edges ??= new EdgeLengths(this.#mesh);
    else this.#edges = undefined;
    this.#distances = distancesByVertex(this.#mesh, settings);
    this.#leastDelta = leastOf(this.#distances, settings.delta);
    this.#settings = settings;
  }

  /** of what is kept between requests besides the mesh, from the lengths of the arrays */
  get bytes(): number {
    return this.#proximity.bytes + (this.#edges?.bytes ?? 0) + (this.#distances?.byteLength ?? 0);
  }

  /** Vertices and pairs: which of two scenes asks more of the workspace. */
  get size(): number {
    return this.#mesh.vertexCount + this.#proximity.pairs.count;
  }

  /** @throws TOO_LARGE when the proximity set does not fit; the scene can be used on */
  resolve(input: StepInput): Resolution {
    const proximity = this.#proximity;
    return this.#workspace.lend(() => {
      try {
        proximity.acquire();
        const resolution = this.#run(input, new Stages(this.#mesh, this.#settings, this.#workspace));
        proximity.release();
        return resolution;
      } catch (thrown) {
        proximity.invalidate();
        throw thrown;
      } finally {
        this.#edges?.rest();
      }
    });
  }

  #run(input: StepInput, stages: Stages): Resolution {
    const clock = new StageClock();
    const { epsilon, stepLimit } = this.#settings;
    const { x: start, y: target } = input;
    const x = Float32Array.from(start);
    const y = Float32Array.from(target);
    const { residuals, forward, watch, slide } = stages;
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
        this.#backward(stages, x, y, start, target, clock, counts, input.shouldStop);
        this.#advance(stages, x, y, pulse);
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

  /** What a search leaves that did not come to its end is no P: nobody may name a pair of it. */
  #search(x: Float32Array, y: Float32Array, wanted: Uint8Array | undefined, pulse: () => void): void {
    try {
      this.#proximity.renew(x, y, wanted, pulse);
    } finally {
      if (!this.#proximity.isValid) this.#proximity.pairs.clear();
    }
  }

  /** y ← Backward(y, x, y*, P): λ = 0; edge lengths first, contacts last, as many sweeps as asked, or as there is time for. */
  #backward(
    stages: Stages,
    x: Float32Array,
    y: Float32Array,
    start: Float32Array,
    target: Float32Array,
    clock: StageClock,
    counts: { activeContacts: number; colours: number },
    shouldStop: StepInput['shouldStop'],
  ): void {
    const { delta, sweeps, forward } = this.#settings;
    const { pairs } = this.#proximity;
    this.#edges?.reset();
    this.#edges?.sweep(y);
    clock.lap('backward');

    const { active, candidates, contacts, slide } = stages;
    active.gather(pairs, stages.moving, stages.markMoving(x, y));
    candidates.find(pairs, active, x, start, this.#step, delta, this.#distances);
    clock.lap('geometry');

    const { list, count } = candidates;
    contacts.assemble(pairs, list, count, x, this.#step);
    contacts.sweep(x, y);
    for (let n = 1; n < sweeps; n++) {
      // Many sweeps may outlast the time budget. Any y is safe to go towards, so that the rest of them can be left.
      if (n % SWEEPS_UNASKED === 0 && shouldStop?.()) break;
      this.#edges?.sweep(y);
      contacts.sweep(x, y);
    }
    if (forward === 'PLANAR') slide.apply(pairs, list, count, x, y, this.#mesh.inverseMasses);
    restoreOverflow(y, target);
    counts.activeContacts = Math.max(counts.activeContacts, contacts.count);
    counts.colours = Math.max(counts.colours, contacts.colouring.colours);
    clock.lap('backward');
  }

  #advance(stages: Stages, x: Float32Array, y: Float32Array, pulse: () => void): void {
    const { pairs, boxes, radius } = this.#proximity;
    const { active, moving } = stages;
    const { guard, gamma, floor, forward: rule } = this.#settings;
    // A pair that stays this far apart is passed over: with the floor well below it, none is worth a bound.
    const delta = this.#leastDelta;
    active.gather(pairs, moving, stages.markMoving(x, y));
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
      delta,
      floor,
      box: guard === 'BOXES' ? boxes.box : undefined,
      radius,
      pulse,
    });
  }

  /** Is P to be found anew before the next step: all of it, or what only some vertices need? */
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
 * A pulse for the first search, whose leap is as long as leaps get: beyond half of the time left, pairs are declared too many,
 * once, and the search begins again with half the leap. The rest of a first step costs what its search costs, so this one
 * would have been given up; and half the leap has a third to a tenth of the pairs.
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

function leastOf(distances: Float32Array | undefined, delta: number): number {
  return distances?.reduce((least, distance) => Math.min(least, distance)) ?? delta;
}

/**
 * The backward step works with targets that may lie 1e12 extents away; should a push leave the range of float32, that
 * vertex's y goes back to y*. y is guidance only, so this costs quality, not safety, and keeps NaN out of every stage.
 */
function restoreOverflow(y: Float32Array, target: Float32Array): void {
  for (let k = 0; k < y.length; k++) {
    if (!Number.isFinite(y[k])) {
      const i = k - (k % 3);
      for (let c = i; c < i + 3; c++) y[c] = target[c];
    }
  }
}
