import { IntersticeError } from '../../src/contract/errors.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { DoubtfulPairs, StateFilter } from '../../src/verify/state.js';
import { KernelSet } from '../device/kernel.js';
import { sliceOf } from '../device/place.js';
import { Reader } from '../device/readback.js';
import type { SceneDevice } from '../device/scene-device.js';
import { OwnSubmissions, type Submissions } from '../device/submissions.js';
import { FILTER_COUNTS } from '../kernels/structs.js';
import { FilterBuffers, type FilterRequest, PAIR_BYTES } from './filter-buffers.js';
import { type FilterLayout, layOutFilter } from './layout.js';
import { type FilterPositions, toFilterPositions } from './positions.js';

/** Initial capacity of the list, in pairs. */
export const FIRST_DOUBTFUL = 4096;
/**
 * Largest number of pairs that are read together with the counts, which is usually all of them. Scenes that submit
 * together read fewer each.
 */
const FIRST_READ = { alone: FIRST_DOUBTFUL, together: 512 };
/** Beyond this many doubtful pairs (32 MiB of list) most of the exact test's work remains, and the filter gives up. */
export const MAX_DOUBTFUL = 2 ** 22;
/** Stamps start over after this many requests; 0, the content of a cleared buffer, is not a stamp. */
const MAX_STAMPS = 2 ** 31;

/**
 * Number of requests of all filters so far. No two have the same stamp, so the counts of another scene of a convoy are
 * recognised.
 */
let stamps = 0;

/** The part of a device that a filter uses. */
export type FilterDevice = Pick<SceneDevice, 'memory' | 'convoy' | 'assertUsable' | 'waitFor'>;

export interface FilterOptions {
  /** initial capacity of the list, in pairs; tests set less, to make it grow */
  readonly firstDoubtful?: number;
  readonly mostDoubtful?: number;
  /** for tests, which plant faults in them */
  readonly kernels?: KernelSet;
}

/**
 * Clears on the device the pairs that certainly have no common point (gpu/kernels/filter/walk.wgsl). It uses only the
 * mesh and the given state, and shares neither boxes nor pairs with the engine.
 */
export class DeviceStateFilter implements StateFilter {
  readonly #device: FilterDevice;
  readonly #mesh: CollisionMesh;
  readonly #kernels: KernelSet;
  readonly #options: FilterOptions;
  readonly #reader: Reader;
  readonly #submissions: Submissions;
  #resident: { readonly layout: FilterLayout; readonly buffers: FilterBuffers } | undefined;
  #isBusy = false;
  #isClosed = false;

  private constructor(device: FilterDevice, mesh: CollisionMesh, kernels: KernelSet, options: FilterOptions) {
    this.#device = device;
    this.#mesh = mesh;
    this.#kernels = kernels;
    this.#options = options;
    this.#reader = new Reader(device.memory);
    this.#submissions = device.convoy?.seat ?? new OwnSubmissions(device.memory, this.#reader);
  }

  /**
   * @param device has a memory account of its own, all of which close() frees; in a convoy, the arena is its memory
   * @throws Error if a kernel does not compile
   */
  static async open(
    device: FilterDevice,
    mesh: CollisionMesh,
    options: FilterOptions = {},
  ): Promise<DeviceStateFilter> {
    const load = device.convoy ? KernelSet.loadShared : KernelSet.load;
    const kernels = options.kernels ?? (await device.waitFor(load(device.memory.device, 'filter')));
    return new DeviceStateFilter(device, mesh, kernels, options);
  }

  /** bytes on the device */
  get bytes(): number {
    return this.#device.memory.bytes;
  }

  /**
   * @returns undefined for a state outside the filter's range, or with too many doubtful pairs
   * @throws DEVICE_LOST; OUT_OF_DEVICE_MEMORY, TOO_LARGE if the mesh does not fit beside the other data on the device.
   *   A filter that has thrown must be closed.
   */
  async findDoubtful(positions: Positions): Promise<DoubtfulPairs | undefined> {
    if (this.#isClosed || this.#isBusy) throw new IntersticeError('INTERNAL', 'The state filter is closed or busy.');
    if (this.#mesh.edges.length === 0 || this.#mesh.triangles.length === 0) return NOTHING;
    const prepared = toFilterPositions(positions);
    if (!prepared) return undefined;
    this.#isBusy = true;
    try {
      this.#device.assertUsable();
      const { convoy } = this.#device;
      const find = () => this.#find(prepared);
      const found = await this.#device.waitFor(convoy ? convoy.during(find) : find());
      // If the device refused a submission, the results are those of an earlier one and must not be used.
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
    this.#resident ??= await this.#device.memory.checkAllocations('the state filter', () => {
      const layout = layOutFilter(this.#mesh, values);
      const buffers = new FilterBuffers(this.#device.memory, this.#kernels, this.#mesh, layout, firstDoubtful);
      return { layout, buffers };
    });
    const { layout, buffers } = this.#resident;
    buffers.upload(values);
    for (let withBoxes = true; ; withBoxes = false) {
      stamps = (stamps % MAX_STAMPS) + 1;
      const { counts, pairs } = await this.#run(buffers, { slack, stamp: stamps, withBoxes });
      if (counts.isCrowded) return undefined;
      if (!counts.isFull) {
        return { pairsTested: counts.tested, pairs: toElements(layout, pairs) };
      }
      // The count may have wrapped around; the flag for a full list has not.
      const demand = Math.max(counts.doubtful, 2 * buffers.capacity);
      if (counts.doubtful <= buffers.capacity || counts.doubtful > mostDoubtful) return undefined;
      await this.#device.memory.checkAllocations('the state filter', () =>
        buffers.reserve(Math.min(demand, mostDoubtful)),
      );
    }
  }

  async #run(buffers: FilterBuffers, request: FilterRequest) {
    const { convoy } = this.#device;
    const first = Math.min(buffers.capacity, convoy ? FIRST_READ.together : FIRST_READ.alone);
    const recording = this.#submissions.begin();
    buffers.record(recording, request);
    const reading = await this.#submissions.submit(recording, [
      sliceOf(buffers.counts, FILTER_COUNTS.bytes),
      sliceOf(buffers.doubtful, PAIR_BYTES * first),
    ]);
    const [head, list] = await reading.wait();
    const { testedLow, testedHigh, doubtful, isFull, isCrowded, walked, stamp } = FILTER_COUNTS.unpack(head);
    // Work that the device refused or did not finish would look like a state without doubtful pairs, or like the last
    // one.
    if (stamp !== request.stamp || walked !== this.#mesh.edges.length / 2) {
      throw new IntersticeError(
        'INTERNAL',
        `The device walked ${walked} edges of request ${stamp}, not all of request ${request.stamp}.`,
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
    const reader = new Reader(this.#device.memory);
    try {
      const reading = await reader.read([sliceOf(buffers.doubtful, PAIR_BYTES * (end - first), PAIR_BYTES * first)]);
      const [rest] = await reading.wait();
      return new Uint32Array(rest);
    } finally {
      // Its size differs each time, so the staging buffer is not worth keeping.
      reader.close();
    }
  }
}

const NOTHING: DoubtfulPairs = { pairsTested: 0, pairs: new Uint32Array(0) };

/** Converts slots to elements, in place. */
function toElements({ edgeOrder, triangleOrder }: FilterLayout, pairs: Uint32Array): Uint32Array {
  for (let k = 0; k < pairs.length; k += 2) {
    pairs[k] = edgeOrder[pairs[k]];
    pairs[k + 1] = triangleOrder[pairs[k + 1]];
  }
  return pairs;
}
