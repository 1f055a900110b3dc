import { IntersticeError } from '../../src/contract/errors.js';
import type { DeviceMemory, PlaceSource } from '../device/memory.js';
import type { Place } from '../device/place.js';
import { CONTROL, VERTEX_PULL } from '../kernels/structs.js';
import { SLOT_BYTES, UNIFORM_BYTES } from './address.js';
import { Pool, PoolPlace } from './pool.js';

/** Smallest size of a buffer in bytes, and the number of scenes like the first one for which a new buffer has room. */
const LEAST_BYTES = UNIFORM_BYTES;
const FIRST_SCENES = 4;
/** A buffer that grows gets room for SPARE times its contents. If less than 1/SLACK of it is in use, its places move to a smaller one. */
const SPARE = 2;
const SLACK = 4;

/** Largest number of scenes of an arena: their parameters lie in one uniform binding, with room to spare. */
const MOST_RESIDENT = (3 * UNIFORM_BYTES) / (4 * SLOT_BYTES);

/** Labels whose places begin at multiples of a struct size that does not divide {@link SLOT_BYTES}. */
const STRIDES: Readonly<Record<string, number>> = {
  control: Math.ceil(CONTROL.bytes / SLOT_BYTES) * SLOT_BYTES,
  pull: VERTEX_PULL.bytes,
};

/** Each scene has one place with this label. */
const OF_EVERY_SCENE = 'parameters';

/**
 * The buffers of many scenes: one per label, in which the places of the scenes follow each other. A label has several
 * buffers if the device has no memory, or no binding, for all places in one; their scenes then share fewer dispatches.
 *
 * A place may move whenever no recording awaits submission. So anything that refers to its buffer must be submitted
 * before the next await.
 */
export class Arena implements PlaceSource {
  readonly #memory: DeviceMemory;
  readonly #labels = new Map<string, Pools>();
  readonly #onFree: () => void;
  #scenes = 0;

  /**
   * @param memory account of the buffers
   *
   * @param onFree called when a buffer was freed, which invalidates bind groups
   */
  constructor(memory: DeviceMemory, onFree: () => void = () => undefined) {
    this.#memory = memory;
    this.#onFree = onFree;
  }

  /**
   * Takes a place filled with 0. It may be used once {@link settle} has resolved.
   *
   * @throws OUT_OF_DEVICE_MEMORY if the budget does not allow a buffer for it, or for one scene more than
   *   {@link hasRoom} allows; TOO_LARGE. Nothing has changed then.
   */
  take(label: string, bytes: number): Place {
    // Several scenes may open at the same time, each of which has seen room.
    if (label === OF_EVERY_SCENE && !this.hasRoom) {
      throw new IntersticeError('OUT_OF_DEVICE_MEMORY', `At most ${MOST_RESIDENT} scenes share buffers on a device.`);
    }
    const pools = this.#labels.get(label) ?? new Pools(this.#memory, label, this.#onFree);
    this.#labels.set(label, pools);
    const place = pools.take(bytes);
    if (label === OF_EVERY_SCENE) this.#scenes++;
    return place;
  }

  give(place: Place): void {
    if (!(place instanceof PoolPlace)) return;
    const { label } = place.pool;
    if (label === OF_EVERY_SCENE) this.#scenes--;
    this.#labels.get(label)?.give(place);
  }

  async settle(places: Iterable<Place>): Promise<boolean> {
    const own = [...places].filter((place) => place instanceof PoolPlace);
    for (const { pool } of own) await pool.verdict;
    return own.every(({ pool }) => pool.state !== 'REFUSED');
  }

