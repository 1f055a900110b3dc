import { IntersticeError } from '../src/errors.js';
import { toSettings } from '../src/solver/settings.js';
import type { Engine, Scene } from '../src/solver/types.js';
import type { AdapterOptions, OpenedAdapter } from './adapter.js';
import { openAdapter } from './adapter.js';
import { GpuScene, type SceneDevice, type SearchPlace } from './scene.js';
import { proveAdapter } from './self-proof.js';
import { StepKernels } from './step/kernels.js';
import { DeviceLedger, DeviceMemory } from './step/ledger.js';

export interface GpuEngine extends Engine {
  /** bytes of device memory in use, all scenes and devices of this engine together */
  readonly ledger: DeviceLedger;
}

export interface GpuEngineOptions extends AdapterOptions {
  /** HOST is for finding faults: the reference engine's search, with a pause for each. Default DEVICE. */
  readonly search?: SearchPlace;
}

export type GpuEngineOpening =
  | { readonly engine: GpuEngine; readonly reason?: undefined }
  | { readonly engine?: undefined; readonly reason: string };

/**
 * Opens an adapter, lets it prove its arithmetic, and compiles every kernel before the first request. Never throws for
 * want of a fit adapter: the answer then says why there is none.
 */
export async function createGpuEngine(options: GpuEngineOptions): Promise<GpuEngineOpening> {
  const { opened, reason } = await openAdapter(options);
  if (!opened) return { reason };
  try {
    const ledger = new DeviceLedger();
    const current = await openSceneDevice(opened, ledger);
    const proof = await proveAdapter(current.memory.device);
    if (!proof.ok) {
      opened.close();
      return {
        reason: `the adapter ${opened.description.adapter} does not compute as certified gaps need it: ${proof.reason}`,
      };
    }
    return { engine: new WebGpuEngine(opened, ledger, current, options.search ?? 'DEVICE') };
  } catch (thrown) {
    opened.close();
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { reason: `the adapter ${opened.description.adapter} cannot run the kernels: ${message}` };
  }
}

/** A device with its kernels, and whether it is still there. */
class LiveDevice implements SceneDevice {
  readonly memory: DeviceMemory;
  readonly kernels: StepKernels;
  #lost: string | undefined;

  constructor(memory: DeviceMemory, kernels: StepKernels, lost: Promise<GPUDeviceLostInfo>) {
    this.memory = memory;
    this.kernels = kernels;
    lost.then(({ reason, message }) => {
      this.#lost = message || reason;
    });
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  assertAlive(): void {
    if (this.#lost === undefined) return;
    throw new IntersticeError('DEVICE_LOST', `the device was lost: ${this.#lost}`);
  }
}

async function openSceneDevice(opened: OpenedAdapter, ledger: DeviceLedger): Promise<LiveDevice> {
  const { device, lost } = await opened.requestDevice();
  return new LiveDevice(new DeviceMemory(device, ledger), await StepKernels.compile(device), lost);
}

class WebGpuEngine implements GpuEngine {
  readonly description: Engine['description'];
  readonly ledger: DeviceLedger;
  readonly #opened: OpenedAdapter;
  readonly #search: SearchPlace;
  #current: Promise<LiveDevice>;
  #isClosed = false;

  constructor(opened: OpenedAdapter, ledger: DeviceLedger, current: LiveDevice, search: SearchPlace) {
    this.#search = search;
    this.#opened = opened;
    this.description = opened.description;
    this.ledger = ledger;
    this.#current = Promise.resolve(current);
  }

  /**
   * @throws DEVICE_LOST when the device is gone and cannot be opened anew
   * @throws OUT_OF_DEVICE_MEMORY when the mesh does not fit on the device
   */
  async open(...[mesh, parameters, units]: Parameters<Engine['open']>): Promise<Scene> {
    const device = await this.#liveDevice();
    const gpu = device.memory.device;
    gpu.pushErrorScope('out-of-memory');
    let scene: GpuScene | undefined;
    try {
      scene = new GpuScene(device, mesh, toSettings(parameters, units), this.#search);
    } finally {
      const error = await gpu.popErrorScope();
      if (error) {
        scene?.close();
        scene = undefined;
      }
    }
    if (!scene) throw new IntersticeError('OUT_OF_DEVICE_MEMORY', 'the scene does not fit on the device');
    return scene;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#opened.close();
  }

  /** The device in use, or a new one where that was lost. */
  async #liveDevice(): Promise<LiveDevice> {
    if (this.#isClosed) throw new IntersticeError('INTERNAL', 'the engine was closed');
    const current = await this.#current.catch(() => undefined);
    if (current && !current.isLost) return current;
    this.#current = openSceneDevice(this.#opened, this.ledger);
    try {
      return await this.#current;
    } catch (thrown) {
      throw new IntersticeError('DEVICE_LOST', 'the device was lost and cannot be opened anew', { cause: thrown });
    }
  }
}
