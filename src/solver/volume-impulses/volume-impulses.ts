import type { Status } from '../../contract/report.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { LIMITING_PAIRS } from '../constants.js';
import { timeLeftOf } from '../cpu/time-left.js';
import type { ImpulseFigures, Resolution, StepInput } from '../engine.js';
import { PAIR_KINDS } from '../pair-kinds.js';
import { countPairs, describePair } from '../pair-report.js';
import type { Settings } from '../settings.js';
import { StepAbandoned } from '../step-abandoned.js';
import { CollidingPairs } from './colliding-pairs.js';
import { MOST_ROUNDS, PATIENCE, SHORTEST_PIECE } from './constants.js';
import { MovingPairs } from './moving-pairs.js';
import { Newton } from './newton.js';
import { Volumes } from './volumes.js';

/** Changes the candidate of a piece between two searches. */
export interface CollisionResponse {
  /**
   * @param volumes the colliding pairs
   * @param x float32[3·V] x^n
   * @param candidate float64[3·V] x_*; corrected in place
   * @param pulse called at short intervals; may throw
   */
  solve(volumes: Volumes, x: Float32Array, candidate: Float64Array, pulse: () => void): void;
  /** vertices that the last solve may have moved */
  readonly members: readonly number[];
  /** number so far */
  readonly iterations: number;
  readonly solverIterations: number;
}

/**
 * One resolve by volume-preserving impulses (docs/method.md, Volume-preserving impulses).
 *
 * The request's motion is Δt = 1 with the velocity v = y − x. It is attempted in one straight piece; a piece whose
 * collisions are not resolved is abandoned and attempted at half its length, as the paper retries with a smaller time
 * step (Section 3, step 5). Impulses change the velocities with which the next piece begins. A state is accepted only
 * if no pair collides on the whole way to it, rounded to float32 as it will be written ({@link PairPath}); so every
 * accepted state and every piece is safe.
 */
export class VolumeImpulses {
  readonly #mesh: CollisionMesh;
  readonly #settings: Settings;
  readonly #input: StepInput;
  readonly #pulse: () => void;
  readonly #response: CollisionResponse;
  readonly #moving: MovingPairs;
  readonly #pairs: CollidingPairs;
  readonly #volumes = new Volumes();
  /** float32[3·V] the last accepted state, x^n; and the end of the current piece, as it would be written */
  readonly #x: Float32Array;
  readonly #z: Float32Array;
  /** float64[3·V] x_*^{n+1} before rounding */
  readonly #candidate: Float64Array;
  /** float64[3·V] v */
  readonly #velocity: Float64Array;
  /** uint8[V] 1 = impulses have changed its velocity, so it no longer reaches its target */
  readonly #isDeflected: Uint8Array;
  /** share of the motion that x has made */
  #share = 0;
  /** the same for every accepted state */
  readonly #shares: number[] = [];
  #pieces = 0;
  #rounds = 0;
  #mostVolumes = 0;
  /** whether the last search found all pairs */
  #wasComplete = true;
  #counts = { ...countPairs(() => 0), activeContacts: 0, colours: 0 };

  constructor(
    mesh: CollisionMesh,
    settings: Settings,
    input: StepInput,
    response: CollisionResponse = new Newton(mesh.inverseMasses),
  ) {
    this.#mesh = mesh;
    this.#settings = settings;
    this.#input = input;
    this.#pulse = timeLeftOf(input).pulse;
    this.#response = response;
    this.#moving = new MovingPairs(mesh, { skipsKinematic: settings.skipKinematicPairs, excluded: input.excluded });
    this.#pairs = new CollidingPairs(this.#moving, mesh.contactVertices.length, settings.floor);
    this.#x = input.x.slice();
    this.#z = new Float32Array(input.x.length);
    this.#candidate = new Float64Array(input.x.length);
    this.#velocity = Float64Array.from(input.y, (to, k) => to - input.x[k]);
    this.#isDeflected = new Uint8Array(mesh.vertexCount);
  }

  run(): Resolution {
    const began = performance.now();
    let status: Status;
    try {
      status = this.#advance();
    } catch (thrown) {
      if (!(thrown instanceof StepAbandoned)) throw thrown;
      status = 'DEADLINE';
    } finally {
      this.#moving.free();
    }
    return this.#report(status, (performance.now() - began) * 1000);
  }