  /** Frees all buffers permanently; their scenes can no longer be used. */
  close(): void {
    for (const pools of this.#labels.values()) pools.close();
  }

  /** Whether another scene may have its buffers here. */
  get hasRoom(): boolean {
    return this.#scenes < MOST_RESIDENT;
  }

  /** Bytes of the buffers that belong to no place. */
  get freeBytes(): number {
    return [...this.#labels.values()].reduce((sum, { freeBytes }) => sum + freeBytes, 0);
  }
}

/** The buffers of one label. */
class Pools {
  readonly #memory: DeviceMemory;
  readonly #label: string;
  readonly #unit: number;
  readonly #onFree: () => void;
  /** the newest first; none is refused */
  #pools: Pool[] = [];
  #isShrinkDue = false;

  constructor(memory: DeviceMemory, label: string, onFree: () => void) {
    this.#memory = memory;
    this.#label = label;
    this.#unit = leastCommonMultiple(SLOT_BYTES, STRIDES[label] ?? SLOT_BYTES);
    this.#onFree = onFree;
  }

  get freeBytes(): number {
    return this.#pools.reduce((sum, { size, heldBytes }) => sum + size - heldBytes, 0);
  }

  take(bytes: number): Place {
    const size = Math.max(1, Math.ceil(bytes / this.#unit)) * this.#unit;
    // Buffers for which the device has memory come first.
    for (const state of ['READY', 'ASKED'] as const) {
      for (const pool of this.#pools) {
        const place = pool.state === state ? pool.take(size) : undefined;
        if (place) return place;
      }
    }
    return this.#open(this.#sizesWith(size)).take(size)!;
  }

  /** A place whose buffer was refused is gone already. */
  give(place: PoolPlace): void {
    const { pool } = place;
    pool.give(place);
    if (pool.isEmpty) this.#drop(pool);
    if (this.#pools.every(({ isEmpty }) => isEmpty)) this.close();
    if (this.#isShrinkDue || this.#pools.length === 0) return;
    // A scene that releases a place often takes another one at once.
    this.#isShrinkDue = true;
    queueMicrotask(() => this.#shrink());
  }

  close(): void {
    for (const pool of this.#pools) this.#drop(pool);
  }

  /** Sizes for a buffer with a new place, the best one first: with room for more, for all places, and for this one. */
  #sizesWith(size: number): number[] {
    const { largestBinding } = this.#memory;
    // A buffer of the largest size keeps its places; the others may all move to the new one.
    const held = this.#pools.reduce((sum, pool) => sum + (pool.size < largestBinding ? pool.heldBytes : 0), 0);
    const wished = Math.min(Math.max(SPARE * (held + size), FIRST_SCENES * size), largestBinding);
    const sizes = [wished, held + size].filter((bytes) => bytes >= size && bytes <= largestBinding);
    return [...sizes, size].map((bytes) => Math.max(LEAST_BYTES, bytes));
  }

  /** @throws the refusal of the last size */
  #open(sizes: readonly number[]): Pool {
    const [bytes, ...others] = sizes;
    let pool: Pool;
    try {
      pool = new Pool(this.#memory, this.#label, bytes!);
    } catch (thrown) {
      const isRefused = thrown instanceof IntersticeError && thrown.code === 'OUT_OF_DEVICE_MEMORY';
      if (!isRefused || others.length === 0) throw thrown;
      return this.#open(others);
    }
    this.#pools.unshift(pool);
    const refuse = () => this.#refuse(pool);
    pool.verdict.then((error) => (error ? refuse() : this.#adopt(pool)), refuse);
    return pool;
  }

  #adopt(pool: Pool): void {
    pool.state = 'READY';
    if (this.#pools.includes(pool)) this.#gather();
  }

  /** Marks its places as lost; Arena.settle reports that to their owners. */
  #refuse(pool: Pool): void {
    pool.state = 'REFUSED';
    this.#drop(pool);
  }

  #drop(pool: Pool): void {
    if (!this.#pools.includes(pool)) return;
    this.#pools = this.#pools.filter((one) => one !== pool);
    pool.free();
    this.#onFree();
  }

  /** Moves places into the newest usable buffer. */
  #gather(): void {
    const [newest, ...others] = this.#pools.filter(({ state }) => state === 'READY');
    if (!newest) return;
    for (const pool of others) if (newest.takeOver(pool)) this.#drop(pool);
    if (newest.isEmpty) this.#drop(newest);
  }

  #shrink(): void {
    this.#isShrinkDue = false;
    this.#gather();
    const held = this.#pools.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    const bytes = Math.max(LEAST_BYTES, SPARE * held);
    if (SLACK * held >= held + this.freeBytes || bytes >= held + this.freeBytes) return;
    if (bytes > this.#memory.largestBinding || this.#pools.some(({ state }) => state === 'ASKED')) return;
    try {
      this.#open([bytes]);
    } catch {
      // If there is no memory for both buffers, all places stay where they are.
    }
  }
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
}
