import type { Slice } from './readback.js';

/**
 * Bytes of a buffer on the device that belong to one owner: a buffer of its own, or a part of one in an arena
 * (gpu/convoy/arena.ts).
 */
export interface Place {
  /** an arena may move the place, so buffer and offset are valid only until the next await */
  readonly buffer: GPUBuffer;
  /** bytes */
  readonly offset: number;
  readonly size: number;
}

export const wholeOf = (buffer: GPUBuffer): Place => ({ buffer, offset: 0, size: buffer.size });

/** Returns the array, or a copy if it is in shared memory, which a queue does not accept. */
export function inOwnMemory<T extends Int32Array | Uint32Array | Float32Array>(
  array: T,
): T & ArrayBufferView<ArrayBuffer> {
  return (array.buffer instanceof ArrayBuffer ? array : array.slice()) as T & ArrayBufferView<ArrayBuffer>;
}

/** Writes an array, which must not lie in shared memory ({@link inOwnMemory}), at byte `at` of the place. */
export function write(
  queue: GPUQueue,
  place: Place,
  at: number,
  data: ArrayBuffer | ArrayBufferView<ArrayBuffer>,
): void {
  queue.writeBuffer(place.buffer, place.offset + at, data);
}

/** Part of a place, to be read. @param bytes default: all of it */
export function sliceOf(place: Place, bytes = place.size, at = 0): Slice {
  return {
    get buffer() {
      return place.buffer;
    },
    get offset() {
      return place.offset + at;
    },
    bytes,
  };
}

/** Part of a place, as a place. */
export function partOf(place: Place, at: number, size: number): Place {
  return {
    get buffer() {
      return place.buffer;
    },
    get offset() {
      return place.offset + at;
    },
    size,
  };
}

export interface CopiedPart {
  readonly from: Place;
  readonly at: number;
  readonly to: Place;
  readonly toAt: number;
  readonly bytes: number;
}

/**
 * Copies parts of places to others.
 *
 * @param between buffer with room for the largest part; copies within one buffer go through it, because the standard
 *   does not allow them directly
 */
export function copyParts(device: GPUDevice, parts: readonly CopiedPart[], between: GPUBuffer | undefined): void {
  const encoder = device.createCommandEncoder();
  for (const { from, at, to, toAt, bytes } of parts) {
    let [source, first] = [from.buffer, from.offset + at];
    if (source === to.buffer) {
      if (!between)
        throw new Error('Part of a buffer is to be copied within it, and there is nothing to copy through.');
      encoder.copyBufferToBuffer(source, first, between, 0, bytes);
      [source, first] = [between, 0];
    }
    encoder.copyBufferToBuffer(source, first, to.buffer, to.offset + toAt, bytes);
  }
  device.queue.submit([encoder.finish()]);
}
