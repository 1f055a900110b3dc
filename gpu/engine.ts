import { IntersticeError } from '../src/contract/errors.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import { sumOfCounts } from '../src/solver/convoy-counts.js';
import type { ConvoyCounts, Engine, JobsTogether, Scene } from '../src/solver/engine.js';
import { here } from '../src/threads/here.js';
import type { StateFilter } from '../src/verify/state.js';
import type { ConvoySettings } from './convoy/convoy.js';
import { type AdapterOptions, type OpenedAdapter, openAdapter } from './device/adapter.js';
import { LiveDevice } from './device/live-device.js';
import { DeviceMemory, MemoryBudget, type MemoryWatch } from './device/memory.js';
import type { SceneDevice } from './device/scene-device.js';
import { DeviceStateFilter } from './filter/state-filter.js';
import { proveCommit } from './proof/commit-proof.js';
import { loadProvenKernels } from './proof/filter-proof.js';
import { proveHeights } from './proof/heights-proof.js';
import { findListObjection } from './proof/lists-proof.js';
import { GpuScene, type SearchPlace } from './scene.js';

export interface GpuEngine extends Engine {
  /** device memory in use by all scenes and devices of this engine */
  readonly memoryBudget: MemoryBudget;
  /**
   * Opens the verifier's filter on the device in use. Each filter has a memory account of its own, freed when it
   * closes.
   *
   * @throws DEVICE_LOST; Error if the adapter does not round as the filter requires
   */
  openStateFilter(mesh: CollisionMesh): Promise<StateFilter>;
}

export interface GpuEngineOptions extends AdapterOptions {
  /**
   * HOST is for finding faults: the run pauses for every search, which the reference engine carries out. Default
   * DEVICE.
   */
  readonly search?: SearchPlace;
  /** bytes that all scenes together may hold on the device; a scene that exceeds them is refused. Default: no limit. */
  readonly maxDeviceBytes?: number | undefined;
  /** bytes that the pairs of one request may take; absent or 0 = as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
  /** initial capacity of a scene in pairs. Default: by the number of vertices; tests set less, to make it grow. */
  readonly firstPairs?: number;
  /**
   * initial capacity of a scene in candidates of a step. Default: as many as fit into the memory of its pairs; for
   * tests.
   */
  readonly firstCandidates?: number;
  /**
   * whether to take the time of each stage on the device, if it has time stamps, with one pass per stage of a step.
   * Otherwise the whole device time of a request counts as `forward`. Default false.
   */
  readonly timings?: boolean;
  /**
   * whether scenes submit steps before it is known that they are needed (SceneDevice); default: on hardware. For tests.
   */
  readonly runsAhead?: boolean;
  /** limit on the bytes of one binding, if the device allows more: for tests */
  readonly largestBinding?: number;
  /** limit on the storage buffers that a kernel binds, if the device allows more: for tests */
  readonly storageBuffers?: number;
  /** small scenes whose requests run at the same time submit together; absent = every scene submits alone */
  readonly convoy?: ConvoySettings | undefined;
  /** observes every buffer of a scene: for tests */
  readonly watch?: MemoryWatch;
  /** replaces openAdapter: for tests */
  readonly open?: typeof openAdapter;
}

export type GpuEngineOpening =
  | { readonly engine: GpuEngine; readonly reason?: undefined }
  /** The reason is a clause, for use within a sentence. */
  | { readonly engine?: undefined; readonly reason: string };

/**
 * Opens an adapter, compiles every kernel and lets the adapter prove its arithmetic before the first request. If no
 * adapter is suitable, it does not throw: the result gives the reason.
 */
export async function createGpuEngine(options: GpuEngineOptions): Promise<GpuEngineOpening> {
  const { opened, reason } = await (options.open ?? openAdapter)(options);
  if (!opened) return { reason };
  try {
    const ledger = new MemoryBudget(options.maxDeviceBytes, here.device);
    const first = await openProven(opened, ledger, options);
    return { engine: new WebGpuEngine(opened, ledger, first, options) };
  } catch (thrown) {
    await opened.close();
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const predicate = thrown instanceof Unproven ? message : `cannot run the kernels: ${message}`;
    return { reason: `the adapter ${opened.description.adapter} ${predicate}` };
  }
}

