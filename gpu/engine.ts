import { IntersticeError } from '../src/contract/errors.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import { toSettings } from '../src/solver/settings.js';
import type { Engine, Scene } from '../src/solver/types.js';
import type { StateFilter } from '../src/verify/filter.js';
import { proveCommit } from './commit-proof.js';
import { type AdapterOptions, type OpenedAdapter, openAdapter } from './device/adapter.js';
import { LiveDevice } from './device/live-device.js';
import { DeviceLedger, type MemoryWatch } from './device/memory.js';
import { loadProvenKernels } from './filter/proof.js';
import { DeviceStateFilter } from './filter/state-filter.js';
import { GpuScene, type SearchPlace } from './scene.js';
import { proveAdapter } from './self-proof.js';

export interface GpuEngine extends Engine {
  /** bytes of device memory in use, all scenes and devices of this engine together */
  readonly ledger: DeviceLedger;
  /**
   * The verifier's filter on the device in use. Each has an account of memory of its own, freed when it is closed.
   *
   * @throws DEVICE_LOST; Error when the adapter does not round as the filter needs it
   */
  openStateFilter(mesh: CollisionMesh): Promise<StateFilter>;
}

export interface GpuEngineOptions extends AdapterOptions {
  /** HOST is for finding faults: the reference engine's search, with a pause for each. Default DEVICE. */
  readonly search?: SearchPlace;
  /** bytes that all scenes together may hold on the device; a scene beyond them is refused. Default: no limit. */
  readonly maxDeviceBytes?: number | undefined;
  /** pairs that a scene has room for at first. Default FIRST_PAIRS; tests take fewer, to see it grow. */
  readonly firstPairs?: number;
  /** candidates of a step that a scene has room for at first. Default what its pairs leave room for; for tests. */
  readonly firstCandidates?: number;
  /**
   * Takes the time of each stage on the device, where it has time stamps, with a pass for each stage of a step. Without it
   * all of a request's time on the device counts as `forward`. Default false.
   */
  readonly timings?: boolean;
  /** whether scenes submit steps before they know that they are needed (SceneDevice); default: on hardware. For tests. */
  readonly runsAhead?: boolean;
  /** bytes of the largest binding, where that is less than the device allows: for tests */
  readonly largestBinding?: number;
  /** sees every buffer of a scene come and go: for tests */
  readonly watch?: MemoryWatch;
  /** in place of openAdapter: for tests */
  readonly open?: typeof openAdapter;
}

export type GpuEngineOpening =
  | { readonly engine: GpuEngine; readonly reason?: undefined }
  | { readonly engine?: undefined; readonly reason: string };

/**
 * Opens an adapter, makes every kernel ready and lets the adapter prove its arithmetic before the first request. Never
 * throws for want of a fit adapter: the answer then says why there is none.
 */
export async function createGpuEngine(options: GpuEngineOptions): Promise<GpuEngineOpening> {
  const { opened, reason } = await (options.open ?? openAdapter)(options);
  if (!opened) return { reason };
  try {
    const ledger = new DeviceLedger(options.maxDeviceBytes);
    const first = await LiveDevice.open(opened, ledger, options);
    const objection = await first.during(findObjection(first));
    // Where the state filter is used (hardware), it is made ready now; an objection to it is raised when it is asked for.
    if (!opened.description.software) await loadProvenKernels(first.memory.device).catch(() => undefined);
    if (objection === undefined) return { engine: new WebGpuEngine(opened, ledger, first, options) };
    await opened.close();
    return {
      reason: `the adapter ${opened.description.adapter} does not compute as certified gaps need it: ${objection}`,
    };
  } catch (thrown) {
    await opened.close();
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { reason: `the adapter ${opened.description.adapter} cannot run the kernels: ${message}` };
  }
}

/** What the adapter fails to prove; undefined = it may be used. */
async function findObjection({ memory, kernels }: LiveDevice): Promise<string | undefined> {
  const gaps = await proveAdapter(memory.device);
  if (!gaps.ok) return gaps.reason;
  const commit = await proveCommit(memory.device, kernels);
  return commit.ok ? undefined : commit.reason;
}

class WebGpuEngine implements GpuEngine {
  readonly description: Engine['description'];
  readonly ledger: DeviceLedger;
  readonly #opened: OpenedAdapter;
  readonly #options: GpuEngineOptions;
  /** every device whose work may still be under way */
  readonly #devices = new Set<LiveDevice>();
  #current: LiveDevice;
  #reopening: Promise<LiveDevice> | undefined;
  #closing: Promise<void> | undefined;

  constructor(opened: OpenedAdapter, ledger: DeviceLedger, first: LiveDevice, options: GpuEngineOptions) {
    this.#opened = opened;
    this.#options = options;
    this.description = opened.description;
    this.ledger = ledger;
    this.#current = this.#adopt(first);
  }

  /**
   * @throws DEVICE_LOST when the device is gone and cannot be opened anew, or goes while the scene is being opened
   * @throws OUT_OF_DEVICE_MEMORY when the mesh does not fit beside what is on the device; TOO_LARGE when one of its
   * buffers is larger than the device can bind. What was there before is as it was.
   */
  async open(...[mesh, parameters, units]: Parameters<Engine['open']>): Promise<Scene> {
    const device = await this.#usableDevice();
    const { search = 'DEVICE' } = this.#options;
    const place = device.forScene();
    const gpu = place.memory.device;
    const create = async (): Promise<GpuScene> => {
      gpu.pushErrorScope('out-of-memory');
      let scene: GpuScene;
      try {
        scene = new GpuScene(place, mesh, toSettings(parameters, units), search, this.#options);
      } catch (thrown) {
        await gpu.popErrorScope();
        throw thrown;
      }
      if (await gpu.popErrorScope()) {
        const bytes = place.memory.bytes;
        throw new IntersticeError('OUT_OF_DEVICE_MEMORY', `the device has no room for the scene's ${bytes} bytes`);
      }
      device.assertUsable();
      return scene;
    };
    try {
      return await device.during(create());
    } catch (thrown) {
      place.memory.freeAll();
      throw thrown;
    }
  }

  async openStateFilter(mesh: CollisionMesh): Promise<StateFilter> {
    const device = await this.#usableDevice();
    const place = device.forScene();
    const kernels = await device.during(loadProvenKernels(place.memory.device));
    return DeviceStateFilter.open(place, mesh, { kernels });
  }

  /** Resolves once nothing of the engine is under way on any device: requests at work fail with DEVICE_LOST. */
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

  /** The device in use, or a new one where that cannot be used any more. */
  async #usableDevice(): Promise<LiveDevice> {
    if (this.#closing) throw new IntersticeError('INTERNAL', 'the engine was closed');
    if (this.#current.isUsable) return this.#current;
    // One for all who ask meanwhile; a failed attempt is made again by whoever asks next.
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #reopen(): Promise<LiveDevice> {
    // Lost already, or no longer to be trusted: then whoever is at work on it is to hear of it.
    this.#current.memory.device.destroy();
    try {
      this.#current = this.#adopt(await LiveDevice.open(this.#opened, this.ledger, this.#options));
      return this.#current;
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      throw new IntersticeError('DEVICE_LOST', `the device was lost and cannot be opened anew: ${reason}`, {
        cause: thrown,
      });
    }
  }

  #adopt(device: LiveDevice): LiveDevice {
    this.#devices.add(device);
    void device.settle().then(() => this.#devices.delete(device));
    return device;
  }
}
