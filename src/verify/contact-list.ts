import { allocate, release } from '../threads/arrays.js';
import type { ClosestPoints } from './closest.js';
import type { PairCode } from './pair-kinds.js';

/** All close pairs with their closest points, as flat arrays; sorted by kind, then by vertex ids. */
export interface ContactList {
  /** uint8[C] 1 vertex–triangle, 2 edge–edge, 3 vertex–edge, 4 vertex–vertex */
  readonly kinds: Uint8Array;
  /** uint32[4·C] side a, then side b, then NO_VERTEX */
  readonly vertices: Uint32Array;
  /** float32[4·C] weights of these vertices at the closest points; each side sums to 1, unused places are 0 */
  readonly weights: Float32Array;
  /** float32[3·C] unit vectors from b to a */
  readonly normals: Float32Array;
  /** float32[C] in the unit of the positions */
  readonly distances: Float32Array;
}

/** Fills the places of {@link ContactList.vertices} that a kind with fewer than four vertices does not use. */
export const NO_VERTEX = 0xffffffff;

/** The initial capacity, and the factor by which it grows. */
const FIRST = 1024;
const GROWTH = 1.5;

/** Contacts as they are found: 49 bytes each, counted as memory of this thread, and 4 for their order. */
export class FoundContacts {
  count = 0;
  readonly #most: number;
  #kinds = allocate(Uint8Array, 0);
  #vertices = allocate(Uint32Array, 0);
  #weights = allocate(Float32Array, 0);
  #normals = allocate(Float32Array, 0);
  #distances = allocate(Float32Array, 0);

  /** @param most number of contacts that may be added */
  constructor(most: number) {
    this.#most = most;
  }

  /** @param ids of side a, then of side b @throws MemoryShort */
  add(code: PairCode, ids: readonly number[], points: ClosestPoints): void {
    if (this.count === this.#kinds.length) this.#grow();
    const n = this.count++;
    this.#kinds[n] = code;
    for (let s = 0; s < 4; s++) {
      this.#vertices[4 * n + s] = s < ids.length ? ids[s] : NO_VERTEX;
      this.#weights[4 * n + s] = s < ids.length ? points.weights[s] : 0;
    }
    this.#normals.set(points.findNormal(code), 3 * n);
    this.#distances[n] = points.distance;
  }

  /** Sorted by kind, then by vertex ids; in arrays of their own. */
  list(): ContactList {
    const { count } = this;
    const [kinds, vertices] = [this.#kinds, this.#vertices];
    const compare = (i: number, j: number): number => {
      if (kinds[i] !== kinds[j]) return kinds[i] - kinds[j];
      for (let s = 0; s < 4; s++) {
        const difference = vertices[4 * i + s] - vertices[4 * j + s];
        if (difference !== 0) return difference;
      }
      return i - j;
    };
    const order = new Uint32Array(count);
    for (let n = 0; n < count; n++) order[n] = n;
    order.sort(compare);
    const contacts = {
      kinds: new Uint8Array(count),
      vertices: new Uint32Array(4 * count),
      weights: new Float32Array(4 * count),
      normals: new Float32Array(3 * count),
      distances: new Float32Array(count),
    };
    for (let place = 0; place < count; place++) {
      const source = order[place];
      contacts.kinds[place] = kinds[source];
      for (let s = 0; s < 4; s++) {
        contacts.vertices[4 * place + s] = vertices[4 * source + s];
        contacts.weights[4 * place + s] = this.#weights[4 * source + s];
      }
      for (let c = 0; c < 3; c++) contacts.normals[3 * place + c] = this.#normals[3 * source + c];
      contacts.distances[place] = this.#distances[source];
    }
    return contacts;
  }

  free(): void {
    release(this.#kinds, this.#vertices, this.#weights, this.#normals, this.#distances);
    this.count = 0;
  }

  #grow(): void {
    const capacity = Math.min(this.#most, Math.max(FIRST, Math.ceil(GROWTH * this.count)));
    const old = [this.#kinds, this.#vertices, this.#weights, this.#normals, this.#distances];
    this.#kinds = grown(this.#kinds, allocate(Uint8Array, capacity));
    this.#vertices = grown(this.#vertices, allocate(Uint32Array, 4 * capacity));
    this.#weights = grown(this.#weights, allocate(Float32Array, 4 * capacity));
    this.#normals = grown(this.#normals, allocate(Float32Array, 3 * capacity));
    this.#distances = grown(this.#distances, allocate(Float32Array, capacity));
    release(...old);
  }
}

function grown<A extends Uint8Array | Uint32Array | Float32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
