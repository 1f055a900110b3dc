import { IntersticeError } from '../../src/contract/errors.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { stepStagesWith } from '../kernels/table.js';
import { proveSweeps, type SweepWays } from '../proof/sweeps-proof.js';
import type { OpenedAdapter } from './adapter.js';
import { KernelSet } from './kernel.js';
import { DeviceMemory, MemoryBudget, type MemoryWatch } from './memory.js';
import { ThreadPause } from './thread-pause.js';

/** How long a failure waits for the notice that its device is lost before it counts as a fault of its own. */
const LOSS_NOTICE_MS = 200;

export interface LiveDeviceOptions {
  /** bytes that one binding may have, below what the device allows: for tests */
  readonly largestBinding?: number | undefined;
  /** storage buffers that a kernel may bind, below what the device allows: for tests */
  readonly storageBuffers?: number | undefined;
  /** for tests */
  readonly watch?: MemoryWatch | undefined;
  /** scenes take the time of each stage where the device has time stamps */
  readonly timings?: boolean | undefined;
  /** see SceneDevice; default: on hardware. Tests set it to take the path of hardware on a software adapter. */
  readonly runsAhead?: boolean | undefined;
}

/** What one scene, or one state filter, uses of a device: memory with an account of its own. */
export interface SceneDevice {
  readonly memory: DeviceMemory;
  /** of the stages of a step */
  readonly kernels: KernelSet;
  /** which ways to sweep the device may take; those of kernels that `kernels` does not have are false */
  readonly ways: SweepWays;
  /** the time of each stage is taken, where the device has time stamps */
  readonly hasTimings: boolean;
  /**
   * Steps are recorded in batches, and the next batch is submitted before the status of the last is known, as far as
   * SubmissionPlan lets it. On hardware reading the status takes time in which the device could compute. On a software adapter every dispatch that finds nothing
   * to do costs a tenth of a millisecond, and reading the status next to nothing.
   */
  readonly runsAhead: boolean;
  /** @throws DEVICE_LOST with the reason when the device is lost; what it reported when it cannot be trusted */
  assertUsable(): void;
  /** Waits for work on the device; work that fails because the device is lost throws DEVICE_LOST, whatever failed first. */
  waitFor<T>(work: Promise<T>): Promise<T>;
}

/** A device with its compiled kernels. Once it is lost, or has reported an error, it stays unusable. */
export class LiveDevice implements SceneDevice {
  readonly memory: DeviceMemory;
  readonly hasTimings: boolean;
  readonly runsAhead: boolean;
  #kernels: KernelSet;
  #ways: SweepWays = { rounds: false, lists: false, small: false, few: false };
  readonly #lost: Promise<void>;
  /** why the device cannot be used any more */
  #fault: IntersticeError | undefined;
  readonly #pending = new Set<Promise<unknown>>();
  /** undefined where the device computes on processors of its own: polling without pauses is the fastest then */
  readonly #pause: ThreadPause | undefined;

  private constructor(
    memory: DeviceMemory,
    kernels: KernelSet,
    lost: Promise<GPUDeviceLostInfo>,
    pause: ThreadPause | undefined,
    { hasTimings, runsAhead }: Pick<SceneDevice, 'hasTimings' | 'runsAhead'>,
  ) {
    this.memory = memory;
    this.#kernels = kernels;
    this.hasTimings = hasTimings;
    this.runsAhead = runsAhead;
    this.#pause = pause;
    this.#lost = lost.then(({ reason, message }) => {
      this.#fault ??= new IntersticeError('DEVICE_LOST', `The device was lost: ${message || reason}`);
    });
    // An error outside every error scope, a call that validation refused for example, leaves results that cannot be trusted.
    memory.device.addEventListener('uncapturederror', (event) => {
      event.preventDefault();
      this.#invalidate(event.error);
    });
  }

  /**
   * Opens a device and makes every kernel ready for use.
   *
   * @throws Error when the adapter is gone or was closed, GPUPipelineError when a kernel does not compile
   */
  static async open(opened: OpenedAdapter, budget: MemoryBudget, options: LiveDeviceOptions = {}): Promise<LiveDevice> {
    const { device, lost } = await opened.requestDevice();
    const storageBuffers = options.storageBuffers ?? device.limits.maxStorageBuffersPerShaderStage;
    const pause = opened.description.software ? new ThreadPause() : undefined;
    // The driver warms up the search while the kernels of the step are still being compiled.
    const searching = KernelSet.load(device, 'search').then((search) => search.warmUp());
    const loading = Promise.all([KernelSet.load(device, ...stepStagesWith(storageBuffers)), searching]);
    const [kernels] = await (pause ? pause.during(loading) : loading);
    const memory = new DeviceMemory(device, budget, options.largestBinding, options.watch);
    const live = new LiveDevice(memory, kernels, lost, pause, {
      hasTimings: options.timings === true,
      runsAhead: options.runsAhead ?? !opened.description.software,
    });
    await live.waitFor(kernels.warmUp());
    await live.waitFor(live.#prove());
    live.assertUsable();
    return live;
  }

  get kernels(): KernelSet {
    return this.#kernels;
  }

  get ways(): SweepWays {
    return this.#ways;
  }

  /** Gives up the ways to sweep that do not agree with the others. */
  async #prove(): Promise<void> {
    // A few megabytes, which are gone before the first request: they count in no account.
    const memory = new DeviceMemory(this.memory.device, new MemoryBudget());
    this.#ways = await proveSweeps(memory, this.#kernels);
    memory.freeAll();
    const { small, few } = this.#ways;
    if (!small) this.#kernels = this.#kernels.without(['sweepSmall']);
    if (!few) this.#kernels = this.#kernels.without(['sweepFew']);
  }

  get isUsable(): boolean {
    return this.#fault === undefined;
  }

  assertUsable(): void {
    if (this.#fault) throw this.#fault;
  }

  /** The device as one scene uses it. */
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

  /** The same for the scene of a mesh, with the kernels of strain limits where it has some: they are compiled when a first mesh wants them. */
  async forMesh({ strain }: Pick<CollisionMesh, 'strain'>): Promise<SceneDevice> {
    const place = this.forScene();
    if (!strain) return place;
    const strains = await this.waitFor(KernelSet.load(this.memory.device, 'strain'));
    return { ...place, kernels: this.kernels.with(strains) };
  }

  /** What fails first on a lost device may fail before the notice of the loss arrives: such a failure waits for it a while. */
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

  /** Waits, after the device was destroyed, until none of its work is pending. The thread may end then, and not before. */
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
