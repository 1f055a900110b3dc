import { IntersticeError } from '../../src/contract/errors.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory, PlaceSource } from '../device/memory.js';
import type { Place } from '../device/place.js';
import { CONTROL, VERTEX_PULL } from '../kernels/structs.js';
import { SLOT_BYTES, UNIFORM_BYTES } from './address.js';

const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = BUFFER_USAGE;

/** Bytes of a buffer at first, and room for so many scenes like the one that opens it. */
const FIRST_BYTES = UNIFORM_BYTES;
const FIRST_SCENES = 4;

/**
 * Scenes that an arena takes: their parameters lie in one uniform binding, in which there is room for a third more, since several may open
 * at the same time.
 */
const MOST_RESIDENT = (3 * UNIFORM_BYTES) / (4 * SLOT_BYTES);

/** Labels whose places begin at multiples of other structs than those that divide {@link SLOT_BYTES}. */
const STRIDES: Readonly<Record<string, number>> = {
  control: Math.ceil(CONTROL.bytes / SLOT_BYTES) * SLOT_BYTES,
  pull: VERTEX_PULL.bytes,
};

/** Each scene has one place with this label. */
const OF_EVERY_SCENE = 'parameters';

/** The buffers of many scenes: one a label, in which the places of the scenes lie one behind the other. */
export class Arena implements PlaceSource {
  readonly #memory: DeviceMemory;
  readonly #pools = new Map<string, Pool>();
  #scenes = 0;

  /** @param memory the account that the buffers count in */
  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** @throws OUT_OF_DEVICE_MEMORY, TOO_LARGE when the buffer of the label cannot grow; nothing has changed then */
  take(label: string, bytes: number): Place {
    const pool = this.#pools.get(label) ?? new Pool(this.#memory, label);
    this.#pools.set(label, pool);
    const place = pool.take(bytes);
    if (label === OF_EVERY_SCENE) this.#scenes++;
    return place;
  }

  give(place: Place): void {
    if (!(place instanceof PoolPlace)) return;
    if (place.pool.label === OF_EVERY_SCENE) this.#scenes--;
    place.pool.give(place);
  }

  /** Whether another scene may have its buffers here. */
  get hasRoom(): boolean {
    return this.#scenes < MOST_RESIDENT;
  }
}

class PoolPlace implements Place {
  constructor(
    readonly pool: Pool,
    readonly offset: number,
    readonly size: number,
  ) {}

  get buffer(): GPUBuffer {
    return this.pool.buffer;
  }
}

interface Gap {
  readonly offset: number;
  readonly size: number;
}

class Pool {
  readonly #memory: DeviceMemory;
  readonly label: string;
  readonly #unit: number;
  #buffer: GPUBuffer | undefined;
  /** bytes from which on no place has been taken */
  #end = 0;
  /** in ascending order, none beside another one */
  #gaps: Gap[] = [];

  constructor(memory: DeviceMemory, label: string) {
    this.#memory = memory;
    this.label = label;
    this.#unit = leastCommonMultiple(SLOT_BYTES, STRIDES[label] ?? SLOT_BYTES);
  }

  get buffer(): GPUBuffer {
    if (!this.#buffer) throw new Error(`The arena has no buffer ${this.label}.`);
    return this.#buffer;
  }

  take(bytes: number): Place {
    const size = Math.max(1, Math.ceil(bytes / this.#unit)) * this.#unit;
    const gap = this.#gaps.find((one) => one.size >= size);
    if (gap) {
      const left = { offset: gap.offset + size, size: gap.size - size };
      this.#gaps = this.#gaps.flatMap((one) => (one !== gap ? [one] : left.size > 0 ? [left] : []));
      // What another scene has held must not be seen.
      this.#memory.device.queue.writeBuffer(this.buffer, gap.offset, new Uint8Array(size));
      return new PoolPlace(this, gap.offset, size);
    }
    this.#reserve(this.#end + size);
    const place = new PoolPlace(this, this.#end, size);
    this.#end += size;
    return place;
  }

  give({ offset, size }: Gap): void {
    const [first] = this.#join({ offset, size });
    // The last place is free: so is the memory.
    if (first?.size !== this.#end || !this.#buffer) return;
    this.#memory.free(this.#buffer);
    this.#buffer = undefined;
    this.#gaps = [];
    this.#end = 0;
  }

  /** @returns all gaps */
  #join({ offset, size }: Gap): readonly Gap[] {
    const gaps = [...this.#gaps, { offset, size }].sort((a, b) => a.offset - b.offset);
    this.#gaps = [];
    for (const gap of gaps) {
      const last = this.#gaps.at(-1);
      if (last && last.offset + last.size === gap.offset) {
        this.#gaps[this.#gaps.length - 1] = { offset: last.offset, size: last.size + gap.size };
      } else this.#gaps.push(gap);
    }
    return this.#gaps;
  }

  /** Places keep their offsets when the buffer is replaced by a larger one. */
  #reserve(bytes: number): void {
    const before = this.#buffer;
    if (before && bytes <= before.size) return;
    const { device, largestBinding } = this.#memory;
    if (bytes > largestBinding) {
      throw new IntersticeError(
        'OUT_OF_DEVICE_MEMORY',
        `On the device, scenes that submit together share a buffer for ${this.label}; with this one it would have ${bytes} bytes, and the device allows ${largestBinding}.`,
      );
    }
    const wished = before ? 2 * before.size : Math.max(FIRST_BYTES, FIRST_SCENES * bytes);
    const buffer = this.#memory.allocate(
      `arena: ${this.label}`,
      Math.max(bytes, Math.min(wished, largestBinding)),
      STORAGE | UNIFORM | COPY_SRC | COPY_DST,
    );
    this.#buffer = buffer;
    if (!before) return;
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(before, 0, buffer, 0, this.#end);
    device.queue.submit([encoder.finish()]);
    this.#memory.free(before);
  }
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
}
