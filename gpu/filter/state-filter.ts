import { IntersticeError } from '../../src/contract/errors.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { DoubtfulPairs, StateFilter } from '../../src/verify/filter.js';
import { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { Reader } from '../device/readback.js';
import { FILTER_COUNTS } from '../kernels/structs.js';
import { FilterBuffers, type FilterRequest, PAIR_BYTES } from './filter-buffers.js';
import { type FilterLayout, layOutFilter } from './layout.js';
import { type FilterPositions, toFilterPositions } from './positions.js';

/** Pairs that the list has room for at first, and that are read together with the counts: usually all there are. */
export const FIRST_DOUBTFUL = 4096;
/**
 * Beyond this many doubtful pairs the exact test has most of its work left to do, and the filter gives up: 32 MiB of
 * list.
 */
export const MAX_DOUBTFUL = 2 ** 22;
/** Stamps begin again after so many requests; 0 is none, as a cleared buffer has it. */
const MAX_STAMPS = 2 ** 31;

/** What of a device a filter needs; GpuScene's device has it. */
export interface FilterDevice {
  readonly memory: DeviceMemory;
  /** @throws DEVICE_LOST or what the device reported when it cannot be trusted any more */
  assertUsable(): void;
  waitFor<T>(work: Promise<T>): Promise<T>;
}

export interface FilterOptions {
  /** pairs that the list has room for at first; tests take fewer, to see it grow */
  readonly firstDoubtful?: number;
  readonly mostDoubtful?: number;
  /** compiled otherwise: for tests */
  readonly kernels?: KernelSet;
}

/**
 * Clears on the device what certainly has no common point (gpu/kernels/filter/walk.wgsl). It knows the mesh and the numbers
 * it is given; it shares neither boxes nor pairs with the engine.
 */
export class DeviceStateFilter implements StateFilter {
  readonly #device: FilterDevice;
  readonly #mesh: CollisionMesh;
  readonly #kernels: KernelSet;
  readonly #options: FilterOptions;
  readonly #reader: Reader;
  #resident: { readonly layout: FilterLayout; readonly buffers: FilterBuffers } | undefined;
  #stamp = 0;
  #isBusy = false;
  #isClosed = false;

  private constructor(device: FilterDevice, mesh: CollisionMesh, kernels: KernelSet, options: FilterOptions) {
    this.#device = device;
    this.#mesh = mesh;
    this.#kernels = kernels;
    this.#options = options;
    this.#reader = new Reader(device.memory);
  }

  /**
   * @param device with an account of memory of its own: close() frees all of it
   * @throws Error when a kernel does not compile
   */
  static async open(
    device: FilterDevice,
    mesh: CollisionMesh,
    options: FilterOptions = {},
  ): Promise<DeviceStateFilter> {
    const kernels = options.kernels ?? (await device.waitFor(KernelSet.load(device.memory.device, 'filter')));
    return new DeviceStateFilter(device, mesh, kernels, options);
  }

  /** bytes on the device */
  get bytes(): number {
    return this.#device.memory.bytes;
  }

  /**
   * @returns undefined for a state out of its range, or with too many doubtful pairs
   * @throws DEVICE_LOST; OUT_OF_DEVICE_MEMORY, TOO_LARGE when the mesh does not fit beside what is on the device. A filter
   * that has thrown is to be closed.
   */
  async findDoubtful(positions: Positions): Promise<DoubtfulPairs | undefined> {
    if (this.#isClosed || this.#isBusy) throw new IntersticeError('INTERNAL', 'the state filter is closed or busy');
    if (this.#mesh.edges.length === 0 || this.#mesh.triangles.length === 0) return NOTHING;
    const prepared = toFilterPositions(positions);
    if (!prepared) return undefined;
    this.#isBusy = true;
    try {
      this.#device.assertUsable();
      const found = await this.#device.waitFor(this.#find(prepared));
      // A device that refused a submission leaves what was there before: nothing of that may count.
      this.#device.assertUsable();
      return found;
    } finally {
      this.#isBusy = false;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reader.close();
    this.#device.memory.freeAll();
  }

  async #find({ values, slack }: FilterPositions): Promise<DoubtfulPairs | undefined> {
    const { firstDoubtful = FIRST_DOUBTFUL, mostDoubtful = MAX_DOUBTFUL } = this.#options;
    this.#resident ??= await this.#withRoom(() => {
      const layout = layOutFilter(this.#mesh, values);
      const buffers = new FilterBuffers(this.#device.memory, this.#kernels, this.#mesh, layout, firstDoubtful);
      return { layout, buffers };
    });
    const { layout, buffers } = this.#resident;
    buffers.upload(values);
    for (let withBoxes = true; ; withBoxes = false) {
      this.#stamp = (this.#stamp % MAX_STAMPS) + 1;
      const { counts, pairs } = await this.#run(buffers, { slack, stamp: this.#stamp, withBoxes });
      if (counts.isCrowded) return undefined;
      if (!counts.isFull) {
        return { pairsTested: counts.tested, pairs: toElements(layout, pairs) };
      }
      // The count may have wrapped; that there was no room has not.
      const demand = Math.max(counts.doubtful, 2 * buffers.capacity);
      if (counts.doubtful <= buffers.capacity || counts.doubtful > mostDoubtful) return undefined;
      await this.#withRoom(() => buffers.reserve(Math.min(demand, mostDoubtful)));
    }
  }

  async #run(buffers: FilterBuffers, request: FilterRequest) {
    const { device } = this.#device.memory;
    const first = Math.min(buffers.capacity, FIRST_DOUBTFUL);
    const encoder = device.createCommandEncoder({ label: 'state filter' });
    buffers.record(encoder, request);
    const reading = this.#reader.record(encoder, [
      { buffer: buffers.counts, bytes: FILTER_COUNTS.bytes },
      { buffer: buffers.doubtful, bytes: PAIR_BYTES * first },
    ]);
    device.queue.submit([encoder.finish()]);
    const [head, list] = await reading.wait();
    const { testedLow, testedHigh, doubtful, isFull, isCrowded, walked, stamp } = FILTER_COUNTS.unpack(head);
    // Work that a device refused or left half done would look like a state without doubts, or like the last one.
    if (stamp !== request.stamp || walked !== this.#mesh.edges.length / 2) {
      throw new IntersticeError(
        'INTERNAL',
        `the device walked ${walked} edges of request ${stamp}, not all of ${request.stamp}`,
      );
    }
    const counts = {
      tested: testedLow + testedHigh * 2 ** 32,
      doubtful,
      isFull: isFull !== 0,
      isCrowded: isCrowded !== 0,
    };
    const wanted = counts.isFull || counts.isCrowded ? 0 : doubtful;
    const pairs = new Uint32Array(2 * wanted);
    pairs.set(new Uint32Array(list).subarray(0, 2 * Math.min(first, wanted)));
    if (wanted > first) pairs.set(await this.#readRest(buffers, first, wanted), 2 * first);
    return { counts, pairs };
  }

  async #readRest(buffers: FilterBuffers, first: number, end: number): Promise<Uint32Array> {
    const { device } = this.#device.memory;
    const encoder = device.createCommandEncoder({ label: 'state filter: the rest' });
    const reader = new Reader(this.#device.memory);
    try {
      const offset = PAIR_BYTES * first;
      const reading = reader.record(encoder, [{ buffer: buffers.doubtful, offset, bytes: PAIR_BYTES * (end - first) }]);
      device.queue.submit([encoder.finish()]);
      const [rest] = await reading.wait();
      return new Uint32Array(rest);
    } finally {
      // Of a size of its own each time: not worth keeping.
      reader.close();
    }
  }

  /** @throws OUT_OF_DEVICE_MEMORY when the device has no room for what `make` makes */
  async #withRoom<T>(make: () => T): Promise<T> {
    const { device } = this.#device.memory;
    device.pushErrorScope('out-of-memory');
    let made: T;
    try {
      made = make();
    } catch (thrown) {
      await device.popErrorScope();
      throw thrown;
    }
    if (await device.popErrorScope()) {
      throw new IntersticeError('OUT_OF_DEVICE_MEMORY', 'the state filter does not fit on the device');
    }
    return made;
  }
}

const NOTHING: DoubtfulPairs = { pairsTested: 0, pairs: new Uint32Array(0) };

/** From slots to elements, in place. */
function toElements({ edgeOrder, triangleOrder }: FilterLayout, pairs: Uint32Array): Uint32Array {
  for (let k = 0; k < pairs.length; k += 2) {
    pairs[k] = edgeOrder[pairs[k]];
    pairs[k + 1] = triangleOrder[pairs[k + 1]];
  }
  return pairs;
}
