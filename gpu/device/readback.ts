import { BUFFER_USAGE, MAP_MODE } from './flags.js';
import type { DeviceMemory } from './memory.js';

export interface Slice {
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  readonly offset?: number;
}

export interface Reading {
  /** maps the copies: one ArrayBuffer a slice */
  wait(): Promise<ArrayBuffer[]>;
  /**
   * Maps the copies and looks at them where they are.
   *
   * @param use gets the memory, which is gone when it returns, and where each slice begins in it, in bytes
   */
  look<T>(use: (range: ArrayBuffer, offsets: readonly number[]) => T): Promise<T>;
  /** nobody wants them */
  discard(): void;
}

/** Copies of device memory on their way to the host. Counts its maps: each is a round trip that the device may wait for. */
export class Reader {
  readonly #memory: DeviceMemory;
  /** staging buffers that are free, by size */
  readonly #free = new Map<number, GPUBuffer[]>();
  readonly #all = new Set<GPUBuffer>();
  /** calls of mapAsync so far */
  maps = 0;

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** Records the copies. After the encoder was submitted, wait for them or discard them. */
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
    const look: Reading['look'] = async (use) => {
      this.maps++;
      await staging.mapAsync(MAP_MODE.READ);
      const used = use(staging.getMappedRange(), offsets);
      staging.unmap();
      this.#put(staging);
      return used;
    };
    const wait = () => look((range) => slices.map(({ bytes }, n) => range.slice(offsets[n], offsets[n] + bytes)));
    return { wait, look, discard: () => this.#put(staging) };
  }

  close(): void {
    for (const buffer of this.#all) this.#memory.free(buffer);
    this.#all.clear();
    this.#free.clear();
  }

  #take(bytes: number): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
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
