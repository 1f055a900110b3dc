import { IntersticeError } from '../../src/contract/errors.js';
import { ExcludedPairs } from '../../src/mesh/excluded-pairs.js';
import type { LeftOutPairs } from '../../src/mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { StepInput } from '../../src/solver/engine.js';
import { comfortablePairs, MIN_REACH_SHARE, shorterLeap, tooManyPairs } from '../../src/solver/pair-budget.js';
import type { SavedDeviceScene } from '../../src/solver/saved-scene.js';
import type { Settings } from '../../src/solver/settings.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Reader } from '../device/readback.js';
import type { SceneDevice } from '../device/scene-device.js';
import { SEARCH_MODE, STATE } from '../kernels/constants.js';
import { CONTROL } from '../kernels/structs.js';
import type { ControlBlock } from '../step/answer.js';
import { LARGEST_CANDIDATE_BYTES, LARGEST_PAIR_BYTES, type SceneBuffers } from '../step/scene-buffers.js';
import { DeviceSearch } from './device-search.js';
import { HostSearch } from './host-search.js';

/**
 * Pairs beyond the demand, so that the next search need not pause again: a quarter of the demand while that is little
 * memory, and a thirty-second if pairs take most of a scene's memory. A partial search that pauses starts over with
 * all.
 */
const spareRoom = (demand: number): number => Math.ceil(Math.max(demand / 32, Math.min(demand / 4, 8_192)));

/** Bytes that one more pair takes in the search's own buffers, at most: its share of two words, and of the sums over one. */
const SEARCH_BYTES_PER_PAIR = 1;

/** Candidates beyond the demand, so that the next step need not pause again. */
const SPARE_CANDIDATES = 1.25;

const TOO_LARGE_HINT = 'Use a smaller activation distance, or send fewer elements that lie on top of each other.';

/** Where P is searched: on the device, or by the reference engine's search on the host, for which a run pauses. */
export type SearchPlace = 'DEVICE' | 'HOST';

/**
 * The host's policy for the search of one scene: the length of a leap, the room for P and the candidates of a step, and
 * the reaction when a run pauses for a search or for room. Mirrors Proximity.#searchAll (src/solver/cpu/proximity.ts):
 * trust boxes shrink until P fits its comfortable size; with the smallest boxes P gets the room that it needs, up to
 * the limit.
 */
export class SceneSearch {
  readonly #memory: DeviceMemory;
  /** of a convoy; undefined = kernels for scenes alone */
  readonly #kernels: KernelSet | undefined;
  readonly #mesh: CollisionMesh;
  readonly #buffers: SceneBuffers;
  readonly #reader: Reader;
  readonly #place: SearchPlace;
  /** pairs that a request may have, on any device; those that P may have on this one */
  readonly #pairLimit: number;
  readonly #limit: number;
  /** pairs that P may have while boxes can still shrink */
  readonly #comfortable: number;
  #settings: Settings;
  /** engine units; shorter than in the settings while the boxes are shrunk */
  #leap: number;
  #reach: number;
  #device: DeviceSearch | undefined;
  #host: HostSearch | undefined;
  /** float32[3·V] the first request's start, which has fixed the order of the trees; undefined before it */
  #orderedAt: Float32Array | undefined;

  constructor(
    { memory, convoy, kernels }: Pick<SceneDevice, 'memory' | 'convoy' | 'kernels'>,
    mesh: CollisionMesh,
    settings: Settings,
    buffers: SceneBuffers,
    reader: Reader,
    place: SearchPlace,
    pairLimit: number,
  ) {
    this.#memory = memory;
    this.#kernels = convoy ? kernels : undefined;
    this.#pairLimit = pairLimit;
    this.#mesh = mesh;
    this.#buffers = buffers;
    this.#reader = reader;
    this.#place = place;
    this.#limit = Math.min(pairLimit, Math.floor(memory.largestBinding / LARGEST_PAIR_BYTES));
    this.#comfortable = comfortablePairs(mesh.contactVertices.length, this.#limit);
    this.#settings = settings;
    this.#leap = settings.leap;
    this.#reach = settings.reach;
  }

