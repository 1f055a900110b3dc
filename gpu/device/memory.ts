import { IntersticeError } from '../../src/contract/errors.js';
import { ByteAccount } from '../../src/threads/account.js';
import { BUFFER_USAGE } from './flags.js';
import { type Place, wholeOf } from './place.js';

/**
 * Counts the bytes of device memory that an engine uses, by label, and holds those of all engines of the process together to a
 * limit: every lane has an engine, and all of them share one device. Buffers that grow during a step count as they grow.
 */
export class MemoryBudget {
  /** bytes that this engine may use */
  readonly #limit: number;
  readonly #account: ByteAccount;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  /**
   * @param limit bytes that this engine may use
   * @param account of the thread; its limit counts for the engines of all threads
   */
  constructor(limit = Number.POSITIVE_INFINITY, account = new ByteAccount()) {
    this.#limit = limit;
    this.#account = account;
  }

  /** Bytes that this engine uses. */
  get total(): number {
    return this.#total;
  }

  /** Bytes in use of each label that has any. */
  get byLabel(): ReadonlyMap<string, number> {
    return this.#bytes;
  }

  /** @throws OUT_OF_DEVICE_MEMORY with demand and capacity when so many more bytes exceed the limit */
  assertFits(bytes: number, label: string): void {
    if (this.#total + bytes <= this.#limit && this.#account.total + bytes <= this.#account.limit) return;
    throw this.#refusal(bytes, label);
  }

  /** Counts the bytes of a buffer that is about to be allocated. @throws OUT_OF_DEVICE_MEMORY as {@link assertFits} */
  take(label: string, bytes: number): void {
    if (this.#total + bytes > this.#limit || !this.#account.charge(bytes)) throw this.#refusal(bytes, label);
    this.#add(label, bytes);
  }

  /** The bytes are free again. */
  give(label: string, bytes: number): void {
    this.#account.refund(bytes);
    this.#add(label, -bytes);
  }

  #add(label: string, bytes: number): void {
    const sum = (this.#bytes.get(label) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(label);
    else this.#bytes.set(label, sum);
    this.#total += bytes;
  }

  #refusal(bytes: number, label: string): IntersticeError {
    const isOwn = this.#total + bytes > this.#limit;
    const [total, limit] = isOwn ? [this.#total, this.#limit] : [this.#account.total, this.#account.limit];
    return new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `On the device, ${label} needs ${bytes} bytes; ${total} of the ${limit} that may be used are taken.`,
    );
  }
}

/** Observes the buffers of all scenes, for tests: what memory held before must not be visible in a new buffer. */
export interface MemoryWatch {
  /** usage that every buffer gets besides its own, where the standard lets the two go together */
  readonly usage: number;
  /** nothing has been written to it yet */
  readonly afterAllocate?: ((buffer: GPUBuffer, device: GPUDevice) => void) | undefined;
  /** everything that used it was submitted */
  readonly beforeFree?: ((buffer: GPUBuffer, device: GPUDevice) => void) | undefined;
}

/** Buffers that many accounts share. */
export interface PlaceSource {
  /** @throws OUT_OF_DEVICE_MEMORY, TOO_LARGE; nothing has changed then */
  take(label: string, bytes: number): Place;
  give(place: Place): void;
  /** Waits until the device has said whether it has the memory of these places. @returns false = not of all */
  settle(places: Iterable<Place>): Promise<boolean>;
  /** bytes that are allocated, and in no place */
  readonly freeBytes: number;
}

/**
 * Allocates the buffers of one account and counts them; only this class destroys them. Each scene has an account of its
 * own under the budget of its engine, so that the bytes of a scene are known and those of a failed opening can be freed.
 */
export class DeviceMemory {
  readonly device: GPUDevice;
  readonly budget: MemoryBudget;
  /** bytes of the largest buffer that a kernel can bind */
  readonly largestBinding: number;
  readonly #live = new Set<GPUBuffer>();
  readonly #watch: MemoryWatch | undefined;
  /** where {@link place} takes its memory from; undefined = buffers of its own */
  readonly #arena: PlaceSource | undefined;
  readonly #places = new Set<Place>();
  /** buffers and places that were freed so far */
  #frees = 0;
  #bytes = 0;
  #isExhausted = false;

