import { BUFFER_USAGE, MAP_MODE } from './flags.js';
import type { DeviceMemory } from './memory.js';

export interface Slice {
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  readonly offset?: number;
}

export interface Reading {
  /** Maps the copies and takes them over: one ArrayBuffer per slice. */
  wait(): Promise<ArrayBuffer[]>;
  /**
   * Maps the copies and reads them in place.
   *
   * @param use gets the memory, which is unmapped when it returns, and the byte at which each slice begins in it
   */
  inspect<T>(use: (range: ArrayBuffer, offsets: readonly number[]) => T): Promise<T>;
  /** Gives the copies up unread. */
  discard(): void;
}

/** Bytes of staging buffers whose sizes are powers of two, so that readings of similar sizes share them. Beyond, scenes read the same sizes again. */
const SHARED_BYTES = { least: 256, most: 2 ** 24 };

/** Copies device memory to the host through staging buffers, which it keeps for later readings. */
export class Reader {
  readonly #memory: DeviceMemory;
  /** staging buffers that are free, by size */
  readonly #free = new Map<number, GPUBuffer[]>();
  readonly #all = new Set<GPUBuffer>();
  /** calls of mapAsync so far: each is a round trip for which the device may have to wait */
  maps = 0;
  /** read so far */
  bytes = 0;

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** Records the copies. Once the encoder is submitted, the caller waits for them, inspects them or discards them. */
  record(encoder: GPUCommandEncoder, slices: readonly Slice[]): Reading {
    const total = slices.reduce((sum, { bytes }) => sum + bytes, 0);
    const staging = this.#take(total);
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
      const used = use(staging.getMappedRange(), offsets);
      staging.unmap();
      this.#put(staging);
      return used;
    };
    const wait = () => inspect((range) => slices.map(({ bytes }, n) => range.slice(offsets[n], offsets[n] + bytes)));
    return { wait, inspect, discard: () => this.#put(staging) };
  }

  close(): void {
    for (const buffer of this.#all) this.#memory.free(buffer);
    this.#all.clear();
    this.#free.clear();
  }

  #take(bytes: number): GPUBuffer {
    const { least, most } = SHARED_BYTES;
    const size = bytes > most ? Math.ceil(bytes / 16) * 16 : 2 ** Math.ceil(Math.log2(Math.max(least, bytes)));
    const free = this.#free.get(size)?.pop();
    if (free) return free;
    const buffer = this.#memory.allocate('staging', size, BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST);
    this.#all.add(buffer);
    return buffer;
  }

  #put(buffer: GPUBuffer): void {
    const free = this.#free.get(buffer.size);
    if (free) free.push(buffer);
    else this.#free.set(buffer.size, [buffer]);
  }
}