  /** The search that steps record; undefined before the first request, and if the host searches. */
  get device(): DeviceSearch | undefined {
    return this.#device;
  }

  /** float32[3·V] engine units; undefined before the first request, and if the host searches */
  get orderedAt(): Float32Array | undefined {
    return this.#orderedAt;
  }

  /**
   * Opens the search of a saved scene, before the first request.
   *
   * @param pairCount pairs of P in the buffers; undefined = P is invalid
   */
  async restore(
    { orderedAt, excluded }: Pick<SavedDeviceScene, 'orderedAt' | 'excluded'>,
    pairCount: number | undefined,
  ): Promise<void> {
    const search = await this.#openDeviceSearch(orderedAt);
    this.#device = search;
    await this.#exclude(search, excluded && new ExcludedPairs(excluded));
    if (pairCount !== undefined) search.adopt(pairCount);
  }

  /**
   * Prepares the search for a request. Leaps that were shortened for an earlier request get their full length again.
   *
   * @returns false = P on the device must not be used
   * @throws OUT_OF_DEVICE_MEMORY
   */
  async beginRequest({ x, excluded }: StepInput): Promise<boolean> {
    if (this.#place === 'HOST') {
      this.#host ??= new HostSearch(this.#mesh, this.#settings, this.#pairLimit);
      return this.#host.beginRequest(excluded);
    }
    this.#device ??= await this.#openDeviceSearch(x);
    const { leap, reach } = this.#settings;
    if (this.#leap !== leap || this.#reach !== reach) this.#useLengths(leap, reach);
    return await this.#exclude(this.#device, excluded);
  }

  /** Sets other lengths and rules, which makes P invalid. */
  configure(settings: Settings): void {
    this.#settings = settings;
    this.#leap = settings.leap;
    this.#reach = settings.reach;
    this.#host = undefined;
    this.#device?.configure(settings);
  }

  /**
   * Continues a run that paused because a search found more pairs than there is room for, and wrote none, so P is
   * invalid. The next attempt gets more room, or smaller boxes.
   *
   * @returns the control block with which to continue
   * @throws TOO_LARGE if P does not fit even with the smallest boxes; OUT_OF_DEVICE_MEMORY
   */
  async growPairs(control: ControlBlock): Promise<ControlBlock> {
    const { pairDemand, wantsSearch } = control;
    const hasRoom = pairDemand <= this.#comfortable || (this.#isSmallest && pairDemand <= this.#limit);
    if (hasRoom) await this.#reservePairs(pairDemand);
    else this.#shrinkBoxes(pairDemand);
    // The old pairs are gone with their buffers, so only a search that needed none of them can resume.
    const next = hasRoom && wantsSearch === SEARCH_MODE.ALL ? SEARCH_MODE.RESUME : SEARCH_MODE.ALL;
    return { ...control, state: STATE.RUNNING, wantsSearch: next };
  }

  /**
   * Continues a run that paused in a step which found more candidates than there is room for; P remains valid.
   *
   * @returns the control block with which to continue, in the same step
   * @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY
   */
  async growCandidates(control: ControlBlock): Promise<ControlBlock> {
    const { candidateDemand } = control;
    const buffers = this.#buffers;
    const limit = Math.floor(this.#memory.largestBinding / LARGEST_CANDIDATE_BYTES);
    if (candidateDemand > limit) {
      throw new IntersticeError(
        'TOO_LARGE',
        `A step has ${candidateDemand} pairs closer than the activation distance, more than the ${limit} that this device holds.`,
        { hint: TOO_LARGE_HINT },
      );
    }
    const capacity = Math.min(Math.ceil(SPARE_CANDIDATES * candidateDemand), limit);
    // Checked before the old buffers are freed: a refusal halfway through would leave the scene without any.
    const more = buffers.bytesToGrow(buffers.pairCapacity, capacity);
    this.#memory.assertFits(more, buffers.bytesThatGrow, `room for ${capacity} candidates`);
    await this.#memory.checkAllocations(`${capacity} candidates`, () => {
      buffers.reserveCandidates(capacity);
      this.#device?.rebindShared();
    });
    return { ...control, state: STATE.RUNNING };
  }

