import { IntersticeError } from '../../src/contract/errors.js';
import { ByteAccount } from '../../src/threads/account.js';
import { BUFFER_USAGE } from './flags.js';
import { type Place, wholeOf } from './place.js';

/**
 * Counts the bytes of device memory that an engine uses, by label, and keeps the engines of a process within a common
 * limit: every lane has an engine, and all of them share one device. Buffers that grow during a step are counted when
 * they grow.
 */
export class MemoryBudget {
  /** bytes that this engine may use */
  readonly limit: number;
  readonly #account: ByteAccount;
  readonly #bytes = new Map<string, number>();
  #total = 0;
  #most = 0;

  /**
   * @param limit bytes that this engine may use
   * @param account of the thread; its limit applies to the engines of all threads
   */
  constructor(limit = Number.POSITIVE_INFINITY, account = new ByteAccount()) {
    this.limit = limit;
    this.#account = account;
  }

  /** Bytes that this engine uses. */
  get total(): number {
    return this.#total;
  }

  /** Largest number of bytes that this engine has used at one time. */
  get most(): number {
    return this.#most;
  }

  /** Bytes in use for each label that has any. */
  get byLabel(): ReadonlyMap<string, number> {
    return this.#bytes;
  }

  /** @throws OUT_OF_DEVICE_MEMORY with demand and capacity if this many additional bytes exceed the limit */
  assertFits(bytes: number, label: string): void {
    if (this.#total + bytes <= this.limit && this.#account.total + bytes <= this.#account.limit) return;
    throw this.#refusal(bytes, label);
  }

  /**
   * Counts the bytes of a buffer that is about to be allocated.
   *
   * @throws OUT_OF_DEVICE_MEMORY like {@link assertFits}
   */
  take(label: string, bytes: number): void {
    if (this.#total + bytes > this.limit || !this.#account.charge(bytes)) throw this.#refusal(bytes, label);
    this.#add(label, bytes);
  }

  /** Counts the bytes as free again. */
  give(label: string, bytes: number): void {
    this.#account.refund(bytes);
    this.#add(label, -bytes);
  }

  #add(label: string, bytes: number): void {
    const sum = (this.#bytes.get(label) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(label);
    else this.#bytes.set(label, sum);
    this.#total += bytes;
    this.#most = Math.max(this.#most, this.#total);
  }

  #refusal(bytes: number, label: string): IntersticeError {
    const isOwn = this.#total + bytes > this.limit;
    const [total, limit] = isOwn ? [this.#total, this.limit] : [this.#account.total, this.#account.limit];
    return new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `On the device, ${label} needs ${bytes} bytes; ${total} of the ${limit} that may be used are taken.`,
      {
        hint: 'Send a smaller mesh, retry when other requests have finished, or ask the operator to raise INTERSTICE_MAX_DEVICE_BYTES.',
      },
    );
  }
}

/** Observes the buffers of all scenes, for tests: former contents of memory must not be visible in a new buffer. */
export interface MemoryWatch {
  /** usage that every buffer gets besides its own, if the standard allows the combination */
  readonly usage: number;
  /** called before anything has been written to the buffer */
  readonly afterAllocate?: ((buffer: GPUBuffer, device: GPUDevice) => void) | undefined;
  /** called after everything that used the buffer was submitted */
  readonly beforeFree?: ((buffer: GPUBuffer, device: GPUDevice) => void) | undefined;
}

/** Buffers that many accounts share. */
export interface PlaceSource {
  /** @throws OUT_OF_DEVICE_MEMORY, TOO_LARGE; nothing has changed then */
  take(label: string, bytes: number): Place;
  give(place: Place): void;
  /** Waits until the device has reported whether it has the memory of these places. @returns false = not for all */
  settle(places: Iterable<Place>): Promise<boolean>;
  /** bytes that are allocated, but belong to no place */
  readonly freeBytes: number;
}

/**
 * Allocates the buffers of one account and counts them; only this class destroys them. Each scene has an account of its
 * own under the budget of its engine, so that the bytes of a scene are known and those of a failed opening can be
 * freed.
 */
export class DeviceMemory {
  readonly device: GPUDevice;
  readonly budget: MemoryBudget;
  /** bytes of the largest buffer that a kernel can bind */
  readonly largestBinding: number;
  readonly #live = new Set<GPUBuffer>();
  readonly #watch: MemoryWatch | undefined;
  /** source of the memory of {@link place}; undefined = buffers of its own */
  readonly #arena: PlaceSource | undefined;
  readonly #places = new Set<Place>();
  /** number of buffers and places freed so far */
  #frees = 0;
  #bytes = 0;
  #isExhausted = false;

  /** Tests set the last two parameters. @param largestBinding limit in bytes, if the device allows more */
  constructor(
    device: GPUDevice,
    budget: MemoryBudget,
    largestBinding = Number.POSITIVE_INFINITY,
    watch: MemoryWatch | undefined = undefined,
    arena: PlaceSource | undefined = undefined,
  ) {
    this.#arena = arena;
    this.device = device;
    this.budget = budget;
    this.#watch = watch;
    const { maxBufferSize, maxStorageBufferBindingSize } = device.limits;
    this.largestBinding = Math.min(maxBufferSize, maxStorageBufferBindingSize, largestBinding);
  }

