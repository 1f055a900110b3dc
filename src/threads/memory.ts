import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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
 * The shared memory of one thread. V8 does not count shared buffers when it decides to collect garbage, and every thread that
 * has seen one keeps it until that thread collects: dropped references alone would let memory grow without bound. So buffers
 * are given back here and taken again; {@link SharedMemory.trim} releases what nobody has taken since, and collects it at once.
 */
export class SharedMemory {
  /** taken and not given back; weak, so that what an owner dropped is garbage like any other */
  #taken = new WeakSet<SharedArrayBuffer>();
  #free: SharedArrayBuffer[] = [];
  #released = 0;
  /** called with buffers that leave this memory, before garbage is collected */
  onRelease: (buffers: readonly SharedArrayBuffer[]) => void = () => {};

  /** Bytes that nobody uses now. */
  get freeBytes(): number {
    return this.#free.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** @returns at least `bytes` bytes with undefined content */
  take(bytes: number): SharedArrayBuffer {
    const size = sizeFor(bytes);
    let best = -1;
    for (let n = 0; n < this.#free.length; n++) {
      const { byteLength } = this.#free[n];
      if (byteLength < size || byteLength > MAX_WASTE * size) continue;
      if (best < 0 || byteLength < this.#free[best].byteLength) best = n;
    }
    const buffer = best < 0 ? new SharedArrayBuffer(size) : this.#free.splice(best, 1)[0];
    this.#taken.add(buffer);
    return buffer;
  }

  /** Ends the use of a buffer: the next demand may get it. Memory that was not taken here is left alone. */
  give({ buffer }: { readonly buffer: ArrayBufferLike }): void {
    if (!(buffer instanceof SharedArrayBuffer) || !this.#taken.delete(buffer)) return;
    this.#free.push(buffer);
  }

  /** Releases free buffers, the largest first, until at most {@link KEPT_FREE_BYTES} are left. */
  trim(): void {
    this.#free.sort((a, b) => a.byteLength - b.byteLength);
    const gone: SharedArrayBuffer[] = [];
    for (let bytes = this.freeBytes; bytes > KEPT_FREE_BYTES; ) {
      const buffer = this.#free.pop();
      if (!buffer) break;
      bytes -= buffer.byteLength;
      this.#released += buffer.byteLength;
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
