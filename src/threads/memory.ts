import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ByteAccount } from './account.js';

/** Buffers have sizes m·2^k with m one of these, so that one that was given back fits many later demands. */
const STEPS = [4, 5, 6, 7];

/** Smaller buffers are not worth a distinction. */
const MIN_BYTES = 1024;

/** A demand takes a free buffer at most this many times larger. */
const MAX_WASTE = 2;

/** Bytes that a thread keeps for the next demand after {@link SharedMemory.trim}. */
export const KEPT_FREE_BYTES = 2 ** 24;

/** Released bytes from which garbage is collected at once. */
const COLLECT_BYTES = 2 ** 26;

/**
 * The memory of one thread for the arrays that it computes on, each counted in an account from its allocation until it is
 * released, recycled or not. Where helpers may be asked the arrays lie in shared memory. V8 does not count shared buffers when it decides to collect garbage, and every thread that
 * has seen one keeps it until that thread collects: dropped references alone would let memory grow without bound. So buffers
 * are given back here and taken again; {@link SharedMemory.trim} releases what nobody has taken since, and collects it at once.
 */
export class SharedMemory {
  /** taken and not given back; weak, so that what an owner dropped is garbage like any other */
  #taken = new WeakSet<SharedArrayBuffer>();
  #free: SharedArrayBuffer[] = [];
  #released = 0;
  /** of the arrays that are not shared, and their bytes */
  readonly #private = new WeakMap<ArrayBufferLike, number>();
  /** counts what an owner has dropped without giving it back, once it is collected */
  readonly #dropped = new FinalizationRegistry<number>((bytes) => this.#account.refund(bytes));
  #account = new ByteAccount();
  /** called with buffers that leave this memory, before garbage is collected */
  onRelease: (buffers: readonly SharedArrayBuffer[]) => void = () => {};

  /** Bytes that nobody uses now. */
  get freeBytes(): number {
    return this.#free.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** What this thread holds, and what all may hold together. */
  get account(): ByteAccount {
    return this.#account;
  }

  /** Counts in another account from now on. @throws Error when something is counted in the present one */
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

  /** @returns `bytes` bytes of this thread's own @throws MemoryShort */
  takePrivate(bytes: number): ArrayBuffer {
    // Small ones are not worth the count.
    if (bytes < MIN_BYTES) return new ArrayBuffer(bytes);
    const buffer = this.#allocate(ArrayBuffer, bytes);
    this.#private.set(buffer, bytes);
    return buffer;
  }

  /** Counts the bytes first: where the limit does not allow them, nothing is allocated. */
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

  /** Ends the use of a buffer: the next demand may get it. Memory that was not taken here is left alone. */
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

  /** No buffer that was taken so far is ever given to anybody again: a lost thread may still write into it. */
  abandon(): void {
    this.#taken = new WeakSet();
    this.#free = [];
  }
}

/** The smallest size class that holds so many bytes. */
export function sizeFor(bytes: number): number {
  if (bytes <= MIN_BYTES) return MIN_BYTES;
  const quarter = 2 ** (Math.floor(Math.log2(bytes)) - 2);
  for (const step of STEPS) if (step * quarter >= bytes) return step * quarter;
  return 8 * quarter;
}

let collector: (() => void) | undefined;

/** Some milliseconds: the heap of objects of a thread is small, its buffers are what is large. */
export function collectGarbage(): void {
  if (!collector) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as () => void;
  }
  collector();
}
