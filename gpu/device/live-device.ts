import { IntersticeError } from '../../src/contract/errors.js';
import type { ScenesAlone } from '../../src/contract/events.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { ConvoyCounts, JobsTogether } from '../../src/solver/engine.js';
import type { ConvoySettings } from '../convoy/convoy.js';
import { STEP_STAGES } from '../kernels/table.js';
import { loadProvenKernels } from '../proof/filter-proof.js';
import type { SweepWays } from '../proof/sweeps-proof.js';
import type { OpenedAdapter } from './adapter.js';
import { CONVOY_VERTICES, type Company, openCompany } from './company.js';
import { KernelSet } from './kernel.js';
import { DeviceMemory, type MemoryBudget, type MemoryWatch } from './memory.js';
import { MoreKernels } from './more-kernels.js';
import type { SceneDevice } from './scene-device.js';
import { ThreadPause } from './thread-pause.js';
import { warmUp } from './warm-up.js';

/** How long a failure waits for the notice that its device is lost before it counts as an independent fault. */
const LOSS_NOTICE_MS = 200;

export interface LiveDeviceOptions {
  /** limit on the bytes of one binding, if the device allows more: for tests */
  readonly largestBinding?: number | undefined;
  /** limit on the storage buffers that a kernel binds, if the device allows more: for tests */
  readonly storageBuffers?: number | undefined;
  /** for tests */
  readonly watch?: MemoryWatch | undefined;
  /** whether scenes take the time of each stage, if the device has time stamps */
  readonly timings?: boolean | undefined;
  /** see SceneDevice; default: on hardware. Tests set it to take the path of hardware on a software adapter */
  readonly runsAhead?: boolean | undefined;
  /** small scenes submit together; absent = every scene submits alone */
  readonly convoy?: ConvoySettings | undefined;
  /** called with the reason why the device does not let scenes submit together; default: a warning of the process */
  readonly warn?: ((message: string) => void) | undefined;
}

const warnOfProcess = (message: string): void => process.emitWarning(message, { code: 'INTERSTICE_CONVOY' });

/** A device with its compiled kernels. Once it is lost, or has reported an error, it stays unusable. */
export class LiveDevice implements SceneDevice {
  readonly memory: DeviceMemory;
  readonly hasTimings: boolean;
  readonly runsAhead: boolean;
  /** kernels of the stages of every step */
  readonly kernels: KernelSet;
  #ways: SweepWays = { rounds: false, lists: false };
  readonly #more: MoreKernels;
  /** undefined = every scene submits alone */
  #company: Company | undefined;
  readonly #alone = { size: 0, strainLimits: 0, scenes: 0, memory: 0 };
  readonly #lost: Promise<void>;
  /** why the device can no longer be used */
  #fault: IntersticeError | undefined;
  readonly #pending = new Set<Promise<unknown>>();
  /** undefined if the device computes on its own processors, because polling without pauses is then the fastest */
  readonly #pause: ThreadPause | undefined;

