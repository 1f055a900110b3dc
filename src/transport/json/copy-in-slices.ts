import { setImmediate } from 'node:timers/promises';
import type { TransferListItem } from 'node:worker_threads';

/** Bytes that are copied before others get a turn: about a millisecond, where the memory is new to the process. */
const SLICE_BYTES = 1 << 20;

/**
 * Plain data ready for another thread: every typed array is copied into memory that can be given away, since whoever
 * made an answer may keep it (a session does). A large one is copied slice by slice, and the event loop turns between.
 */
export async function copyInSlices<T>(value: T): Promise<{ readonly value: T; readonly transfer: TransferListItem[] }> {
  const transfer: TransferListItem[] = [];
  const copy = async (item: unknown): Promise<unknown> => {
    if (ArrayBuffer.isView(item)) {
      const own = await copyOf(item);
      transfer.push(own.buffer as ArrayBuffer);
      return own;
    }
    // Lists in answers are short and hold no arrays; they are cloned as they are.
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    const parts: [string, unknown][] = [];
    for (const [name, part] of Object.entries(item)) parts.push([name, await copy(part)]);
    return Object.fromEntries(parts);
  };
  return { value: (await copy(value)) as T, transfer };
}

async function copyOf(array: ArrayBufferView): Promise<ArrayBufferView> {
  const from = new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
  const to = new Uint8Array(from.length);
  for (let at = 0; at < from.length; at += SLICE_BYTES) {
    if (at > 0) await setImmediate();
    to.set(from.subarray(at, at + SLICE_BYTES), at);
  }
  if (Buffer.isBuffer(array)) return to;
  return new (array.constructor as new (buffer: ArrayBuffer) => ArrayBufferView)(to.buffer);
}

/** Bytes of all typed arrays in plain data. */
export function bulkBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + bulkBytes(part), 0);
}
