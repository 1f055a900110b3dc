import type { TransferListItem } from 'node:worker_threads';

type Bulk = Uint8Array | Uint32Array | Float32Array | Float64Array;

/** %TypedArray%.prototype.slice. A Buffer has a `slice` of its own that copies nothing, and its memory may be Node's pool. */
const sliceOf = Object.getPrototypeOf(Uint8Array.prototype).slice as (this: Bulk) => Bulk;

/**
 * Plain data made ready to be sent to another thread: every typed array is copied out of its buffer, once, and the copies
 * are listed for transfer. Cloning instead would copy twice, and would copy the whole buffer of a view (a decoded message
 * body is one buffer under all of its arrays); transferring the originals would take them away from the caller. Arrays in
 * shared memory stay where they are: whoever put them there ({@link Mailbox}) meant both threads to see them.
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
 * Memory that two threads share, for one array at a time: it is written when a job starts and read until the job ends.
 * The pages of an array that is new to the process cost more than copying into it, and this one is new only once.
 */
export class Mailbox {
  private memory = new SharedArrayBuffer(0);

  get bytes(): number {
    return this.memory.byteLength;
  }

  /** Between two jobs: the memory goes back as soon as the other thread has let go of it as well. */
  release(): void {
    this.memory = new SharedArrayBuffer(0);
  }

  /** @returns the same numbers in the shared memory, until the next array is put there */
  put<T extends Float32Array | Float64Array>(array: T): T {
    if (this.memory.byteLength < array.byteLength) this.memory = new SharedArrayBuffer(array.byteLength);
    const Constructor = array.constructor as new (buffer: SharedArrayBuffer, offset: number, length: number) => T;
    const shared = new Constructor(this.memory, 0, array.length);
    shared.set(array);
    return shared;
  }
}

/** The buffers of every typed array in plain data, each once. The sender must not use them afterwards. */
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
