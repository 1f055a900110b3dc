import { team } from './here.js';

interface ArrayType<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
}

/**
 * An array that stages can work on: in shared memory if this thread may use helpers, else in memory of this thread.
 *
 * @returns length elements with undefined content; the owner must {@link release} it
 * @throws MemoryShort if the threads of this process together would exceed their limit
 */
export function allocate<T>(type: ArrayType<T>, length: number): T {
  const bytes = length * type.BYTES_PER_ELEMENT;
  const isShared = bytes > 0 && team.canShare;
  return new type(isShared ? team.memory.take(bytes) : team.memory.takePrivate(bytes), 0, length);
}

/** Returns the memory of arrays, whole buffers at a time; no view of them may be used afterwards. */
export function release(...arrays: readonly { readonly buffer: ArrayBufferLike }[]): void {
  for (const array of arrays) team.memory.give(array);
}
