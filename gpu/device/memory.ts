import { IntersticeError } from '../../src/contract/errors.js';
import { BUFFER_USAGE } from './flags.js';

/** Counts the bytes of device memory in use, by label, and holds them to a limit. */
export class MemoryBudget {
  /** bytes that may be in use at once */
  readonly limit: number;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.limit = limit;
  }

  get total(): number {
    return this.#total;
  }

  /** Bytes in use of each label that has any. */
  get byLabel(): ReadonlyMap<string, number> {
    return this.#bytes;
  }

  /** @throws OUT_OF_DEVICE_MEMORY with demand and capacity when so many more bytes exceed the limit */
  assertFits(bytes: number, label: string): void {
    if (this.#total + bytes <= this.limit) return;
    throw new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `On the device, ${label} needs ${bytes} bytes; ${this.#total} of the ${this.limit} that may be used are taken.`,
    );
  }

  add(label: string, bytes: number): void {
    const sum = (this.#bytes.get(label) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(label);
    else this.#bytes.set(label, sum);
    this.#total += bytes;
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
  #bytes = 0;
  #isExhausted = false;

  /** Tests set the last two parameters. @param largestBinding below what the device allows */
  constructor(
    device: GPUDevice,
    budget: MemoryBudget,
    largestBinding = Number.POSITIVE_INFINITY,
    watch: MemoryWatch | undefined = undefined,
  ) {
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

  /** Opens another account on the same device, under the same budget. */
  fork(): DeviceMemory {
    return new DeviceMemory(this.device, this.budget, this.largestBinding, this.#watch);
  }

  /**
   * Runs code that allocates buffers and waits for the device's own verdict on them.
   *
   * @throws OUT_OF_DEVICE_MEMORY when the device has no memory for them, and the account is exhausted; what `make` throws
   */
  async checkAllocations<T>(what: string, make: () => T): Promise<T> {
    this.device.pushErrorScope('out-of-memory');
    let made: T;
    try {
      made = make();
    } finally {
      if (await this.device.popErrorScope()) this.#isExhausted = true;
    }
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
    this.budget.assertFits(size, label);
    // The standard allows a buffer for mapping no other usage.
    const extra = (usage & BUFFER_USAGE.MAP_READ) === 0 ? (this.#watch?.usage ?? 0) : 0;
    const buffer = this.device.createBuffer({ label, size, usage: usage | extra });
    this.#live.add(buffer);
    this.#bytes += size;
    this.budget.add(label, size);
    this.#watch?.afterAllocate?.(buffer, this.device);
    return buffer;
  }

  /** Frees a buffer. A buffer that was freed before, by freeAll for example, is left alone. */
  free(buffer: GPUBuffer): void {
    if (!this.#live.delete(buffer)) return;
    this.#bytes -= buffer.size;
    this.budget.add(buffer.label, -buffer.size);
    this.#watch?.beforeFree?.(buffer, this.device);
    buffer.destroy();
  }

  freeAll(): void {
    for (const buffer of [...this.#live]) this.free(buffer);
  }
}
