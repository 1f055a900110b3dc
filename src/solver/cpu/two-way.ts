import type { ElementPair, PairKind } from '../../errors.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { distancesByVertex } from '../part-distances.js';
import type { Settings } from '../settings.js';
import type { PairCounts, Resolution, StageTimings, Status, StepInput } from '../types.js';
import { ActivePairs } from './active-pairs.js';
import { measurePair, UNIT_ROUNDOFF } from './certificate.js';
import { Contacts, pairDelta } from './contacts.js';
import { EdgeLengths } from './edges.js';
import { Forward } from './forward.js';
import { distanceOfPair } from './pair-distances.js';
import { CORNERS, EE, SIDE_A, VE, VT, VV } from './pairs.js';
import { ProgressWatch } from './progress-watch.js';
import { Proximity } from './proximity.js';
import { Slide } from './slide.js';

/** A stale normal that shows a gap above this multiple of δ rules a contact out without new geometry. */
const STALE_GAP = 1.5;

/** A vertex closer to its target than this many u·X has arrived as far as float32 can tell; r becomes 0. */
const ARRIVAL_ROUNDING = 4;

/** How many pairs a report names as holding the worst vertices. */
const LIMITING_PAIRS = 8;

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
  readonly #residual: Float32Array;
  #candidates = new Uint32Array(0);
  /** counts every step of every request: tells stale pair geometry from current */
  #clock = 0;

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
    this.#residual = new Float32Array(vertexCount);
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
      this.#candidates.byteLength +
      meshBytes(this.#mesh)
    );
  }

  /** @throws TOO_LARGE when the proximity set does not fit; the scene can be used on */
  resolve(input: StepInput): Resolution {
    const opened = performance.now();
    const { epsilon, stepLimit, guard, searchRadiusMin } = this.#settings;
    const start = input.x;
    const target = input.y;
    const x = Float32Array.from(start);
    const y = Float32Array.from(target);
    const timings: StageTimings = { search: 0, geometry: 0, backward: 0, forward: 0 };
    const counts: PairCounts = {
      vertexTriangle: 0,
      edgeEdge: 0,
      vertexEdge: 0,
      vertexVertex: 0,
      activeContacts: 0,
      colours: 0,
    };
    const arrivedWithin = ARRIVAL_ROUNDING * UNIT_ROUNDOFF * largestCoordinate(start);
    let unfinished = this.#beginResiduals(start, target);
    let status: Status = 'STEP_LIMIT';
    let steps = 0;
    let searches = 0;
    let residualMax = unfinished > 0 ? 1 : 0;

    const proximity = this.#proximity;
    proximity.beginRequest(input.leftOut);
    const isReused = unfinished > 0 && proximity.isValidFor(start, target);
    let wantsSearch = !isReused;
    let wanted: Uint8Array | undefined;
    if (isReused) proximity.pairs.delta.fill(0, 0, proximity.pairs.count);
    const settled = performance.now();
    timings.search += settled - opened;
    this.#edges?.linearise(target, this.#settings.sigma);
    this.#watch.begin(x, this.#residual);
    this.#slide.begin();
    this.#forward.touching = 0;
    timings.backward += performance.now() - settled;

    for (;;) {
      if (residualMax < epsilon) {
        status = 'CONVERGED';
        break;
      }
      if (steps >= stepLimit) break;
      if (input.shouldStop?.()) {
        status = 'DEADLINE';
        break;
      }
      this.#clock++;
      if (wantsSearch) {
        const began = performance.now();
        proximity.renew(x, y, wanted);
        this.#active.invalidate();
        searches++;
        wantsSearch = false;
        timings.search += performance.now() - began;
      }
      this.#backward(x, y, start, target, timings, counts);
      let began = performance.now();
      this.#advance(x, y);
      residualMax = this.#updateResiduals(x, y, arrivedWithin);
      unfinished = this.#unfinished;
      this.#slide.observe(this.#forward, this.#residual, this.#moving);
      steps++;
      if (guard === 'RADIUS') {
        proximity.radius -= 2 * this.#forward.largestMove;
        wantsSearch = proximity.radius < searchRadiusMin;
      } else {
        wantsSearch = this.#watch.wantsSearch(this.#residual, this.#forward, this.#moving, proximity.pairs);
        wanted = this.#watch.wanted;
      }
      timings.forward += performance.now() - began;
      input.onState?.(x);
      input.onProgress?.({ steps, residual: residualMax, unfinishedVertices: unfinished });
      began = performance.now();
      const verdict = residualMax < epsilon ? 'going' : this.#watch.judge(x, this.#residual);
      timings.forward += performance.now() - began;
      if (verdict === 'search') {
        wantsSearch = true;
        wanted = undefined;
      }
      if (verdict === 'stalled') {
        status = 'STALLED';
        break;
      }
    }
    this.#countPairs(counts);
    for (const stage of Object.keys(timings) as (keyof StageTimings)[]) timings[stage] *= 1000;
    return {
      status,
      positions: x,
      residuals: this.#residual.slice(),
      arrived: this.#arrived(x, target),
      steps,
      searches,
      proximitySetReused: isReused,
      residual: residualMax,
      unfinishedVertices: unfinished,
      pairs: counts,
      touchingPairs: this.#forward.touching,
      limitingPairs: this.#limitingPairs(),
      timings,
    };
  }

  #unfinished = 0;

  /** r ← 1, but 0 where the target is the start, bit for bit; returns how many are 1. */
  #beginResiduals(start: Float32Array, target: Float32Array): number {
    let wanting = 0;
    for (let i = 0, k = 0; i < this.#residual.length; i++, k += 3) {
      const isThere = start[k] === target[k] && start[k + 1] === target[k + 1] && start[k + 2] === target[k + 2];
      this.#residual[i] = isThere ? 0 : 1;
      if (!isThere) wanting++;
    }
    return wanting;
  }

  /** y ← Backward(y, x, y*, P): λ = 0; edge lengths first, contacts last, as many sweeps as asked. */
  #backward(
    x: Float32Array,
    y: Float32Array,
    start: Float32Array,
    target: Float32Array,
    timings: StageTimings,
    counts: PairCounts,
  ): void {
    let began = performance.now();
    this.#edges?.reset();
    this.#edges?.sweep(y);
    timings.backward += performance.now() - began;

    began = performance.now();
    const candidates = this.#findContacts(x, y, start);
    timings.geometry += performance.now() - began;

    began = performance.now();
    const { sweeps, forward } = this.#settings;
    const contacts = this.#contacts;
    const slide = this.#slide;
    const { pairs } = this.#proximity;
    contacts.assemble(pairs, this.#candidates, candidates, x, this.#clock);
    contacts.sweep(x, y);
    for (let n = 1; n < sweeps; n++) {
      this.#edges?.sweep(y);
      contacts.sweep(x, y);
    }
    if (forward === 'PLANAR') slide.apply(pairs, this.#candidates, candidates, x, y, this.#mesh.inverseMasses);
    restoreOverflow(y, target);
    counts.activeContacts = Math.max(counts.activeContacts, contacts.count);
    counts.colours = Math.max(counts.colours, contacts.colouring.colours);
    timings.backward += performance.now() - began;
  }

  /** Pairs with a moving vertex whose gap is under δ_p, with fresh geometry; returns their number. */
  #findContacts(x: Float32Array, y: Float32Array, start: Float32Array): number {
    const { pairs } = this.#proximity;
    const distances = this.#distances;
    let { delta } = this.#settings;
    this.#active.gather(pairs, this.#moving, this.#markMoving(x, y));
    const { list, count } = this.#active;
    if (this.#candidates.length < count) this.#candidates = new Uint32Array(pairs.kind.length);
    let found = 0;
    for (let n = 0; n < count; n++) {
      const p = list[n];
      if (distances) {
        const v = pairs.vertex;
        const q = 4 * p;
        delta = distanceOfPair(distances, pairs.kind[p], v[q], v[q + 1], v[q + 2], v[q + 3]);
      }
      if (staleGap(pairs.vertex, pairs.normal, pairs.kind[p], p, x) > STALE_GAP * delta) continue;
      measurePair(pairs, p, x, this.#clock);
      if (pairs.gap[p] < delta && pairs.gap[p] < pairDelta(pairs, p, start, delta) && pairs.distance[p] > 0) {
        this.#candidates[found++] = p;
      }
    }
    return found;
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
      step: this.#clock,
      rule: forward,
      gamma,
      delta,
      floor,
      box: guard === 'BOXES' ? boxes.box : undefined,
      radius,
    });
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

  /** r_i ← r_i (1 − α_i) (Eq. 17), 0 where y_i is reached to rounding; returns ‖r‖∞. */
  #updateResiduals(x: Float32Array, y: Float32Array, arrivedWithin: number): number {
    const { alpha } = this.#forward;
    const residual = this.#residual;
    let largest = 0;
    let unfinished = 0;
    for (let i = 0, k = 0; i < residual.length; i++, k += 3) {
      if (residual[i] === 0) continue;
      const isThere =
        Math.abs(y[k] - x[k]) <= arrivedWithin &&
        Math.abs(y[k + 1] - x[k + 1]) <= arrivedWithin &&
        Math.abs(y[k + 2] - x[k + 2]) <= arrivedWithin;
      const r = isThere ? 0 : residual[i] * (1 - alpha[i]);
      residual[i] = r;
      if (r > largest) largest = r;
      if (r >= this.#settings.epsilon) unfinished++;
    }
    this.#unfinished = unfinished;
    return largest;
  }

  #arrived(x: Float32Array, target: Float32Array): Uint8Array {
    const arrived = new Uint8Array(this.#mesh.vertexCount);
    for (let i = 0, k = 0; i < arrived.length; i++, k += 3) {
      arrived[i] = x[k] === target[k] && x[k + 1] === target[k + 1] && x[k + 2] === target[k + 2] ? 1 : 0;
    }
    return arrived;
  }

  #countPairs(counts: PairCounts): void {
    const { byKind } = this.#proximity.pairs;
    counts.vertexTriangle = byKind[VT];
    counts.edgeEdge = byKind[EE];
    counts.vertexEdge = byKind[VE];
    counts.vertexVertex = byKind[VV];
  }

  /** The pairs that bounded the vertices with the largest residuals in the last step. */
  #limitingPairs(): ElementPair[] {
    const { pairs } = this.#proximity;
    const worst: number[] = [];
    for (let i = 0; i < this.#residual.length; i++) {
      if (this.#residual[i] < this.#settings.epsilon || this.#forward.limiter[i] < 0) continue;
      let n = worst.length;
      while (n > 0 && this.#residual[worst[n - 1]] < this.#residual[i]) n--;
      if (n < LIMITING_PAIRS) worst.splice(n, 0, i);
      if (worst.length > LIMITING_PAIRS) worst.pop();
    }
    const named = new Set(worst.map((i) => this.#forward.limiter[i]).filter((p) => p < pairs.count));
    return [...named].map((p) => {
      const kind = pairs.kind[p];
      const ids = [...pairs.vertex.subarray(4 * p, 4 * p + CORNERS[kind])];
      return {
        kind: KIND_NAMES[kind],
        a: ids.slice(0, SIDE_A[kind]),
        b: ids.slice(SIDE_A[kind]),
        distance: pairs.distance[p],
        normal: [pairs.normal[3 * p], pairs.normal[3 * p + 1], pairs.normal[3 * p + 2]],
      };
    });
  }
}

/** Bytes a vertex of what the stages keep: residual, moving, limits and α of the forward step, marks, the watch's window. */
const PER_VERTEX_BYTES = 96;

function meshBytes(mesh: CollisionMesh): number {
  let bytes = 0;
  for (const part of Object.values(mesh)) if (ArrayBuffer.isView(part)) bytes += part.byteLength;
  return bytes;
}

/** Whether a proximity set found under `a` is what a search under `b` vouches for: all that boxes and search look at. */
export function servesBoth(a: Settings, b: Settings): boolean {
  return (
    a.delta === b.delta &&
    a.reach === b.reach &&
    a.leap === b.leap &&
    a.searchRadiusMin === b.searchRadiusMin &&
    a.searchRadiusMax === b.searchRadiusMax &&
    a.guard === b.guard &&
    a.skipKinematicPairs === b.skipKinematicPairs
  );
}

const KIND_NAMES: readonly PairKind[] = ['VERTEX_TRIANGLE', 'EDGE_EDGE', 'VERTEX_EDGE', 'VERTEX_VERTEX'];

/** Gap along the pair's last normal, in double: its rounding is far below the multiple of δ it is compared with. */
function staleGap(vertex: Int32Array, normal: Float32Array, kind: number, p: number, x: Float32Array): number {
  const q = 4 * p;
  const nx = normal[3 * p];
  const ny = normal[3 * p + 1];
  const nz = normal[3 * p + 2];
  const o = 3 * vertex[q];
  const height = (v: number): number =>
    nx * (x[3 * v] - x[o]) + ny * (x[3 * v + 1] - x[o + 1]) + nz * (x[3 * v + 2] - x[o + 2]);
  const h1 = height(vertex[q + 1]);
  if (kind === VV) return -h1;
  const h2 = height(vertex[q + 2]);
  if (kind === VE) return -Math.max(h1, h2);
  const h3 = height(vertex[q + 3]);
  return kind === VT ? -Math.max(h1, h2, h3) : Math.min(0, h1) - Math.max(h2, h3);
}

function leastOf(distances: Float32Array | undefined, delta: number): number {
  return distances?.reduce((least, distance) => Math.min(least, distance)) ?? delta;
}

function largestCoordinate(x: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < x.length; i++) {
    const magnitude = Math.abs(x[i]);
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
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
