/** Counts the bytes of device memory that are in use, by label: what admission asks, and what tests find leaks with. */
export class DeviceLedger {
  readonly #bytes = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Bytes in use of each label that has any. */
  get byLabel(): ReadonlyMap<string, number> {
    return this.#bytes;
  }

  add(label: string, bytes: number): void {
    const sum = (this.#bytes.get(label) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(label);
    else this.#bytes.set(label, sum);
    this.#total += bytes;
  }
}

/** Buffers that count themselves; destroy them here only. */
export class DeviceMemory {
  readonly device: GPUDevice;
  readonly ledger: DeviceLedger;

  constructor(device: GPUDevice, ledger: DeviceLedger) {
    this.device = device;
    this.ledger = ledger;
  }

  /** @param bytes rounded up to 16, so that even an empty array can be bound as any type */
  allocate(label: string, bytes: number, usage: number): GPUBuffer {
    const buffer = this.device.createBuffer({ label, size: Math.max(16, Math.ceil(bytes / 16) * 16), usage });
    this.ledger.add(label, buffer.size);
    return buffer;
  }

  free(buffer: GPUBuffer): void {
    this.ledger.add(buffer.label, -buffer.size);
    buffer.destroy();
  }
}