  private constructor(
    memory: DeviceMemory,
    kernels: KernelSet,
    lost: Promise<GPUDeviceLostInfo>,
    pause: ThreadPause | undefined,
    {
      opened,
      hasTimings,
      runsAhead,
      storageBuffers,
    }: Pick<SceneDevice, 'hasTimings' | 'runsAhead'> & {
      readonly opened: OpenedAdapter;
      readonly storageBuffers: number;
    },
  ) {
    this.memory = memory;
    this.kernels = kernels;
    this.#more = new MoreKernels(opened, this, storageBuffers);
    this.hasTimings = hasTimings;
    this.runsAhead = runsAhead;
    this.#pause = pause;
    // An error outside every error scope, for example a call that validation refused, leaves results that cannot be
    // trusted.
    const onError = (event: GPUUncapturedErrorEvent): void => {
      event.preventDefault();
      this.#invalidate(event.error);
    };
    const { device } = memory;
    device.addEventListener('uncapturederror', onError);
    this.#lost = lost.then(({ reason, message }) => {
      this.#fault ??= new IntersticeError('DEVICE_LOST', `The device was lost: ${message || reason}`);
      // The binding holds every listener until it is removed, and with this one all kernels of the lost device.
      device.removeEventListener('uncapturederror', onError);
    });
  }

  /**
   * Opens a device and prepares every kernel that every mesh needs.
   *
   * @throws Error if the adapter is gone or was closed; KernelRefused
   */
  static async open(opened: OpenedAdapter, budget: MemoryBudget, options: LiveDeviceOptions = {}): Promise<LiveDevice> {
    const { device, lost } = await opened.requestDevice();
    try {
      return await LiveDevice.#openOn(device, lost, opened, budget, options);
    } catch (thrown) {
      // No other code refers to it.
      device.destroy();
      throw thrown;
    }
  }

  static async #openOn(
    device: GPUDevice,
    lost: Promise<GPUDeviceLostInfo>,
    opened: OpenedAdapter,
    budget: MemoryBudget,
    options: LiveDeviceOptions,
  ): Promise<LiveDevice> {
    const isSoftware = opened.description.software;
    const storageBuffers = options.storageBuffers ?? device.limits.maxStorageBuffersPerShaderStage;
    const pause = isSoftware ? new ThreadPause() : undefined;
    const loading = Promise.all([KernelSet.load(device, 'search', 'proof'), KernelSet.load(device, ...STEP_STAGES)]);
    const [others, kernels] = await (pause ? pause.during(loading) : loading);
    const memory = new DeviceMemory(device, budget, options.largestBinding, options.watch);
    const live = new LiveDevice(memory, kernels, lost, pause, {
      opened,
      hasTimings: options.timings === true,
      runsAhead: options.runsAhead ?? !isSoftware,
      storageBuffers,
    });
    try {
      await live.waitFor(warmUp(others.with(kernels), opened));
      live.#ways = await live.waitFor(live.#more.prove(['rounds', 'lists']));
      if (options.convoy) {
        const parts = { opened, device: live, more: live.#more, settings: options.convoy, storageBuffers };
        const company = await openCompany(parts);
        if (typeof company !== 'string') live.#company = company;
        else {
          // A device that is lost is not used at all.
          live.assertUsable();
          (options.warn ?? warnOfProcess)(`Every scene submits alone: ${company}`);
        }
      }
      live.assertUsable();
      return live;
    } catch (thrown) {
      live.close();
      throw thrown;
    }
  }

  get ways(): SweepWays {
    return this.#ways;
  }

  /** Returns the device for the scene of a mesh that submits with others; undefined = it cannot. */
  #inCompany({ strain, vertexCount }: Pick<CollisionMesh, 'strain' | 'vertexCount'>): SceneDevice | undefined {
    if (!this.#company) return undefined;
    const { convoy, kernels } = this.#company;
    if (vertexCount > CONVOY_VERTICES) return this.noteAlone('size');
    if (strain) return this.noteAlone('strainLimits');
    if (!convoy.arena.hasRoom) return this.noteAlone('scenes');
    const ways = { rounds: false, lists: false };
    return { ...this.forScene(), memory: this.memory.fork(convoy.arena), kernels, ways, hasTimings: false, convoy };
  }

  /** Counts a scene that submits alone. */
  noteAlone(reason: keyof ScenesAlone): undefined {
    this.#alone[reason]++;
  }

  /** Jobs of scenes that submit together; undefined = none do. */
  get together(): JobsTogether | undefined {
    return this.#company?.jobs;
  }

  /** undefined = no scene submits with others */
  get convoyCounts(): ConvoyCounts | undefined {
    const counts = this.#company?.convoy.counts;
    return counts && { ...counts, alone: { ...this.#alone } };
  }

  /** Bytes on the device that small scenes share, and that none of them owns. */
  get sharedBytes(): number {
    return this.#company?.convoy.sharedBytes ?? 0;
  }

  /**
   * Frees the memory that scenes have shared, once {@link settle} has resolved. The accounts of the scenes themselves
   * are closed by their owners.
   */
  close(): void {
    this.#company?.convoy.close();
  }

  get isUsable(): boolean {
    return this.#fault === undefined;
  }

  /** why it is not usable */
  get fault(): IntersticeError | undefined {
    return this.#fault;
  }

  assertUsable(): void {
    if (this.#fault) throw this.#fault;
  }

  /** Returns the device for one scene. */
  forScene(): SceneDevice {
    const { kernels, ways, hasTimings, runsAhead } = this;
    return {
      memory: this.memory.fork(),
      kernels,
      ways,
      hasTimings,
      runsAhead,
      assertUsable: () => this.assertUsable(),
      waitFor: (work) => this.waitFor(work),
    };
  }

  /**
   * The same for the scene of a mesh, with the kernels of strain limits if it has any, and otherwise with those that
   * make whole sweeps: these are compiled and proven when the first mesh requires them. A small scene submits with
   * others.
   *
   * @param mayShare false = it submits alone
   * @throws DEVICE_LOST; INTERNAL if the device refuses the kernels of strain limits
   */
  async forMesh(mesh: Pick<CollisionMesh, 'strain' | 'vertexCount'>, mayShare = true): Promise<SceneDevice> {
    const shared = mayShare ? this.#inCompany(mesh) : undefined;
    if (shared) return shared;
    const more = await this.#more.of(mesh);
    return { ...this.forScene(), kernels: more.reduce((all, own) => all.with(own), this.kernels) };
  }

  /**
   * The same for the state filter of a mesh, with its kernels: the filter of a small mesh submits with the scenes.
   *
   * @throws DEVICE_LOST; Error with the proof that the adapter failed (gpu/proof/filter-proof.ts)
   */
  async forFilter({ vertexCount }: Pick<CollisionMesh, 'vertexCount'>): Promise<SceneDevice> {
    const { device } = this.memory;
    const convoy = vertexCount <= CONVOY_VERTICES ? this.#company?.convoy : undefined;
    // If its kernels cannot share dispatches, the filter submits alone.
    const together = convoy && (await this.waitFor(loadProvenKernels(device, 'together')).catch(() => undefined));
    if (together) return { ...this.forScene(), memory: this.memory.fork(convoy.arena), kernels: together, convoy };
    return { ...this.forScene(), kernels: await this.waitFor(loadProvenKernels(device)) };
  }

  /**
   * Waits for work. Work on a lost device may fail before the notice of the loss arrives, so a failure waits for that
   * notice for a while.
   */
  async waitFor<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    try {
      return await (this.#pause ? this.#pause.during(work) : work);
    } catch (thrown) {
      if (thrown instanceof IntersticeError) throw thrown;
      await this.#awaitLossNotice();
      if (!this.#fault) throw thrown;
      throw new IntersticeError(this.#fault.code, this.#fault.message, { cause: thrown });
    } finally {
      this.#pending.delete(work);
    }
  }

  /** Waits, after the device was destroyed, until none of its work is pending. The thread must not end before. */
  async settle(): Promise<void> {
    await this.#lost;
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  #invalidate(error: GPUError): void {
    const isMemory = error.constructor.name === 'GPUOutOfMemoryError';
    this.#fault ??= new IntersticeError(
      isMemory ? 'OUT_OF_DEVICE_MEMORY' : 'INTERNAL',
      `The device reported: ${error.message}`,
    );
  }

  async #awaitLossNotice(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOSS_NOTICE_MS);
    });
    await Promise.race([this.#lost, patience]);
    clearTimeout(timer);
  }
}
