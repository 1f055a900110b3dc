import { BUFFER_USAGE, MAP_MODE } from './flags.js';
import type { DeviceMemory } from './memory.js';

export interface Slice {
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  readonly offset?: number;
}

export interface Reading {
  /** Maps the copies and moves them to the host: one ArrayBuffer per slice. */
  wait(): Promise<ArrayBuffer[]>;
  /**
   * Maps the copies and reads them in place.
   *
   * @param use called with the memory, which is unmapped when it returns, and the byte at which each slice begins in it
   */
  inspect<T>(use: (range: ArrayBuffer, offsets: readonly number[]) => T): Promise<T>;
  /** Discards the copies unread. */
  discard(): void;
}

/**
 * Bytes of staging buffers whose sizes are powers of two, so that readings of similar sizes share them. A larger reading
 * takes a buffer that is at least as large as itself: only the largest ones are kept, because the sizes of some readings
 * change with the number of pairs, and a buffer for each of them would fill the device.
 */
const SHARED_BYTES = { least: 256, most: 2 ** 24 };

/**
 * Copies device memory to the host through staging buffers, which it keeps for later readings. No copy is recorded
 * before the device has reported that it has the memory of its staging buffer: in production the binding checks no
 * call, and nothing specifies what it would do with a buffer that does not exist. A shortage then affects one request
 * and not the device.
 */
export class Reader {
  readonly #memory: DeviceMemory;
  /** free staging buffers, by size */
  readonly #free = new Map<number, GPUBuffer[]>();
  readonly #all = new Set<GPUBuffer>();
  /** number of calls of mapAsync so far: each is a round trip for which the device may have to wait */
  maps = 0;
  /** bytes read so far */
  bytes = 0;

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /**
   * Prepares the staging buffer for a reading of this many bytes, for {@link record}.
   *
   * @returns undefined = it is ready
   * @throws OUT_OF_DEVICE_MEMORY; the readings that were recorded are not affected
   */
  reserve(bytes: number): Promise<void> | undefined {
    const size = stagingSize(bytes);
    return this.#freeFor(size)?.length ? undefined : this.#obtain(size);
  }

  /**
   * Records the copies. Once the encoder is submitted, the caller waits for them, inspects them or discards them.
   *
   * @throws Error unless {@link reserve} has reported that this many bytes are ready, and none were recorded since
   */
  record(encoder: GPUCommandEncoder, slices: readonly Slice[]): Reading {
    const total = totalOf(slices);
    const staging = this.#freeFor(stagingSize(total))?.pop();
    if (!staging) throw new Error(`Copies of ${total} bytes are recorded, and no memory was reserved for them.`);
    const offsets: number[] = [];
    let at = 0;
    for (const { buffer, bytes, offset = 0 } of slices) {
      if (bytes > 0) encoder.copyBufferToBuffer(buffer, offset, staging, at, bytes);
      offsets.push(at);
      at += bytes;
    }
    const inspect: Reading['inspect'] = async (use) => {
      this.maps++;
      this.bytes += total;
      await staging.mapAsync(MAP_MODE.READ);
      try {
        return use(staging.getMappedRange(), offsets);
      } finally {
        staging.unmap();
        this.#put(staging);
      }
    };
    const wait = () => inspect((range) => slices.map(({ bytes }, n) => range.slice(offsets[n], offsets[n] + bytes)));
    return { wait, inspect, discard: () => this.#put(staging) };
  }

  /**
   * Submits copies of the state of the device after all previous submissions.
   *
   * @throws OUT_OF_DEVICE_MEMORY, and nothing has changed
   */
  async read(slices: readonly Slice[]): Promise<Reading> {
    for (let room = this.reserve(totalOf(slices)); room; room = this.reserve(totalOf(slices))) await room;
    const { device } = this.#memory;
    const encoder = device.createCommandEncoder({ label: 'reading' });
    const reading = this.record(encoder, slices);
    device.queue.submit([encoder.finish()]);
    return reading;
  }

  close(): void {
    for (const buffer of this.#all) this.#memory.free(buffer);
    this.#all.clear();
    this.#free.clear();
  }

  /** The free staging buffers that a reading of this size takes one of; undefined = there is none. */
  #freeFor(size: number): GPUBuffer[] | undefined {
    if (size <= SHARED_BYTES.most) return this.#free.get(size);
    let least = Number.POSITIVE_INFINITY;
    for (const [other, { length }] of this.#free) if (length > 0 && other >= size) least = Math.min(least, other);
    return this.#free.get(least);
  }

  /** Frees the staging buffers above the shared sizes that no reading uses. */
  #freeLarge(): void {
    for (const [size, buffers] of this.#free) {
      if (size <= SHARED_BYTES.most) continue;
      for (const buffer of buffers) {
        this.#all.delete(buffer);
        this.#memory.free(buffer);
      }
      this.#free.delete(size);
    }
  }

  async #obtain(size: number): Promise<void> {
    // None of them was large enough.
    if (size > SHARED_BYTES.most) this.#freeLarge();
    const buffer = await this.#memory.obtain('staging', size, BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST);
    this.#all.add(buffer);
    this.#put(buffer);
  }

  #put(buffer: GPUBuffer): void {
    const free = this.#free.get(buffer.size);
    if (free) free.push(buffer);
    else this.#free.set(buffer.size, [buffer]);
  }
}

export const totalOf = (slices: readonly Slice[]): number => slices.reduce((sum, { bytes }) => sum + bytes, 0);

function stagingSize(bytes: number): number {
  const { least, most } = SHARED_BYTES;
  return bytes > most ? Math.ceil(bytes / 16) * 16 : 2 ** Math.ceil(Math.log2(Math.max(least, bytes)));
}
