import type { TransferListItem } from 'node:worker_threads';

type Bulk = Uint8Array | Uint32Array | Float32Array | Float64Array;

/** %TypedArray%.prototype.slice. The `slice` of a Buffer copies nothing, and its memory may belong to Node's pool. */
const sliceOf = Object.getPrototypeOf(Uint8Array.prototype).slice as (this: Bulk) => Bulk;

/**
 * Prepares plain data for another thread: every typed array is copied out of its buffer, once, and the copies are
 * listed for transfer. Cloning instead would copy twice, and would copy the whole buffer of a view (all arrays of a
 * decoded message share one buffer); transferring the originals would take them away from the caller. Arrays in shared
 * memory stay where they are, because both threads are meant to see them ({@link Mailbox}).
 */
export function packCopies<T>(value: T): { readonly value: T; readonly transfer: TransferListItem[] } {
  const transfer: TransferListItem[] = [];
  const copy = (item: unknown): unknown => {
    if (isBulk(item)) {
      if (item.buffer instanceof SharedArrayBuffer) return item;
      const own = sliceOf.call(item);
      transfer.push(own.buffer as ArrayBuffer);
      return own;
    }
    if (Array.isArray(item)) return item.map(copy);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([key, part]) => [key, copy(part)]));
  };
  return { value: copy(value) as T, transfer };
}

/**
 * Memory that two threads share, for one array at a time: it is written when a job starts and read until the job ends. The
 * pages of a newly allocated array cost more than the copy into it, and the mailbox is allocated only once.
 */
export class Mailbox {
  private memory = new SharedArrayBuffer(0);

  get bytes(): number {
    return this.memory.byteLength;
  }

  /** Frees the memory between two jobs; the system reclaims it when the other thread has released it, too. */
  release(): void {
    this.memory = new SharedArrayBuffer(0);
  }

  /** @returns the same numbers in the shared memory, valid until the next call */
  put<T extends Float32Array | Float64Array>(array: T): T {
    if (this.memory.byteLength < array.byteLength) this.memory = new SharedArrayBuffer(array.byteLength);
    const Constructor = array.constructor as new (buffer: SharedArrayBuffer, offset: number, length: number) => T;
    const shared = new Constructor(this.memory, 0, array.length);
    shared.set(array);
    return shared;
  }
}

/** The buffers of all typed arrays in plain data, each once. The sender must not use them after the transfer. */
export function buffersOf(value: unknown): TransferListItem[] {
  const buffers = new Set<ArrayBuffer>();
  const visit = (item: unknown): void => {
    if (isBulk(item)) {
      if (item.buffer instanceof ArrayBuffer) buffers.add(item.buffer);
    } else if (typeof item === 'object' && item !== null) {
      for (const part of Object.values(item)) visit(part);
    }
  };
  visit(value);
  return [...buffers];
}

function isBulk(value: unknown): value is Bulk {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}
