import { allocate, release } from '../threads/arrays.js';

type Plain = Uint8Array | Uint32Array | Int32Array | Float64Array;

interface PlainType<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
}

/** The arrays of one search that other threads read or write. They live until {@link release}. */
export class SharedArrays {
  readonly #taken: { readonly buffer: ArrayBufferLike }[] = [];

  /** @returns length elements with undefined content */
  make<T extends Plain>(type: PlainType<T>, length: number): T {
    const array = allocate(type, length);
    this.#taken.push(array);
    return array;
  }

  /** The array itself where other threads can read it, else a copy. */
  share<T extends Plain>(array: T): T {
    if (array.buffer instanceof SharedArrayBuffer) return array;
    const copy = this.make(array.constructor as unknown as PlainType<T>, array.length);
    copy.set(array as never);
    return copy;
  }

  /** Nobody may use any of them afterwards. */
  release(): void {
    release(...this.#taken);
    this.#taken.length = 0;
  }
}
