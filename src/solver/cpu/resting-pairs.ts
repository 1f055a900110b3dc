import type { PairSet } from './pairs.js';

/** Arrays up to this many times too long are written over by the next P; longer ones go, and take their memory with them. */
const LOOSE = 1.25;

/** Room beyond the pairs that there are, in new arrays: P grows and shrinks a little from search to search. */
const SPARE = 1 / 16;

/**
 * P between two requests: what the next one needs of it, 29 bytes a pair in arrays that fit, while PairSet takes 65 in
 * arrays that double. What is left out is measured anew by every request (δ_p from its start, geometry from its state).
 */
export class RestingPairs {
  #count = 0;
  /** of the set that it was taken from; 0 = none */
  #revision = 0;
  readonly #byKind = new Uint32Array(4);
  #kind = new Uint8Array(0);
  #vertex = new Int32Array(0);
  #normal = new Float32Array(0);

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#kind.byteLength + this.#vertex.byteLength + this.#normal.byteLength;
  }

  /** Puts P into the set that the request works on, unless it is still there. δ_p is then undefined. */
  wake(pairs: PairSet): void {
    if (pairs.revision === this.#revision) return;
    pairs.load(this.#revision, this.#count, this.#byKind, this.#kind, this.#vertex, this.#normal);
  }

  /** Takes P over as a request left it. */
  take(pairs: PairSet): void {
    const { count, kind, vertex, normal } = pairs;
    const room = this.#kind.length;
    const isRefitted = room < count || room > LOOSE * count;
    if (isRefitted) {
      const length = count + Math.floor(SPARE * count);
      this.#kind = new Uint8Array(length);
      this.#vertex = new Int32Array(4 * length);
      this.#normal = new Float32Array(3 * length);
    }
    // Normals change with every step, the pairs themselves with a search only.
    this.#normal.set(normal.subarray(0, 3 * count));
    if (!isRefitted && this.#revision === pairs.revision) return;
    this.#kind.set(kind.subarray(0, count));
    this.#vertex.set(vertex.subarray(0, 4 * count));
    this.#byKind.set(pairs.byKind);
    this.#count = count;
    this.#revision = pairs.revision;
  }

  drop(): void {
    this.#count = 0;
    this.#revision = 0;
    this.#byKind.fill(0);
    this.#kind = new Uint8Array(0);
    this.#vertex = new Int32Array(0);
    this.#normal = new Float32Array(0);
  }
}
