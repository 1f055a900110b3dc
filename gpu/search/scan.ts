import { DISPATCH_BYTES, type Dispatch, type Indirect, recordDispatch } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { SCAN_BLOCK } from '../kernels/constants.js';
import { SCAN_LEVEL, SCAN_PLAN } from '../kernels/structs.js';

/** Levels of blocks in a prefix sum over so many entries; the sum takes 2·levels − 1 dispatches. */
export function scanLevels(capacity: number): number {
  let levels = 1;
  for (let entries = Math.ceil(capacity / SCAN_BLOCK); entries > 1; entries = Math.ceil(entries / SCAN_BLOCK)) levels++;
  return levels;
}

export interface ScanOptions {
  /** u32[≥ capacity], replaced by its exclusive prefix sum; STORAGE */
  readonly data: GPUBuffer;
  /** the maximum number of entries */
  readonly capacity: number;
  /** where the device finds the number of entries, at most `capacity`: a word (4 bytes each) of a STORAGE buffer */
  readonly count: { readonly buffer: GPUBuffer; readonly word: number };
  /** where the sizes of the 2·levels − 1 dispatches begin; undefined = the scan plans them itself */
  readonly sizes?: Indirect;
}

/**
 * Exclusive prefix sum of u32 on the device, in place, over a number of entries that only the device knows. Sums that do
 * not fit saturate at 2³² − 1, so that a demand beyond all bounds never looks like a small one. Kernels: search/scan-*.wgsl.
 */
export class DeviceScan {
  readonly levels: number;
  /** u32[1] sum of all entries */
  readonly total: GPUBuffer;
  readonly #dispatches: Dispatch[] = [];
  readonly #memory: DeviceMemory;
  readonly #owned: GPUBuffer[] = [];

  constructor(memory: DeviceMemory, kernels: KernelSet, { data, capacity, count, sizes }: ScanOptions) {
    const { device } = memory;
    this.#memory = memory;
    this.levels = scanLevels(capacity);
    const own = (size: number, usage: number, label: string): GPUBuffer => {
      const buffer = memory.allocate(label, size, usage);
      this.#owned.push(buffer);
      return buffer;
    };
    const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, INDIRECT } = BUFFER_USAGE;
    const last = 2 * this.levels - 2;
    let from = sizes;
    if (from === undefined) {
      from = { buffer: own(DISPATCH_BYTES * (last + 1), STORAGE | INDIRECT, 'scan sizes'), offset: 0 };
      const plan = own(SCAN_PLAN.bytes, UNIFORM | COPY_DST, 'scan plan');
      device.queue.writeBuffer(
        plan,
        0,
        SCAN_PLAN.pack({ countWord: count.word, levels: this.levels }),
        0,
        SCAN_PLAN.bytes,
      );
      const group = kernels.get('planScan').bind({ plan, counts: count.buffer, sizes: from.buffer });
      this.#dispatches.push({ kernel: kernels.get('planScan'), group, size: undefined });
    }
    const groups: GPUBindGroup[] = [];
    let level = data;
    let entries = capacity;
    for (let l = 0; l < this.levels; l++) {
      entries = Math.max(1, Math.ceil(entries / SCAN_BLOCK));
      const sums = own(4 * entries, STORAGE | COPY_SRC, 'scan sums');
      const scan = own(SCAN_LEVEL.bytes, UNIFORM | COPY_DST, 'scan level');
      device.queue.writeBuffer(scan, 0, SCAN_LEVEL.pack({ countWord: count.word, level: l }), 0, SCAN_LEVEL.bytes);
      groups.push(kernels.get('scanBlocks').bind({ scan, counts: count.buffer, data: level, sums }));
      level = sums;
    }
    this.total = level;
    for (let n = 0; n <= last; n++) {
      const isUpward = n < this.levels;
      this.#dispatches.push({
        kernel: kernels.get(isUpward ? 'scanBlocks' : 'addBlocks'),
        group: groups[isUpward ? n : last - n],
        size: { buffer: from.buffer, offset: from.offset + DISPATCH_BYTES * n },
      });
    }
  }

  /** Dispatches that record() records. */
  get dispatches(): number {
    return this.#dispatches.length;
  }

  record(pass: GPUComputePassEncoder): void {
    for (const dispatch of this.#dispatches) recordDispatch(pass, dispatch);
  }

  destroy(): void {
    for (const buffer of this.#owned) this.#memory.free(buffer);
  }
}
