import { IntersticeError } from '../../src/contract/errors.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { Settings } from '../../src/solver/settings.js';
import type { StepInput } from '../../src/solver/types.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Reader } from '../device/readback.js';
import { SEARCH_MODE, STATE } from '../kernels/constants.js';
import type { ControlBlock } from '../step/answer.js';
import { LARGEST_CANDIDATE_BYTES, type SceneBuffers } from '../step/scene-buffers.js';
import { DeviceProximity } from './device-proximity.js';
import { HostSearch } from './host-search.js';

/** Room beyond the demand, so that the next step need not ask again. */
const SPARE_CANDIDATES = 1.25;

/** Where P is searched: on the device, or by the reference engine's search on the host, for which a run pauses. */
export type SearchPlace = 'DEVICE' | 'HOST';

/** Who searches P for a scene, and what a run does when it has paused for a search or for more room. */
export class SceneSearch {
  /** undefined before the first request, and where the host searches */
  onDevice: DeviceProximity | undefined;
  /** a buffer could not be made: the scene cannot be used any more */
  isBroken = false;

  readonly #memory: DeviceMemory;
  readonly #mesh: CollisionMesh;
  readonly #buffers: SceneBuffers;
  readonly #reader: Reader;
  readonly #place: SearchPlace;
  #onHost: HostSearch | undefined;

  constructor(memory: DeviceMemory, mesh: CollisionMesh, buffers: SceneBuffers, reader: Reader, place: SearchPlace) {
    this.#memory = memory;
    this.#mesh = mesh;
    this.#buffers = buffers;
    this.#reader = reader;
    this.#place = place;
  }

  /**
   * Gets ready for a request.
   *
   * @returns false = P on the device must not be used
   * @throws OUT_OF_DEVICE_MEMORY
   */
  async beginRequest(settings: Settings, { x, excluded }: StepInput): Promise<boolean> {
    if (this.#place === 'HOST') {
      this.#onHost ??= new HostSearch(this.#mesh, settings);
      return this.#onHost.beginRequest(excluded);
    }
    this.onDevice ??= await DeviceProximity.open(this.#memory, this.#mesh, settings, x, this.#buffers);
    const search = this.onDevice;
    search.beginRequest();
    if (search.leavesOut(excluded)) return true;
    await this.withRoom('pairs that are excluded', () => search.leaveOut(excluded));
    return false;
  }

  /** Other lengths and rules: P is void. */
  configure(settings: Settings): void {
    this.#onHost = undefined;
    this.onDevice?.configure(settings);
  }

  /**
   * The run has paused for want of room: P is void.
   *
   * @returns the control block to go on with
   * @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY
   */
  async makeRoom(control: ControlBlock): Promise<ControlBlock> {
    const { pairDemand, wantsSearch } = control;
    let hasRoom = false;
    await this.withRoom(`${pairDemand} pairs`, () => {
      hasRoom = this.onDevice?.makeRoom(pairDemand) ?? false;
    });
    // Old pairs are gone with their buffers: only a search that wanted none of them can go on where it stopped.
    const next = hasRoom && wantsSearch === SEARCH_MODE.ALL ? SEARCH_MODE.RESUME : SEARCH_MODE.ALL;
    return { ...control, state: STATE.RUNNING, wantsSearch: next };
  }

  /**
   * The run has paused in a step that found more candidates than there is room for: P is as it was.
   *
   * @returns the control block to go on with, in the same step
   * @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY
   */
  async makeRoomForCandidates(control: ControlBlock): Promise<ControlBlock> {
    const { candidateDemand } = control;
    const buffers = this.#buffers;
    const limit = Math.floor(this.#memory.largestBinding / LARGEST_CANDIDATE_BYTES);
    if (candidateDemand > limit) {
      throw new IntersticeError(
        'TOO_LARGE',
        `a step has ${candidateDemand} pairs closer than the activation distance, more than the ${limit} that this device holds`,
        { hint: 'Use a smaller activation distance, or send fewer elements that lie on top of each other.' },
      );
    }
    const capacity = Math.min(Math.ceil(SPARE_CANDIDATES * candidateDemand), limit);
    // Asked for before the old buffers go: a refusal half way would leave the scene without any.
    const more = buffers.bytesToGrow(buffers.pairCapacity, capacity);
    this.#memory.ledger.admit(more, `room for ${capacity} candidates`);
    await this.withRoom(`${capacity} candidates`, () => {
      buffers.reserveCandidates(capacity);
      this.onDevice?.rebindShared();
    });
    return { ...control, state: STATE.RUNNING };
  }

  /**
   * The run has paused for a search: runs it at the x on the device towards its y.
   *
   * @returns the control block to go on with
   * @throws TOO_LARGE, and P is void
   */
  async searchOnHost(control: ControlBlock, { searchRadiusMax }: Settings): Promise<ControlBlock> {
    const isPart = control.wantsSearch === SEARCH_MODE.PART;
    const pairCount = await this.#onHost?.searchAt(this.#memory.device, this.#buffers, this.#reader, isPart);
    return {
      ...control,
      state: STATE.RUNNING,
      wantsSearch: SEARCH_MODE.NONE,
      pairCount: pairCount ?? 0,
      searches: control.searches + 1,
      radius: searchRadiusMax,
    };
  }

  /** @throws OUT_OF_DEVICE_MEMORY when the device has no room for the buffers that `make` makes; the scene is done for */
  async withRoom(what: string, make: () => void): Promise<void> {
    const { device } = this.#memory;
    device.pushErrorScope('out-of-memory');
    try {
      make();
    } finally {
      const error = await device.popErrorScope();
      if (error) this.isBroken = true;
    }
    if (!this.isBroken) return;
    throw new IntersticeError('OUT_OF_DEVICE_MEMORY', `${what} do not fit on the device beside what is there`);
  }

  close(): void {
    this.onDevice?.close();
  }
}
