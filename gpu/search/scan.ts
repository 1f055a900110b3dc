import { DISPATCH_BYTES, type Dispatch, type Indirect, recordDispatch } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { Bindings, KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { OwnedPlaces } from '../device/owned-places.js';
import { type Place, write } from '../device/place.js';
import type { Pass } from '../device/recording.js';
import { SCAN_BLOCK } from '../kernels/constants.js';
import { SCAN_LEVEL, SCAN_PLAN } from '../kernels/structs.js';

/** Levels of blocks in a prefix sum over this many entries; the sum takes 2·levels − 1 dispatches. */
export function scanLevels(capacity: number): number {
  let levels = 1;
  for (let entries = Math.ceil(capacity / SCAN_BLOCK); entries > 1; entries = Math.ceil(entries / SCAN_BLOCK)) levels++;
  return levels;
}

export interface ScanOptions {
  /** u32[≥ capacity], replaced by its exclusive prefix sum; STORAGE */
  readonly data: Place;
  /** the maximum number of entries */
  readonly capacity: number;
  /** where the device finds the number of entries, at most `capacity`: a word (4 bytes each) of a STORAGE buffer */
  readonly count: { readonly place: Place; readonly word: number };
  /** the place of the sizes of the 2·levels − 1 dispatches; undefined = the scan plans them itself */
  readonly sizes?: Indirect;
}

/**
 * Exclusive prefix sum of u32 on the device, in place, over a number of entries that only the device knows. Sums that
 * do not fit saturate at 2³² − 1, so that an excessive demand never looks like a small one. Kernels:
 * search/scan-*.wgsl.
 */
export class DeviceScan {
  readonly levels: number;
  /** u32[1] sum of all entries */
  readonly total: Place;
  readonly #dispatches: Dispatch[] = [];
  readonly #owned: OwnedPlaces;

  constructor(memory: DeviceMemory, kernels: KernelSet, { data, capacity, count, sizes }: ScanOptions) {
    const { device } = memory;
    this.#owned = new OwnedPlaces(memory);
    this.levels = scanLevels(capacity);
    const own = (size: number, usage: number, label: string): Place => this.#owned.add(label, size, usage);
    const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, INDIRECT } = BUFFER_USAGE;
    const last = 2 * this.levels - 2;
    let from = sizes;
    if (from === undefined) {
      from = { place: own(DISPATCH_BYTES * (last + 1), STORAGE | INDIRECT, 'scan sizes'), offset: 0 };
      const plan = own(SCAN_PLAN.bytes, UNIFORM | COPY_DST, 'scan plan');
      write(device.queue, plan, 0, SCAN_PLAN.pack({ countWord: count.word, levels: this.levels }));
      const kernel = kernels.get('planScan');
      const bindings = kernel.bindings({ plan, counts: count.place, sizes: from.place });
      this.#dispatches.push({ kernel, bindings, size: undefined, most: 1 });
    }
    const bindings: Bindings[] = [];
    let level = data;
    let entries = capacity;
    for (let l = 0; l < this.levels; l++) {
      entries = Math.max(1, Math.ceil(entries / SCAN_BLOCK));
      const sums = own(4 * entries, STORAGE | COPY_SRC, `scan sums ${l}`);
      const scan = own(SCAN_LEVEL.bytes, UNIFORM | COPY_DST, 'scan level');
      write(device.queue, scan, 0, SCAN_LEVEL.pack({ countWord: count.word, level: l }));
      bindings.push(kernels.get('scanBlocks').bindings({ scan, counts: count.place, data: level, sums }));
      level = sums;
    }
    this.total = level;
    for (let n = 0; n <= last; n++) {
      const isUpward = n < this.levels;
      this.#dispatches.push({
        kernel: kernels.get(isUpward ? 'scanBlocks' : 'addBlocks'),
        bindings: bindings[isUpward ? n : last - n]!,
        size: { place: from.place, offset: from.offset + DISPATCH_BYTES * n },
        most: Math.ceil(capacity / SCAN_BLOCK),
      });
    }
  }

  /** Dispatches that record() records. */
  get dispatches(): number {
    return this.#dispatches.length;
  }

  record(pass: Pass): void {
    for (const dispatch of this.#dispatches) recordDispatch(pass, dispatch);
  }

  destroy(): void {
    this.#owned.close();
  }
}