  /** Tests set the last two parameters. @param largestBinding below what the device allows */
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

  /** The device had no memory for a buffer of this account: the owner of the account cannot be used any more. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Opens another account on the same device, under the same budget. @param arena gives its places; absent = buffers of its own */
  fork(arena?: PlaceSource): DeviceMemory {
    return new DeviceMemory(this.device, this.budget, this.largestBinding, this.#watch, arena);
  }

  /**
   * Runs code that allocates buffers and waits for the device's own verdict on them.
   *
   * @throws OUT_OF_DEVICE_MEMORY when the device has no memory for them, and the account is exhausted; what `make` throws, and what it has
   * allocated is free again, and the account exhausted if something was freed before; Error when the device refuses a call of `make` for another reason
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
      // What was to be replaced is missing, and its place in an arena may be another scene's.
      if (this.#frees !== frees) this.#isExhausted = true;
      // It has no owner: whoever was to have it was not made.
      for (const buffer of [...this.#live]) if (!before.live.has(buffer)) this.free(buffer);
      for (const place of [...this.#places]) if (!before.places.has(place)) this.release(place);
      throw thrown;
    } finally {
      const [shortage, invalid] = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
      if (shortage) this.#isExhausted = true;
      refusal = invalid;
    }
    if (this.#arena && !(await this.#arena.settle(this.#places))) this.#isExhausted = true;
    // What is written to a buffer that the device has no memory for is an invalid call: no reason to distrust the device.
    if (refusal && !this.#isExhausted) throw new Error(`The device reported: ${refusal.message}`);
    if (!this.#isExhausted) return made;
    throw new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `The device has no memory for ${what}; with it, ${this.#bytes} bytes would be allocated.`,
    );
  }

  /**
   * @param bytes rounded up to 16, so that even an empty array can be bound as any type
   * @throws TOO_LARGE when no kernel could bind the buffer; OUT_OF_DEVICE_MEMORY when the budget does not allow it
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
    // The standard allows a buffer for mapping no other usage.
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
   * Allocates a buffer and waits until the device has said that it has the memory. Whatever the answer, the owner of the account can go on.
   *
   * @throws as {@link allocate}; OUT_OF_DEVICE_MEMORY when the device has no memory for it
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

  /** Frees a buffer. A buffer that was freed before, by freeAll for example, is left alone. */
  free(buffer: GPUBuffer): void {
    if (!this.#live.delete(buffer)) return;
    this.#frees++;
    this.#bytes -= buffer.size;
    this.budget.give(buffer.label, buffer.size);
    this.#watch?.beforeFree?.(buffer, this.device);
    buffer.destroy();
  }

  /**
   * To be asked before places are replaced by larger ones: a refusal half way leaves their owner without any.
   *
   * @param replaced bytes of the places that are freed first @param more bytes beyond them
   * @throws OUT_OF_DEVICE_MEMORY where the budget does not allow it
   */
  assertFits(more: number, replaced: number, label: string): void {
    // In an arena, what is freed may lie between places of others: the larger ones take other memory.
    const demand = this.#arena ? Math.max(0, more + replaced - this.#arena.freeBytes) : more;
    this.budget.assertFits(demand, label);
  }

  /** Places of different labels may lie in one buffer, and places of one label do as a rule. */
  get sharesBuffers(): boolean {
    return this.#arena !== undefined;
  }

  /** Memory that kernels bind, all 0. It may be used once {@link checkAllocations} has returned. @throws as {@link allocate} */
  place(label: string, bytes: number, usage: number): Place {
    if (!this.#arena) return wholeOf(this.allocate(label, bytes, usage));
    const place = this.#arena.take(label, bytes);
    this.#places.add(place);
    this.#bytes += place.size;
    return place;
  }

  /** Frees what {@link place} gave; what was freed before is left alone. */
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
