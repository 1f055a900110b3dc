import type { EngineHolds, EnginePushes } from '../engine.js';
import { CORNERS } from '../pair-kinds.js';
import type { Contacts } from './contacts.js';
import type { PairSet } from './pair-set.js';

/** A vertex that no pair has held. */
const NONE = -1;

/** Pairs as in a pair set: their codes in PAIR_KINDS, and four slots of vertices each. */
export interface PairView {
  readonly kind: ArrayLike<number>;
  readonly vertex: ArrayLike<number>;
}

/** Pairs with the multipliers of their rows, 0 if a pair has none. */
export interface PushView extends PairView {
  readonly count: number;
  readonly lambda: ArrayLike<number>;
}

/**
 * Records for every vertex which pair held it last, and since which step. A pair holds a vertex in a step if its row
 * pushes the vertex most or, if no row pushes it, if the pair bounds its α. The record is kept only for requests that
 * ask for it.
 */
export class HoldRecord {
  readonly #kinds: Int8Array;
  /** int32[4·V] */
  readonly #vertices: Int32Array;
  readonly #since: Uint32Array;
  /** int32[V] the pair of this step, and float32[V] its push */
  readonly #pair: Int32Array;
  readonly #push: Float32Array;
  /** of the last sweeps of the pull-back, of its last step, and of the one that led to the best state */
  #swept = pushesOf({ count: 0, kind: [], vertex: [], lambda: [] });
  #latest = this.#swept;
  #pushes: EnginePushes | undefined;

  constructor(vertexCount: number) {
    this.#kinds = new Int8Array(vertexCount).fill(NONE);
    this.#vertices = new Int32Array(4 * vertexCount);
    this.#since = new Uint32Array(vertexCount);
    this.#pair = new Int32Array(vertexCount);
    this.#push = new Float32Array(vertexCount);
  }

  /** Records a step of Algorithm 1. @param step its number @param limiter int32[V] the pairs that bounded α */
  noteStep(step: number, pairs: PairSet, contacts: Contacts, limiter: Int32Array): void {
    this.#begin();
    for (let r = 0; r < contacts.count; r++) this.#offer(pairs, contacts.pairOf[r], contacts.multiplierOf(r));
    this.#settle(step, pairs, pairs, limiter);
  }

  /**
   * Takes the multipliers of the sweeps of a step of the pull-back, which are stored with the pairs until a search
   * replaces these.
   */
  takePushes(pushing: PushView): void {
    this.#swept = pushesOf(pushing);
  }

  /** Records the forward step after those sweeps. @param limited the pairs to which `limiter`, int32[V], refers */
  notePull(step: number, limited: PairView, limiter: Int32Array): void {
    const { kinds, vertices, multipliers } = this.#swept;
    const lambda = multipliers;
    this.noteRows(step, { count: kinds.length, kind: kinds, vertex: vertices, lambda }, limited, limiter);
    this.#latest = this.#swept;
  }

  /**
   * Records a step of Algorithm 1 whose multipliers are stored with the pairs.
   *
   * @param limited as for {@link notePull}
   */
  noteRows(step: number, pushing: PushView, limited: PairView, limiter: Int32Array): void {
    this.#begin();
    for (let p = 0; p < pushing.count; p++) if (pushing.lambda[p] > 0) this.#offer(pushing, p, pushing.lambda[p]);
    this.#settle(step, pushing, limited, limiter);
  }

  /** Keeps the pushes of the last step of the pull-back, which has led to the best state so far. */
  keepPushes(): void {
    this.#pushes = this.#latest;
  }

  get holds(): EngineHolds {
    return {
      kinds: this.#kinds,
      vertices: this.#vertices,
      since: this.#since,
      ...(this.#pushes ? { pushes: this.#pushes } : {}),
    };
  }

  #begin(): void {
    this.#pair.fill(NONE);
    this.#push.fill(0);
  }

  #offer({ kind, vertex }: PairView, p: number, push: number): void {
    for (let s = 4 * p; s < 4 * p + CORNERS[kind[p]]; s++) {
      const v = vertex[s];
      if (!(push > this.#push[v])) continue;
      this.#push[v] = push;
      this.#pair[v] = p;
    }
  }

  #settle(step: number, pushing: PairView, limited: PairView, limiter: Int32Array): void {
    for (let v = 0; v < this.#pair.length; v++) {
      const isPushed = this.#pair[v] !== NONE;
      const p = isPushed ? this.#pair[v] : limiter[v];
      if (p < 0) continue;
      const { kind, vertex } = isPushed ? pushing : limited;
      const [q, k] = [4 * p, 4 * v];
      const held = this.#vertices;
      const isSame =
        this.#kinds[v] === kind[p] &&
        held[k] === vertex[q] &&
        held[k + 1] === vertex[q + 1] &&
        held[k + 2] === vertex[q + 2] &&
        held[k + 3] === vertex[q + 3];
      if (isSame) continue;
      this.#kinds[v] = kind[p];
      for (let s = 0; s < 4; s++) held[k + s] = vertex[q + s];
      this.#since[v] = step;
    }
  }
}

function pushesOf({ count, kind, vertex, lambda }: PushView): EnginePushes {
  let pushing = 0;
  for (let p = 0; p < count; p++) if (lambda[p] > 0) pushing++;
  const kinds = new Uint8Array(pushing);
  const vertices = new Int32Array(4 * pushing);
  const multipliers = new Float32Array(pushing);
  for (let p = 0, n = 0; p < count; p++) {
    if (!(lambda[p] > 0)) continue;
    kinds[n] = kind[p];
    multipliers[n] = lambda[p];
    for (let s = 0; s < 4; s++) vertices[4 * n + s] = vertex[4 * p + s];
    n++;
  }
  return { kinds, vertices, multipliers };
}
