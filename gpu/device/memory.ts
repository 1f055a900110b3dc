import { IntersticeError } from '../../src/contract/errors.js';
import { BUFFER_USAGE } from './flags.js';

/** Counts the bytes of device memory that are in use, by label: what admission asks, and what tests find leaks with. */
export class DeviceLedger {
  /** bytes; nothing is allocated beyond them */
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

  /** @throws OUT_OF_DEVICE_MEMORY with demand and capacity when so many more bytes would go beyond the limit */
  admit(bytes: number, label: string): void {
    if (this.#total + bytes <= this.limit) return;
    throw new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `${label} needs ${bytes} bytes on the device; ${this.#total} of the ${this.limit} that may be used are taken`,
    );
  }

  add(label: string, bytes: number): void {
    const sum = (this.#bytes.get(label) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(label);
    else this.#bytes.set(label, sum);
    this.#total += bytes;
  }
}

/** Looks at the buffers of all scenes, for tests: what the memory held before must not be seen in it again. */
export interface MemoryWatch {
  /** usage that every buffer gets besides its own, where the standard lets the two go together */
  readonly usage: number;
  /** nothing has been written to it yet */
  readonly afterAllocate?: ((buffer: GPUBuffer, device: GPUDevice) => void) | undefined;
  /** everything that used it was submitted */
  readonly beforeFree?: ((buffer: GPUBuffer, device: GPUDevice) => void) | undefined;
}

/**
 * Buffers that count themselves; destroy them here only. Each scene has one of its own over the device's ledger, so that
 * what a scene holds is known, and what a failed opening left behind can be freed.
 */
export class DeviceMemory {
  readonly device: GPUDevice;
  readonly ledger: DeviceLedger;
  /** bytes of the largest buffer that a kernel can bind */
  readonly largestBinding: number;
  readonly #live = new Set<GPUBuffer>();
  readonly #watch: MemoryWatch | undefined;
  #bytes = 0;

  /** The last two are for tests. @param largestBinding below what the device allows */
  constructor(
    device: GPUDevice,
    ledger: DeviceLedger,
    largestBinding = Number.POSITIVE_INFINITY,
    watch: MemoryWatch | undefined = undefined,
  ) {
    this.device = device;
    this.ledger = ledger;
    this.#watch = watch;
    const { maxBufferSize, maxStorageBufferBindingSize } = device.limits;
    this.largestBinding = Math.min(maxBufferSize, maxStorageBufferBindingSize, largestBinding);
  }

  /** Bytes of the buffers that were allocated here and not freed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Another account of the same device and ledger. */
  fork(): DeviceMemory {
    return new DeviceMemory(this.device, this.ledger, this.largestBinding, this.#watch);
  }

  /**
   * @param bytes rounded up to 16, so that even an empty array can be bound as any type
   * @throws TOO_LARGE when no kernel could bind the buffer; OUT_OF_DEVICE_MEMORY when the ledger's limit does not allow it
   */
  allocate(label: string, bytes: number, usage: number): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const most = (usage & BUFFER_USAGE.STORAGE) !== 0 ? this.largestBinding : this.device.limits.maxBufferSize;
    if (size > most) {
      throw new IntersticeError('TOO_LARGE', `${label} needs ${size} bytes in one buffer; this device allows ${most}`, {
        hint: 'Send a smaller mesh, or use an adapter with larger buffers.',
      });
    }
    this.ledger.admit(size, label);
    // The standard lets a buffer for mapping be nothing else.
    const extra = (usage & BUFFER_USAGE.MAP_READ) === 0 ? (this.#watch?.usage ?? 0) : 0;
    const buffer = this.device.createBuffer({ label, size, usage: usage | extra });
    this.#live.add(buffer);
    this.#bytes += size;
    this.ledger.add(label, size);
    this.#watch?.afterAllocate?.(buffer, this.device);
    return buffer;
  }

  /** A buffer that was freed before, by freeAll say, is left alone. */
  free(buffer: GPUBuffer): void {
    if (!this.#live.delete(buffer)) return;
    this.#bytes -= buffer.size;
    this.ledger.add(buffer.label, -buffer.size);
    this.#watch?.beforeFree?.(buffer, this.device);
    buffer.destroy();
  }

  freeAll(): void {
    for (const buffer of [...this.#live]) this.free(buffer);
  }
}
