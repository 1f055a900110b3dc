import { team } from './here.js';

interface ArrayType<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
}

/**
 * An array that stages can work on: in shared memory where this thread may ask helpers, else in memory of its own.
 *
 * @returns length elements with undefined content; the owner must {@link release} it when it drops it
 * @throws MemoryShort when the threads of this process may not hold so much together
 */
export function allocate<T>(type: ArrayType<T>, length: number): T {
  const bytes = length * type.BYTES_PER_ELEMENT;
  const isShared = bytes > 0 && team.canShare;
  return new type(isShared ? team.memory.take(bytes) : team.memory.takePrivate(bytes), 0, length);
}

/** Gives the memory of arrays back, whole buffers at a time; nobody may use any view of them afterwards. */
export function release(...arrays: readonly { readonly buffer: ArrayBufferLike }[]): void {
  for (const array of arrays) team.memory.give(array);
}