  /**
   * Continues a run that paused for a search on the host: searches at the x on the device towards its y.
   *
   * @returns the control block with which to continue
   * @throws TOO_LARGE, and P is invalid
   */
  async searchOnHost(control: ControlBlock): Promise<ControlBlock> {
    const isPart = control.wantsSearch === SEARCH_MODE.PART;
    const pairCount = await this.#host?.searchAt(this.#memory.device, this.#buffers, this.#reader, isPart);
    return {
      ...control,
      state: STATE.RUNNING,
      wantsSearch: SEARCH_MODE.NONE,
      pairCount: pairCount ?? 0,
      searches: control.searches + 1,
      keptAt: 0,
      radius: this.#settings.searchRadiusMax,
    };
  }

  close(): void {
    this.#device?.destroy();
  }

  /** @param x float32[3·V] the first request's start, which fixes the order of the trees */
  #openDeviceSearch(x: Float32Array): Promise<DeviceSearch> {
    this.#orderedAt = x.slice();
    const status = {
      place: this.#buffers.control,
      state: CONTROL.word('state'),
      wantsSearch: CONTROL.word('wantsSearch'),
      pairDemand: CONTROL.word('pairDemand'),
    };
    return DeviceSearch.open(this.#memory, this.#mesh, this.#settings, x, this.#buffers, status, this.#kernels);
  }

  /** @returns false = other pairs were excluded before, and P is invalid */
  async #exclude(search: DeviceSearch, excluded: LeftOutPairs | undefined): Promise<boolean> {
    if (search.excludes(excluded)) return true;
    await this.#memory.checkAllocations('excluded pairs', () => search.exclude(excluded));
    return false;
  }

  async #reservePairs(demand: number): Promise<void> {
    const capacity = Math.min(demand + spareRoom(demand), this.#limit);
    const buffers = this.#buffers;
    const search = this.#device;
    // Checked in one sum before the old buffers are freed: a refusal halfway through would leave the scene without any.
    const offsets = SEARCH_BYTES_PER_PAIR * (capacity - buffers.pairCapacity) + (search?.carriedBytes ?? 0);
    const more = buffers.bytesToGrow(capacity, buffers.candidateCapacity) + offsets;
    this.#memory.assertFits(more, buffers.bytesThatGrow, `room for ${capacity} pairs`);
    await this.#memory.checkAllocations(`${capacity} pairs`, () => {
      buffers.reservePairs(capacity);
      search?.rebind();
    });
    search?.carry();
  }

  /** @throws TOO_LARGE if the boxes are already the smallest */
  #shrinkBoxes(demand: number): void {
    if (this.#isSmallest) {
      if (this.#limit === this.#pairLimit) throw tooManyPairs(demand, this.#limit);
      throw new IntersticeError(
        'TOO_LARGE',
        `The proximity set needs ${demand} pairs, more than the ${this.#limit} that this device holds.`,
        { hint: TOO_LARGE_HINT },
      );
    }
    const { delta } = this.#settings;
    if (this.#leap > 0) this.#useLengths(shorterLeap(this.#leap, delta), this.#reach);
    else this.#useLengths(this.#leap, this.#reach / 2);
  }

  #useLengths(leap: number, reach: number): void {
    this.#leap = leap;
    this.#reach = reach;
    this.#device?.request(SEARCH_MODE.NONE, { leap, reach });
  }

  get #isSmallest(): boolean {
    const { guard, delta } = this.#settings;
    return guard === 'RADIUS' || (this.#leap === 0 && this.#reach <= MIN_REACH_SHARE * delta);
  }
}