  #advance(): Status {
    const { onState, onProgress, shouldStop } = this.#input;
    let length = 1;
    while (1 - this.#share >= this.#settings.epsilon) {
      if (this.#pieces >= this.#settings.stepLimit) return 'STEP_LIMIT';
      if (shouldStop?.()) return 'DEADLINE';
      if (!this.#tryPiece(length)) {
        length /= 2;
        if (length < SHORTEST_PIECE) return 'STALLED';
        continue;
      }
      this.#x.set(this.#z);
      this.#share += length;
      this.#shares.push(this.#share);
      this.#pieces++;
      onState?.(this.#x, { phase: 'IMPULSES', step: this.#pieces });
      onProgress?.({ steps: this.#pieces, residual: 1 - this.#share, unfinishedVertices: this.#unfinished() });
      // Pieces lie on dyadic times, so the last one ends at 1.
      while (this.#share < 1 && (this.#share / (2 * length)) % 1 === 0) length *= 2;
    }
    return 'CONVERGED';
  }

  /**
   * Carries out Table 1 for one piece of this length.
   *
   * @returns whether z is free of collisions; otherwise nothing has changed
   */
  #tryPiece(length: number): boolean {
    const volumes = this.#volumes;
    const candidate = this.#candidate;
    this.#aim(length);
    this.#pairs.beginPiece();
    const deflected = new Set<number>();
    const counts: number[] = [];
    for (let round = 0; round <= MOST_ROUNDS; round++) {
      this.#z.set(candidate);
      const isComplete = this.#pairs.find(this.#x, this.#z, volumes, this.#pulse);
      this.#rounds++;
      this.#countPairs();
      this.#wasComplete = isComplete;
      if (!isComplete) return false;
      if (volumes.count === 0) {
        this.#accept(deflected, length);
        return true;
      }
      counts.push(volumes.count);
      if (round === MOST_ROUNDS) return false;
      if (round >= PATIENCE && volumes.count > counts[round - PATIENCE] / 2) return false;
      this.#pairs.raiseGoals(volumes, candidate);
      this.#response.solve(volumes, this.#x, candidate, this.#pulse);
      for (const v of this.#response.members) deflected.add(v);
    }
    return false;
  }

  /**
   * x_* ← x + Δt v; a vertex without impulses is on its straight way from start to target, and ends on the bits of its
   * target.
   */
  #aim(length: number): void {
    const { x: start, y: target } = this.#input;
    const end = this.#share + length;
    const candidate = this.#candidate;
    for (let v = 0; v < this.#mesh.vertexCount; v++) {
      for (let k = 3 * v; k < 3 * v + 3; k++) {
        if (this.#isDeflected[v] !== 0) candidate[k] = this.#x[k] + length * this.#velocity[k];
        else candidate[k] = end === 1 ? target[k] : start[k] + end * this.#velocity[k];
      }
    }
  }

  /** v ← (x_* − x)/Δt for vertices with impulses, from x_* before its rounding, so that no momentum is lost to it. */
  #accept(deflected: ReadonlySet<number>, length: number): void {
    for (const v of deflected) {
      this.#isDeflected[v] = 1;
      for (let k = 3 * v; k < 3 * v + 3; k++) this.#velocity[k] = (this.#candidate[k] - this.#x[k]) / length;
    }
  }

  #countPairs(): void {
    const volumes = this.#volumes;
    if (volumes.count <= this.#mostVolumes) return;
    this.#mostVolumes = volumes.count;
    const byKind = PAIR_KINDS.map(() => 0);
    for (let n = 0; n < volumes.count; n++) byKind[volumes.kind[n]]++;
    this.#counts = { ...countPairs((kind) => byKind[kind]), activeContacts: volumes.count, colours: 0 };
  }

  #unfinished(): number {
    if (1 - this.#share < this.#settings.epsilon) return 0;
    return this.#residuals().reduce((sum, r) => sum + (r > 0 ? 1 : 0), 0);
  }

  /** r: the share of its motion that a vertex has not been granted, the same for all vertices that have one. */
  #residuals(): Float32Array {
    const { x, y } = this.#input;
    const rest = 1 - this.#share;
    return Float32Array.from({ length: this.#mesh.vertexCount }, (_, v) =>
      x[3 * v] === y[3 * v] && x[3 * v + 1] === y[3 * v + 1] && x[3 * v + 2] === y[3 * v + 2] ? 0 : rest,
    );
  }

  #report(status: Status, time: number): Resolution {
    const residuals = this.#residuals();
    const isStalled = status === 'STALLED';
    const remaining = isStalled ? this.#volumes.count : 0;
    const impulses: ImpulseFigures = {
      motionShare: this.#share,
      shares: this.#shares,
      rounds: this.#rounds,
      newtonIterations: this.#response.iterations,
      solverIterations: this.#response.solverIterations,
      volumes: this.#mostVolumes,
      remainingPairs: remaining,
      ...(remaining > 0 && !this.#wasComplete ? { hasMore: true } : {}),
    };
    return {
      status,
      positions: this.#x,
      residuals,
      steps: this.#pieces,
      residual: residuals.reduce((most, r) => Math.max(most, r), 0),
      unfinishedVertices: this.#unfinished(),
      limitingPairs: Array.from({ length: Math.min(LIMITING_PAIRS, remaining) }, (_, n) => this.#describe(n)),
      searches: this.#rounds,
      proximitySetReused: false,
      pairs: this.#counts,
      touchingPairs: 0,
      timings: { search: 0, geometry: 0, backward: time, forward: 0 },
      impulses,
    };
  }

  /** Describes a remaining pair as it is in the answer. */
  #describe(n: number) {
    const { kind, vertex } = this.#volumes;
    const slots = vertex.subarray(4 * n, 4 * n + 4);
    const { distance, normal } = this.#pairs.measure(kind[n], this.#x, slots);
    return describePair(kind[n], slots, distance, normal);
  }
}