/** Thrown if the adapter fails a proof; the message is a predicate of it. */
class Unproven extends Error {
  constructor(
    message: string,
    /** the device had subgroups */
    readonly hasSubgroups: boolean,
  ) {
    super(message);
  }
}

/**
 * Opens a device and lets it prove its arithmetic. A device that fails with subgroups is opened without them: the
 * kernels that use them have a second version with the same answers. Every device repeats the proof, because the driver
 * may have been replaced in the meantime, or the card may have been damaged.
 *
 * @throws Unproven, and like LiveDevice.open; the device is destroyed
 */
async function openProven(opened: OpenedAdapter, ledger: MemoryBudget, options: GpuEngineOptions): Promise<LiveDevice> {
  try {
    return await openAndProve(opened, ledger, options);
  } catch (thrown) {
    if (!(thrown instanceof Unproven && thrown.hasSubgroups)) throw thrown;
    const { description, requestDevice } = opened;
    process.emitWarning(
      `The adapter ${description.adapter} is used without subgroups: with them it ${thrown.message}`,
      {
        code: 'INTERSTICE_SUBGROUPS',
      },
    );
    const without = { ...opened, requestDevice: () => requestDevice(WITHOUT_SUBGROUPS) };
    return openAndProve(without, ledger, options);
  }
}

const WITHOUT_SUBGROUPS = { subgroups: false } as const;

async function openAndProve(
  opened: OpenedAdapter,
  ledger: MemoryBudget,
  options: GpuEngineOptions,
): Promise<LiveDevice> {
  const device = await LiveDevice.open(opened, ledger, options);
  const hasSubgroups = device.memory.device.features.has('subgroups');
  try {
    const objection = await device.waitFor(findObjection(device));
    if (objection !== undefined)
      throw new Unproven(`does not compute as certified gaps require: ${objection}`, hasSubgroups);
    // Hardware uses the state filter, so it is compiled now; if it fails its proof, the request for it reports that.
    if (!opened.description.software) await loadProvenKernels(device.memory.device).catch(() => undefined);
    return device;
  } catch (thrown) {
    device.memory.device.destroy();
    await device.settle();
    device.close();
    throw thrown;
  }
}

/** Returns the proof that the adapter fails; undefined = the adapter can be used. */
async function findObjection({ memory, kernels }: LiveDevice): Promise<string | undefined> {
  const gaps = await proveHeights(memory.device);
  if (!gaps.ok) return gaps.reason;
  // A megabyte for a few milliseconds, so it is not counted in any account.
  const lists = await findListObjection(new DeviceMemory(memory.device, new MemoryBudget()), kernels);
  if (lists !== undefined) return lists;
  const commit = await proveCommit(memory.device, kernels);
  return commit.ok ? undefined : commit.reason;
}

class WebGpuEngine implements GpuEngine {
  readonly isCostlyToOpen = true;
  readonly description: Engine['description'];
  readonly hasPartOffsets = true;
  readonly maxPairBytes: number | undefined;
  readonly memoryBudget: MemoryBudget;
  readonly #opened: OpenedAdapter;
  readonly #options: GpuEngineOptions;
  /** devices whose work may still be pending */
  readonly #devices = new Set<LiveDevice>();
  #current: LiveDevice;
  /** counts of devices that were abandoned */
  #pastConvoys: ConvoyCounts | undefined;
  #reopening: Promise<LiveDevice> | undefined;
  #closing: Promise<void> | undefined;
  /** whether the loss of the current device has been told */
  #isLossTold = false;
  #tellLoss: (reason: string) => void = () => {};

  constructor(opened: OpenedAdapter, ledger: MemoryBudget, first: LiveDevice, options: GpuEngineOptions) {
    this.#opened = opened;
    this.#options = options;
    this.maxPairBytes = options.maxPairBytes;
    this.description = opened.description;
    this.memoryBudget = ledger;
    this.#current = this.#adopt(first);
  }

