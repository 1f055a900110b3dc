import { allocate, release } from '../threads/arrays.js';

type Plain = Uint8Array | Uint32Array | Int32Array | Float64Array;

interface PlainType<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
}

/** The arrays of one search that other threads read or write. They live until {@link release}. */
export class SharedArrays {
  readonly #taken: { readonly buffer: ArrayBufferLike }[] = [];
  /** copies of arrays that were shared */
  readonly #copies = new Map<Plain, Plain>();

  /** @returns an array of `length` elements with undefined content */
  make<T extends Plain>(type: PlainType<T>, length: number): T {
    const array = allocate(type, length);
    this.#taken.push(array);
    return array;
  }

  /** The array itself if other threads can read it, otherwise always the same copy: shared content must not change. */
  share<T extends Plain>(array: T): T {
    if (array.buffer instanceof SharedArrayBuffer) return array;
    const known = this.#copies.get(array) as T | undefined;
    if (known) return known;
    const copy = this.make(array.constructor as unknown as PlainType<T>, array.length);
    copy.set(array as never);
    this.#copies.set(array, copy);
    return copy;
  }

  /** Takes over everything that `others` holds. */
  takeOver(others: SharedArrays): void {
    this.#taken.push(...others.#taken);
    for (const [array, copy] of others.#copies) this.#copies.set(array, copy);
    others.#forget();
  }

  /** No thread may use any of them afterwards. */
  release(): void {
    release(...this.#taken);
    this.#forget();
  }

  #forget(): void {
    this.#taken.length = 0;
    this.#copies.clear();
  }
}
