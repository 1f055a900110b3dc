import { allocate, release } from '../../threads/arrays.js';
import { team } from '../../threads/here.js';
import { pairLimit } from '../pair-budget.js';
import { ActivePairs } from './active-pairs.js';
import { PairGeometry } from './pair-set.js';
import { SearchTrees } from './search.js';

/** A buffer that is too small grows by this factor at least, so that slowly growing demands allocate rarely. */
const GROWTH = 1.25;

/**
 * Named buffers for the duration of one request, reused by the next one of any scene. A view is valid until the same
 * name is requested again, or until {@link free}; afterwards its memory may belong to another buffer. Stages can work
 * on all of them.
 */
export class Scratch {
  readonly #buffers = new Map<string, Uint8Array>();

  get bytes(): number {
    let sum = 0;
    for (const buffer of this.#buffers.values()) sum += buffer.byteLength;
    return sum;
  }

  /** @returns float32[length] with undefined content */
  float32(name: string, length: number): Float32Array {
    return new Float32Array(this.#buffer(name, 4 * length), 0, length);
  }

  /** @returns float64[length] with undefined content */
  float64(name: string, length: number): Float64Array {
    return new Float64Array(this.#buffer(name, 8 * length), 0, length);
  }

  /** @returns int32[length] with undefined content */
  int32(name: string, length: number): Int32Array {
    return new Int32Array(this.#buffer(name, 4 * length), 0, length);
  }

  /** @returns uint32[length] with undefined content */
  uint32(name: string, length: number): Uint32Array {
    return new Uint32Array(this.#buffer(name, 4 * length), 0, length);
  }

  /** @returns uint8[length] with undefined content */
  uint8(name: string, length: number): Uint8Array {
    return new Uint8Array(this.#buffer(name, length), 0, length);
  }

  free(): void {
    release(...this.#buffers.values());
    this.#buffers.clear();
  }

  /** A buffer that grows loses its content. */
  #buffer(name: string, bytes: number): ArrayBufferLike {
    const old = this.#buffers.get(name);
    if (old && old.byteLength >= bytes) return old.buffer;
    if (old) release(old);
    const larger = allocate(Uint8Array, Math.max(bytes, Math.ceil(GROWTH * (old?.byteLength ?? 0))));
    this.#buffers.set(name, larger);
    return larger.buffer;
  }
}

/**
 * A workspace larger than this is freed after the request, so that an idle lane does not hold several times the memory
 * of its scenes. At 144 bytes per pair (`layers`, 70,000 vertices, 2.6 million pairs) it suffices for 7 million pairs,
 * a scene of 200,000 vertices in dense contact; a step of such a scene takes seconds, so new memory costs comparatively
 * little.
 */
export const KEPT_BYTES = 2 ** 30;

/**
 * An idle lane keeps this share of the memory that all lanes together may take, so that enough remains for the others.
 */
const KEPT_SHARE = 1 / 16;

/**
 * The memory of one request, shared by all scenes of an engine: an engine computes one request at a time, from start to
 * end. The next request does not read its content, except that `geometry` and `active` reuse stamps and incidence list
 * if these belong to the same revision of P.
 */
export class Workspace {
  readonly scratch = new Scratch();
  readonly geometry = new PairGeometry();
  readonly active = new ActivePairs();
  readonly trees = new SearchTrees();
  /** pairs that a scene may hold (pair-budget.ts) */
  readonly pairLimit: number;

  #isAcquired = false;

  constructor(limit = pairLimit(undefined)) {
    this.pairLimit = limit;
  }

  /**
   * Runs a request in this workspace.
   *
   * @throws Error if a request is running, because a request that a callback begins would overwrite the memory of the
   *   first
   */
  run<T>(request: () => T): T {
    if (this.#isAcquired) throw new Error('A resolve began while another resolve of the same engine was running.');
    this.#isAcquired = true;
    try {
      const result = request();
      if (this.bytes > Math.min(KEPT_BYTES, KEPT_SHARE * team.memory.account.limit)) this.free();
      return result;
    } catch (thrown) {
      // A stage that was interrupted may have left any content.
      this.free();
      throw thrown;
    } finally {
      this.#isAcquired = false;
    }
  }

  get bytes(): number {
    return this.scratch.bytes + this.geometry.bytes + this.active.bytes + this.trees.bytes;
  }

  free(): void {
    this.scratch.free();
    this.geometry.allocate(0);
    this.active.free();
    this.trees.free();
  }
}
