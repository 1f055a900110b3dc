import { BUFFER_USAGE } from './flags.js';
import type { Slice } from './readback.js';

const { COPY_SRC, COPY_DST } = BUFFER_USAGE;

/** Bytes of a buffer on the device that are one owner's: a buffer of its own, or a part of one in an arena (gpu/convoy/arena.ts). */
export interface Place {
  /** an arena may move the place: buffer and offset hold until something is awaited */
  readonly buffer: GPUBuffer;
  /** bytes */
  readonly offset: number;
  readonly size: number;
}

export const wholeOf = (buffer: GPUBuffer): Place => ({ buffer, offset: 0, size: buffer.size });

/** Writes an array, which must not lie in shared memory, from byte `at` of the place on. */
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

/** Copies parts of places to others; within a buffer, which the standard does not allow, through another one. */
export function copyParts(
  device: GPUDevice,
  parts: readonly { from: Place; at: number; to: Place; toAt: number; bytes: number }[],
): void {
  const encoder = device.createCommandEncoder();
  const between: GPUBuffer[] = [];
  for (const { from, at, to, toAt, bytes } of parts) {
    let [source, first] = [from.buffer, from.offset + at];
    if (source === to.buffer) {
      const copy = device.createBuffer({ label: 'carried', size: bytes, usage: COPY_SRC | COPY_DST });
      encoder.copyBufferToBuffer(source, first, copy, 0, bytes);
      [source, first] = [copy, 0];
      between.push(copy);
    }
    encoder.copyBufferToBuffer(source, first, to.buffer, to.offset + toAt, bytes);
  }
  device.queue.submit([encoder.finish()]);
  for (const buffer of between) buffer.destroy();
}
