import { IntersticeError } from '../../src/contract/errors.js';
import type { ExcludedPairs } from '../../src/mesh/excluded-pairs.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { comfortablePairs, MIN_REACH_SHARE, PAIR_LIMIT, shorterLeap } from '../../src/solver/pair-budget.js';
import type { Settings } from '../../src/solver/settings.js';
import type { DeviceMemory } from '../device/memory.js';
import { SEARCH_MODE } from '../kernels/constants.js';
import { CONTROL } from '../kernels/structs.js';
import { LARGEST_PAIR_BYTES, type SceneBuffers } from '../step/scene-buffers.js';
import { DeviceSearch } from './device-search.js';

/**
 * Room beyond the demand, so that the next search need not ask again: a quarter of it, as long as that is little memory,
 * and a thirty-second where pairs are most of a scene's memory. A partial search that has to ask begins anew with everything.
 */
const spareRoom = (demand: number): number => Math.ceil(Math.max(demand / 32, Math.min(demand / 4, 8_192)));

/** Bytes that one more pair takes in the search's own buffers: its offset, and a share of the sums over them. */
const SEARCH_BYTES_A_PAIR = 5;

/**
 * The device's own search with the policy around it: how long a leap may be, how much room P gets. Mirrors
 * Proximity.#searchAll (src/solver/cpu/proximity.ts): boxes shrink until P fits its budget, and with the smallest boxes
 * it gets whatever it needs up to the limit.
 */
export class DeviceProximity {
  readonly #memory: DeviceMemory;
  readonly #search: DeviceSearch;
  readonly #buffers: SceneBuffers;
  #settings: Settings;
  readonly #comfortable: number;
  readonly #limit: number;
  #leap: number;
  #reach: number;

  private constructor(
    search: DeviceSearch,
    memory: DeviceMemory,
    mesh: CollisionMesh,
    settings: Settings,
    buffers: SceneBuffers,
  ) {
    this.#memory = memory;
    this.#search = search;
    this.#buffers = buffers;
    this.#settings = settings;
    this.#limit = Math.min(PAIR_LIMIT, Math.floor(memory.largestBinding / LARGEST_PAIR_BYTES));
    this.#comfortable = comfortablePairs(mesh.contactVertices.length, this.#limit);
    this.#leap = settings.leap;
    this.#reach = settings.reach;
  }

  /** @param x float32[3·V] the first request's start: it fixes the order of the trees */
  static async open(
    memory: DeviceMemory,
    mesh: CollisionMesh,
    settings: Settings,
    x: Float32Array,
    buffers: SceneBuffers,
  ): Promise<DeviceProximity> {
    const search = await DeviceSearch.open(memory, mesh, settings, x, buffers, {
      buffer: buffers.control,
      state: CONTROL.word('state'),
      wantsSearch: CONTROL.word('wantsSearch'),
      pairDemand: CONTROL.word('pairDemand'),
    });
    return new DeviceProximity(search, memory, mesh, settings, buffers);
  }

  /** A new request: leaps that were cut for its predecessor are tried again at full length. */
  beginRequest(): void {
    if (this.#leap === this.#settings.leap && this.#reach === this.#settings.reach) return;
    this.#leap = this.#settings.leap;
    this.#reach = this.#settings.reach;
    this.#search.ask(SEARCH_MODE.NONE, { leap: this.#leap, reach: this.#reach });
  }

  /** Searches without these pairs from now on; P is void. @throws OUT_OF_DEVICE_MEMORY */
  leaveOut(excluded: ExcludedPairs | undefined): void {
    this.#search.leaveOut(excluded);
  }

  /** Are these, and no others, the pairs that are excluded? */
  leavesOut(excluded: ExcludedPairs | undefined): boolean {
    return this.#search.leavesOut(excluded);
  }

  /** Other lengths and rules from the next search on; P is void. */
  configure(settings: Settings): void {
    this.#settings = settings;
    this.#leap = settings.leap;
    this.#reach = settings.reach;
    this.#search.configure(settings);
  }

  record(pass: GPUComputePassEncoder): void {
    this.#search.record(pass);
  }

  /** To be called when the buffers that steps share with a search were replaced, and P was not. */
  rebindShared(): void {
    this.#search.rebindShared();
  }

  /** Dispatches that record() records. */
  get dispatches(): number {
    return this.#search.dispatches;
  }

  /**
   * A search found more pairs than there is room for, and wrote none: more room, or smaller boxes, for the next attempt.
   *
   * @returns true = there is room now, and a search of everything can be resumed instead of begun anew
   * @throws TOO_LARGE when P does not fit even with the smallest boxes; OUT_OF_DEVICE_MEMORY, with the buffers as they
   * were, when others take the room that it needs
   */
  makeRoom(demand: number): boolean {
    if (demand <= this.#comfortable || (this.#isSmallest && demand <= this.#limit)) {
      const capacity = Math.min(demand + spareRoom(demand), this.#limit);
      // Asked for in one sum before the old buffers go: a refusal half way would leave the scene without any.
      const { pairCapacity, candidateCapacity } = this.#buffers;
      const offsets = SEARCH_BYTES_A_PAIR * (capacity - pairCapacity) + this.#search.carriedBytes;
      const more = this.#buffers.bytesToGrow(capacity, candidateCapacity) + offsets;
      this.#memory.ledger.admit(more, `room for ${capacity} pairs`);
      this.#buffers.reservePairs(capacity);
      this.#search.rebind();
      return true;
    }
    if (this.#isSmallest) {
      throw new IntersticeError(
        'TOO_LARGE',
        `the proximity set needs ${demand} pairs, more than the ${this.#limit} that this device holds`,
        { hint: 'Use a smaller activation distance, or send fewer elements that lie on top of each other.' },
      );
    }
    const { delta } = this.#settings;
    if (this.#leap > 0) this.#leap = shorterLeap(this.#leap, delta);
    else this.#reach /= 2;
    this.#search.ask(SEARCH_MODE.NONE, { leap: this.#leap, reach: this.#reach });
    return false;
  }

  get #isSmallest(): boolean {
    const { guard, delta } = this.#settings;
    return guard === 'RADIUS' || (this.#leap === 0 && this.#reach <= MIN_REACH_SHARE * delta);
  }

  close(): void {
    this.#search.destroy();
  }
}
