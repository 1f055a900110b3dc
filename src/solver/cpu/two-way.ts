import type { CollisionMesh } from '../../mesh/types.js';
import { distancesByVertex } from '../part-distances.js';
import { type Settings, servesBoth } from '../settings.js';
import type { Resolution, Status, StepInput } from '../types.js';
import { ActivePairs } from './active-pairs.js';
import { ContactCandidates } from './contact-candidates.js';
import { Contacts } from './contacts.js';
import { EdgeLengths } from './edges.js';
import { Forward } from './forward.js';
import { countPairs, nameLimitingPairs } from './pair-report.js';
import { ProgressWatch } from './progress-watch.js';
import { Proximity } from './proximity.js';
import { Residuals } from './residuals.js';
import { Slide } from './slide.js';
import { StageClock } from './stage-clock.js';

interface NextSearch {
  readonly isDue: boolean;
  /** uint8[V] 1 = needs a new box; undefined = everything anew */
  readonly wanted: Uint8Array | undefined;
}

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
  #contacts: Contacts;
  readonly #forward: Forward;
  readonly #active: ActivePairs;
  #watch: ProgressWatch;
  #slide: Slide;
  readonly #moving: Uint8Array;
  readonly #residuals: Residuals;
  readonly #candidates = new ContactCandidates();
  /** counts every step of every request: tells stale pair geometry from current */
  #step = 0;

  constructor(mesh: CollisionMesh, settings: Settings) {
    const vertexCount = mesh.vertexCount;
    this.#mesh = mesh;
    this.#settings = settings;
    this.#distances = distancesByVertex(mesh, settings);
    this.#leastDelta = leastOf(this.#distances, settings.delta);
    this.#proximity = new Proximity(mesh, settings);
    this.#edges = settings.sigma > 0 ? new EdgeLengths(mesh) : undefined;
    this.#contacts = new Contacts(mesh.inverseMasses, settings.contact);
    this.#forward = new Forward(vertexCount);
    this.#active = new ActivePairs(vertexCount);
    this.#watch = new ProgressWatch(vertexCount, settings);
    this.#slide = new Slide(vertexCount, settings);
    this.#moving = new Uint8Array(vertexCount);
    this.#residuals = new Residuals(vertexCount);
  }

  /**
   * Other settings from the next resolve on. What a stage remembers within one request is begun anew by every request, so
   * those stages are simply replaced; what outlives requests is the proximity set, kept as long as nothing changed that it
   * was found with, and the static colouring of the edges.
   */
  configure(settings: Settings): void {
    const vertexCount = this.#mesh.vertexCount;
    if (!servesBoth(this.#settings, settings)) this.#proximity = new Proximity(this.#mesh, settings);
    if (settings.sigma > 0) this.#edges ??= new EdgeLengths(this.#mesh);
    else this.#edges = undefined;
    if (settings.contact !== this.#settings.contact) {
      this.#contacts = new Contacts(this.#mesh.inverseMasses, settings.contact);
    }
    this.#watch = new ProgressWatch(vertexCount, settings);
    this.#slide = new Slide(vertexCount, settings);
    this.#distances = distancesByVertex(this.#mesh, settings);
    this.#leastDelta = leastOf(this.#distances, settings.delta);
    this.#settings = settings;
  }

  /**
   * An estimate: what grows with the scene (pairs, boxes, rows, the mesh's own arrays), counted from the lengths of the
   * arrays; what a search allocates and drops again is not in it.
   */
  get bytes(): number {
    return (
      this.#proximity.bytes +
      PER_VERTEX_BYTES * this.#mesh.vertexCount +
      this.#candidates.list.byteLength +
      meshBytes(this.#mesh)
    );
  }

  /** @throws TOO_LARGE when the proximity set does not fit; the scene can be used on */
  resolve(input: StepInput): Resolution {
    const clock = new StageClock();
    const { epsilon, stepLimit } = this.#settings;
    const { x: start, y: target } = input;
    const x = Float32Array.from(start);
    const y = Float32Array.from(target);
    const residuals = this.#residuals;
    const proximity = this.#proximity;
    const counts = { activeContacts: 0, colours: 0 };
    let status: Status = 'STEP_LIMIT';
    let steps = 0;
    let searches = 0;

    residuals.begin(start, target);
    proximity.beginRequest(input.leftOut);
    const isReused = residuals.unfinished > 0 && proximity.isValidFor(start, target);
    let next: NextSearch = { isDue: !isReused, wanted: undefined };
    if (isReused) proximity.pairs.delta.fill(0, 0, proximity.pairs.count);
    clock.lap('search');
    this.#edges?.linearise(target, this.#settings.sigma);
    this.#watch.begin(x, residuals.r);
    this.#slide.begin();
    this.#forward.touching = 0;
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
      if (next.isDue) {
        proximity.renew(x, y, next.wanted);
        this.#active.invalidate();
        searches++;
        clock.lap('search');
      }
      this.#backward(x, y, start, target, clock, counts);
      this.#advance(x, y);
      residuals.update(x, y, this.#forward.alpha, epsilon);
      this.#slide.observe(this.#forward, residuals.r, this.#moving);
      steps++;
      next = this.#nextSearch();
      clock.lap('forward');
      input.onState?.(x);
      input.onProgress?.({ steps, residual: residuals.largest, unfinishedVertices: residuals.unfinished });
      clock.restart();
      const verdict = residuals.largest < epsilon ? 'going' : this.#watch.judge(x, residuals.r);
      clock.lap('forward');
      if (verdict === 'search') next = { isDue: true, wanted: undefined };
      if (verdict === 'stalled') {
        status = 'STALLED';
        break;
      }
    }
    return {
      status,
      positions: x,
      residuals: residuals.r.slice(),
      steps,
      searches,
      proximitySetReused: isReused,
      residual: residuals.largest,
      unfinishedVertices: residuals.unfinished,
      pairs: { ...countPairs(proximity.pairs), ...counts },
      touchingPairs: this.#forward.touching,
      limitingPairs: nameLimitingPairs(proximity.pairs, residuals.r, this.#forward.limiter, epsilon),
      timings: clock.timings,
    };
  }

  /** y ← Backward(y, x, y*, P): λ = 0; edge lengths first, contacts last, as many sweeps as asked. */
  #backward(
    x: Float32Array,
    y: Float32Array,
    start: Float32Array,
    target: Float32Array,
    clock: StageClock,
    counts: { activeContacts: number; colours: number },
  ): void {
    const { delta, sweeps, forward } = this.#settings;
    const { pairs } = this.#proximity;
    this.#edges?.reset();
    this.#edges?.sweep(y);
    clock.lap('backward');

    this.#active.gather(pairs, this.#moving, this.#markMoving(x, y));
    this.#candidates.find(pairs, this.#active, x, start, this.#step, delta, this.#distances);
    clock.lap('geometry');

    const { list, count } = this.#candidates;
    const contacts = this.#contacts;
    contacts.assemble(pairs, list, count, x, this.#step);
    contacts.sweep(x, y);
    for (let n = 1; n < sweeps; n++) {
      this.#edges?.sweep(y);
      contacts.sweep(x, y);
    }
    if (forward === 'PLANAR') this.#slide.apply(pairs, list, count, x, y, this.#mesh.inverseMasses);
    restoreOverflow(y, target);
    counts.activeContacts = Math.max(counts.activeContacts, contacts.count);
    counts.colours = Math.max(counts.colours, contacts.colouring.colours);
    clock.lap('backward');
  }

  #advance(x: Float32Array, y: Float32Array): void {
    const { pairs, boxes, radius } = this.#proximity;
    const { guard, gamma, floor, forward } = this.#settings;
    // A pair that stays this far apart is passed over: with the floor well below it, none is worth a bound.
    const delta = this.#leastDelta;
    this.#active.gather(pairs, this.#moving, this.#markMoving(x, y));
    this.#forward.advance({
      x,
      y,
      pairs,
      active: this.#active.list,
      activeCount: this.#active.count,
      moving: this.#moving,
      step: this.#step,
      rule: forward,
      gamma,
      delta,
      floor,
      box: guard === 'BOXES' ? boxes.box : undefined,
      radius,
    });
  }

  /** Is P to be found anew before the next step: all of it, or what only some vertices need? */
  #nextSearch(): NextSearch {
    const { guard, searchRadiusMin } = this.#settings;
    const proximity = this.#proximity;
    if (guard === 'RADIUS') {
      proximity.radius -= 2 * this.#forward.largestMove;
      return { isDue: proximity.radius < searchRadiusMin, wanted: undefined };
    }
    const isDue = this.#watch.wantsSearch(this.#residuals.r, this.#forward, this.#moving, proximity.pairs);
    return { isDue, wanted: this.#watch.wanted };
  }

  #markMoving(x: Float32Array, y: Float32Array): number {
    const moving = this.#moving;
    let count = 0;
    for (let i = 0, k = 0; i < moving.length; i++, k += 3) {
      const moves = x[k] !== y[k] || x[k + 1] !== y[k + 1] || x[k + 2] !== y[k + 2] ? 1 : 0;
      moving[i] = moves;
      count += moves;
    }
    return count;
  }
}

/** Bytes a vertex of what the stages keep: residual, moving, limits and α of the forward step, marks, the watch's window. */
const PER_VERTEX_BYTES = 96;

function meshBytes(mesh: CollisionMesh): number {
  let bytes = 0;
  for (const part of Object.values(mesh)) if (ArrayBuffer.isView(part)) bytes += part.byteLength;
  return bytes;
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
