import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ByteAccount } from './account.js';

/** Buffers have sizes m·2^k with m one of these, so that a returned buffer fits many later demands. */
const STEPS = [4, 5, 6, 7];

/** All smaller buffers have this size. */
const MIN_BYTES = 1024;

/** A demand takes a free buffer that is at most this many times larger. */
const MAX_WASTE = 2;

/** Bytes that a thread keeps for the next demand after {@link SharedMemory.trim}. */
export const KEPT_FREE_BYTES = 2 ** 24;

/** Released bytes from which garbage is collected at once. */
const COLLECT_BYTES = 2 ** 26;

/**
 * The memory of one thread for the arrays that it computes on, each counted in an account from its allocation until it
 * is released, recycled or not. If helpers may be used, the arrays lie in shared memory. V8 does not count shared
 * buffers when it decides to collect garbage, and every thread that has seen one keeps it until that thread collects,
 * so merely dropping references would let memory grow without bound. Therefore buffers are returned here and taken
 * again; {@link SharedMemory.trim} releases those that have not been taken since, and collects them at once.
 */
export class SharedMemory {
  /** taken and not returned; weak, so that buffers that an owner dropped can be collected */
  #taken = new WeakSet<SharedArrayBuffer>();
  #free: SharedArrayBuffer[] = [];
  #released = 0;
  /** the buffers of arrays that are not shared, with their bytes */
  readonly #private = new WeakMap<ArrayBufferLike, number>();
  /** refunds buffers that an owner has dropped without returning them, once they are collected */
  readonly #dropped = new FinalizationRegistry<number>((bytes) => this.#account.refund(bytes));
  #account = new ByteAccount();
  /** called with buffers that leave this memory, before garbage is collected */
  onRelease: (buffers: readonly SharedArrayBuffer[]) => void = () => {};

  /** Bytes that are not in use now. */
  get freeBytes(): number {
    return this.#free.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The bytes of this thread, and the limit of all threads. */
  get account(): ByteAccount {
    return this.#account;
  }

  /** Counts in another account from now on. @throws Error if bytes are counted in the present one */
  open(account: ByteAccount): void {
    if (this.#account.own > 0) throw new Error('A thread that holds memory cannot change its account.');
    this.#account = account;
  }

  /** @returns at least `bytes` bytes of shared memory with undefined content @throws MemoryShort */
  take(bytes: number): SharedArrayBuffer {
    const size = sizeFor(bytes);
    let best = -1;
    for (let n = 0; n < this.#free.length; n++) {
      const { byteLength } = this.#free[n];
      if (byteLength < size || byteLength > MAX_WASTE * size) continue;
      if (best < 0 || byteLength < this.#free[best].byteLength) best = n;
    }
    const buffer = best < 0 ? this.#allocate(SharedArrayBuffer, size) : this.#free.splice(best, 1)[0];
    this.#taken.add(buffer);
    return buffer;
  }

  /** @returns `bytes` bytes of unshared memory @throws MemoryShort */
  takePrivate(bytes: number): ArrayBuffer {
    // Small buffers are not worth counting.
    if (bytes < MIN_BYTES) return new ArrayBuffer(bytes);
    const buffer = this.#allocate(ArrayBuffer, bytes);
    this.#private.set(buffer, bytes);
    return buffer;
  }

  /** Counts the bytes first: if the limit does not allow them, nothing is allocated. */
  #allocate<B extends ArrayBufferLike>(type: new (bytes: number) => B, bytes: number): B {
    if (!this.#account.charge(bytes)) {
      this.trim(0);
      if (!this.#account.charge(bytes)) throw this.#account.shortOf(bytes);
    }
    try {
      const buffer = new type(bytes);
      this.#dropped.register(buffer, bytes, buffer);
      return buffer;
    } catch (thrown) {
      this.#account.refund(bytes);
      throw thrown;
    }
  }

  #refund(buffer: ArrayBufferLike, bytes: number): void {
    this.#dropped.unregister(buffer);
    this.#account.refund(bytes);
  }

  /** Ends the use of a buffer: the next demand may get it. Memory that was not taken here is ignored. */
  give({ buffer }: { readonly buffer: ArrayBufferLike }): void {
    const ofPrivate = this.#private.get(buffer);
    if (ofPrivate !== undefined) {
      this.#private.delete(buffer);
      this.#refund(buffer, ofPrivate);
    }
    if (!(buffer instanceof SharedArrayBuffer) || !this.#taken.delete(buffer)) return;
    this.#free.push(buffer);
  }

  /** Releases free buffers, the largest first, until at most `kept` bytes are left. */
  trim(kept = KEPT_FREE_BYTES): void {
    this.#free.sort((a, b) => a.byteLength - b.byteLength);
    const gone: SharedArrayBuffer[] = [];
    for (let bytes = this.freeBytes; bytes > kept; ) {
      const buffer = this.#free.pop();
      if (!buffer) break;
      bytes -= buffer.byteLength;
      this.#released += buffer.byteLength;
      this.#refund(buffer, buffer.byteLength);
      gone.push(buffer);
    }
    if (gone.length === 0) return;
    this.onRelease(gone);
    gone.length = 0;
    if (this.#released < COLLECT_BYTES) return;
    this.#released = 0;
    collectGarbage();
  }

  /** Makes sure that no buffer taken so far is used again, because a lost thread may still write to it. */
  abandon(): void {
    this.#taken = new WeakSet();
    this.#free = [];
  }
}

/** The smallest size class that holds this many bytes. */
export function sizeFor(bytes: number): number {
  if (bytes <= MIN_BYTES) return MIN_BYTES;
  const quarter = 2 ** (Math.floor(Math.log2(bytes)) - 2);
  for (const step of STEPS) if (step * quarter >= bytes) return step * quarter;
  return 8 * quarter;
}

let collector: (() => void) | undefined;

/** Takes some milliseconds: the objects on the heap of a thread are few, only its buffers are large. */
export function collectGarbage(): void {
  if (!collector) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as () => void;
  }
  collector();
}
