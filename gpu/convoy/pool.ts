import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Place } from '../device/place.js';

const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = BUFFER_USAGE;

/** The host writes as many zeros at once; the device fills longer ranges, which then need not be transferred. */
const ZEROS = new Uint8Array(2 ** 14);

/** A scene's part of a pool; the arena may move it to another one. */
export class PoolPlace implements Place {
  constructor(
    public pool: Pool,
    public offset: number,
    readonly size: number,
  ) {}

  get buffer(): GPUBuffer {
    return this.pool.buffer;
  }
}

/** One buffer of an arena, and the places in it. Its size never changes. */
export class Pool {
  readonly buffer: GPUBuffer;
  readonly label: string;
  /** ASKED = it is not known yet whether the device has the memory: no kernel may use the places */
  state: 'ASKED' | 'READY' | 'REFUSED' = 'ASKED';
  /** the device's own error; rejects when the device is lost */
  readonly verdict: Promise<GPUError | null>;
  readonly #memory: DeviceMemory;
  /** in ascending order */
  #places: PoolPlace[] = [];
  /** nothing was written yet from this byte on: the memory is all 0 */
  #untouched = 0;

  /** @throws OUT_OF_DEVICE_MEMORY if the budget does not allow it; TOO_LARGE */
  constructor(memory: DeviceMemory, label: string, bytes: number) {
    this.#memory = memory;
    this.label = label;
    const { device } = memory;
    // A separate scope: other scenes may get places in buffers that one scene requests before the device has answered.
    device.pushErrorScope('out-of-memory');
    try {
      this.buffer = memory.allocate(`arena: ${label}`, bytes, STORAGE | UNIFORM | COPY_SRC | COPY_DST);
    } finally {
      this.verdict = device.popErrorScope();
      this.verdict.catch(() => undefined);
    }
  }

  get size(): number {
    return this.buffer.size;
  }

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  /** Bytes of all places. */
  get heldBytes(): number {
    return this.#places.reduce((sum, { size }) => sum + size, 0);
  }

  /** A place of memory that is all 0; undefined = there is no room. */
  take(size: number): PoolPlace | undefined {
    let [n, offset] = [0, 0];
    for (; n < this.#places.length; n++) {
      const next = this.#places[n]!;
      if (next.offset - offset >= size) break;
      offset = next.offset + next.size;
    }
    if (offset + size > this.size) return undefined;
    const place = new PoolPlace(this, offset, size);
    this.#places.splice(n, 0, place);
    const written = Math.min(this.#untouched, offset + size) - offset;
    // The data of another scene must not be visible.
    if (written > 0) this.#clear(offset, written);
    this.#untouched = Math.max(this.#untouched, offset + size);
    return place;
  }

  give(place: PoolPlace): void {
    this.#places = this.#places.filter((one) => one !== place);
  }

  /** Moves all places of another pool after those of this one. @returns false = no room, and nothing has changed */
  takeOver(from: Pool): boolean {
    const last = this.#places.at(-1);
    let at = last ? last.offset + last.size : 0;
    if (at + from.heldBytes > this.size) return false;
    const { device } = this.#memory;
    const encoder = device.createCommandEncoder({ label: 'arena' });
    for (const place of from.#places) {
      encoder.copyBufferToBuffer(from.buffer, place.offset, this.buffer, at, place.size);
      place.pool = this;
      place.offset = at;
      at += place.size;
    }
    device.queue.submit([encoder.finish()]);
    this.#places.push(...from.#places);
    from.#places = [];
    this.#untouched = Math.max(this.#untouched, at);
    return true;
  }

  free(): void {
    this.#memory.free(this.buffer);
  }

  /** Fills a range with 0. */
  #clear(offset: number, bytes: number): void {
    const { device } = this.#memory;
    if (bytes <= ZEROS.byteLength) {
      device.queue.writeBuffer(this.buffer, offset, ZEROS, 0, bytes);
      return;
    }
    const encoder = device.createCommandEncoder({ label: 'arena' });
    encoder.clearBuffer(this.buffer, offset, bytes);
    device.queue.submit([encoder.finish()]);
  }
}