  /**
   * @throws DEVICE_LOST if the device is lost and cannot be opened again, or is lost while the scene is being opened
   * @throws OUT_OF_DEVICE_MEMORY if the mesh does not fit beside the other data on the device; TOO_LARGE if one of its
   *   buffers is larger than the device can bind. Neither affects the open scenes.
   */
  async open(...request: Parameters<Engine['open']>): Promise<Scene> {
    const device = await this.#usableDevice();
    const { search = 'DEVICE' } = this.#options;
    const [mesh, , , , alone = false] = request;
    if (alone) device.noteAlone('memory');
    const place = await device.forMesh(mesh, search === 'DEVICE' && !alone);
    try {
      return await this.#openIn(device, place, request);
    } catch (thrown) {
      const isShort = thrown instanceof IntersticeError && thrown.code === 'OUT_OF_DEVICE_MEMORY';
      if (!isShort || !place.convoy) throw thrown;
      device.noteAlone('memory');
      // The scene's own buffers are only as large as necessary; shared buffers have a minimum size.
      return this.#openIn(device, await device.forMesh(mesh, false), request);
    }
  }

  async #openIn(
    device: LiveDevice,
    place: SceneDevice,
    [mesh, parameters, units, saved]: Parameters<Engine['open']>,
  ): Promise<Scene> {
    const { search = 'DEVICE' } = this.#options;
    const known = search === 'DEVICE' ? saved?.device : undefined;
    const firstPairs = known?.pairCapacity ?? this.#options.firstPairs;
    try {
      const create = () => new GpuScene(place, mesh, { parameters, units }, search, { ...this.#options, firstPairs });
      const scene = await device.waitFor(place.memory.checkAllocations('the scene', create));
      if (known) await device.waitFor(scene.restore(saved!.step, known));
      device.assertUsable();
      return scene;
    } catch (thrown) {
      place.memory.freeAll();
      throw thrown;
    }
  }

  async openStateFilter(mesh: CollisionMesh): Promise<StateFilter> {
    const device = await this.#usableDevice();
    const place = await device.forFilter(mesh);
    return DeviceStateFilter.open(place, mesh, { kernels: place.kernels });
  }

  get together(): JobsTogether | undefined {
    return this.#current.together;
  }

  get convoyCounts(): ConvoyCounts | undefined {
    const all = [this.#pastConvoys, this.#current.convoyCounts].flatMap((counts) => counts ?? []);
    return all.length > 0 ? sumOfCounts(all) : undefined;
  }

  get sharedBytes(): number {
    return this.#current.sharedBytes;
  }

  watchLosses(listener: (reason: string) => void): void {
    this.#tellLoss = listener;
  }

  /** Resolves once no work of the engine is pending on any device; running requests fail with DEVICE_LOST. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const reopening = this.#reopening?.catch(() => undefined);
    await this.#opened.close();
    await reopening;
    await Promise.all([...this.#devices].map((device) => device.settle()));
  }

  /** Returns the device in use, or a new one if that has become unusable. */
  async #usableDevice(): Promise<LiveDevice> {
    if (this.#closing) throw new IntersticeError('INTERNAL', 'The engine was closed.');
    if (this.#current.isUsable) return this.#current;
    // Concurrent callers share one attempt; after a failure the next caller tries again.
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #reopen(): Promise<LiveDevice> {
    // The device is already lost, or cannot be trusted: destroying it fails all work that is pending on it.
    this.#current.memory.device.destroy();
    if (!this.#isLossTold) this.#tellLoss(this.#current.fault?.message ?? 'The device was lost.');
    this.#isLossTold = true;
    try {
      const next = this.#adopt(await openProven(this.#opened, this.memoryBudget, this.#options));
      this.#pastConvoys = this.convoyCounts;
      this.#current = next;
      this.#isLossTold = false;
      return this.#current;
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      const reason = thrown instanceof Unproven ? `the adapter ${message}` : message;
      const refusal = new IntersticeError('DEVICE_LOST', `The device was lost and cannot be opened again: ${reason}`, {
        cause: thrown,
      });
      if (!this.#closing) this.#tellLoss(refusal.message);
      throw refusal;
    }
  }

  #adopt(device: LiveDevice): LiveDevice {
    this.#devices.add(device);
    void device.settle().then(() => {
      this.#devices.delete(device);
      // The next device shares this budget.
      device.close();
    });
    return device;
  }
}