  /** Bytes of the buffers that were allocated here and not freed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the device had no memory for a buffer of this account, so that its owner can no longer be used. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /**
   * Opens another account on the same device, under the same budget.
   *
   * @param arena source of its places; absent = buffers of its own
   */
  fork(arena?: PlaceSource): DeviceMemory {
    return new DeviceMemory(this.device, this.budget, this.largestBinding, this.#watch, arena);
  }

  /**
   * Runs code that allocates buffers and waits for the device to report whether it has the memory.
   *
   * @throws OUT_OF_DEVICE_MEMORY if the device has no memory for them; the account is then exhausted
   * @throws what `make` throws; what it has allocated is free again, and the account is exhausted if something was
   *   freed before
   * @throws Error if the device refuses a call of `make` for another reason
   */
  async checkAllocations<T>(what: string, make: () => T): Promise<T> {
    const { device } = this;
    device.pushErrorScope('validation');
    device.pushErrorScope('out-of-memory');
    const frees = this.#frees;
    const before = { live: new Set(this.#live), places: new Set(this.#places) };
    let made: T;
    let refusal: GPUError | null = null;
    try {
      made = make();
    } catch (thrown) {
      // The buffer to be replaced no longer exists, and its place in an arena may belong to another scene.
      if (this.#frees !== frees) this.#isExhausted = true;
      // These have no owner, because `make` did not return.
      for (const buffer of [...this.#live]) if (!before.live.has(buffer)) this.free(buffer);
      for (const place of [...this.#places]) if (!before.places.has(place)) this.release(place);
      throw thrown;
    } finally {
      const [shortage, invalid] = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
      if (shortage) this.#isExhausted = true;
      refusal = invalid;
    }
    if (this.#arena && !(await this.#arena.settle(this.#places))) this.#isExhausted = true;
    // Writing to a buffer for which the device has no memory is an invalid call, but no reason to distrust the device.
    if (refusal && !this.#isExhausted) throw new Error(`The device reported: ${refusal.message}`);
    if (!this.#isExhausted) return made;
    throw new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `The device has no memory for ${what}; with it, ${this.#bytes} bytes would be allocated.`,
    );
  }

  /**
   * @param bytes rounded up to 16, so that even an empty array can be bound as any type
   * @throws TOO_LARGE if no kernel could bind the buffer; OUT_OF_DEVICE_MEMORY if the budget does not allow it
   */
  allocate(label: string, bytes: number, usage: number): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const most = (usage & BUFFER_USAGE.STORAGE) !== 0 ? this.largestBinding : this.device.limits.maxBufferSize;
    if (size > most) {
      throw new IntersticeError(
        'TOO_LARGE',
        `On the device, ${label} needs ${size} bytes in one buffer; this device allows ${most}.`,
        { hint: 'Send a smaller mesh, or use an adapter with larger buffers.' },
      );
    }
    this.budget.take(label, size);
    // The standard allows no other usage for a buffer for mapping.
    const extra = (usage & BUFFER_USAGE.MAP_READ) === 0 ? (this.#watch?.usage ?? 0) : 0;
    let buffer: GPUBuffer;
    try {
      buffer = this.device.createBuffer({ label, size, usage: usage | extra });
    } catch (thrown) {
      this.budget.give(label, size);
      throw thrown;
    }
    this.#live.add(buffer);
    this.#bytes += size;
    this.#watch?.afterAllocate?.(buffer, this.device);
    return buffer;
  }

  /**
   * Allocates a buffer and waits until the device has reported that it has the memory. The owner of the account remains
   * usable in either case.
   *
   * @throws like {@link allocate}; OUT_OF_DEVICE_MEMORY if the device has no memory for it
   */
  async obtain(label: string, bytes: number, usage: number): Promise<GPUBuffer> {
    const { device } = this;
    let buffer: GPUBuffer | undefined;
    let isThere = false;
    device.pushErrorScope('out-of-memory');
    try {
      buffer = this.allocate(label, bytes, usage);
    } finally {
      try {
        isThere = (await device.popErrorScope()) === null;
      } finally {
        if (buffer && !isThere) this.free(buffer);
      }
    }
    if (isThere) return buffer;
    throw new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `The device has no memory for the ${buffer.size} bytes of ${label}; without them, ${this.#bytes} bytes are allocated.`,
    );
  }

  /** Frees a buffer. A buffer that was already freed, for example by freeAll, is ignored. */
  free(buffer: GPUBuffer): void {
    if (!this.#live.delete(buffer)) return;
    this.#frees++;
    this.#bytes -= buffer.size;
    this.budget.give(buffer.label, buffer.size);
    this.#watch?.beforeFree?.(buffer, this.device);
    buffer.destroy();
  }

  /**
   * Call this before places are replaced by larger ones: a refusal halfway through would leave their owner without any.
   *
   * @param replaced bytes of the places that are freed first @param more bytes beyond them
   * @throws OUT_OF_DEVICE_MEMORY if the budget does not allow it
   */
  assertFits(more: number, replaced: number, label: string): void {
    // In an arena, freed memory may lie between places of others, so the larger places take other memory.
    const demand = this.#arena ? Math.max(0, more + replaced - this.#arena.freeBytes) : more;
    this.budget.assertFits(demand, label);
  }

  /** Whether places of different labels may lie in one buffer; places of one label usually do. */
  get sharesBuffers(): boolean {
    return this.#arena !== undefined;
  }

  /**
   * Memory that kernels bind, all 0. It may be used once {@link checkAllocations} has returned.
   *
   * @throws like {@link allocate}
   */
  place(label: string, bytes: number, usage: number): Place {
    if (!this.#arena) return wholeOf(this.allocate(label, bytes, usage));
    const place = this.#arena.take(label, bytes);
    this.#places.add(place);
    this.#bytes += place.size;
    return place;
  }

  /** Frees a result of {@link place}; ignores one that was already freed. */
  release(place: Place): void {
    if (!this.#arena) this.free(place.buffer);
    else if (this.#places.delete(place)) {
      this.#frees++;
      this.#bytes -= place.size;
      this.#arena.give(place);
    }
  }

  freeAll(): void {
    for (const buffer of [...this.#live]) this.free(buffer);
    for (const place of [...this.#places]) this.release(place);
  }
}
