import { IntersticeError } from '../../src/contract/errors.js';
import { STEP_STAGES } from '../kernels/table.js';
import type { SceneDevice } from '../scene.js';
import type { OpenedAdapter } from './adapter.js';
import { KernelSet } from './kernel.js';
import { type DeviceLedger, DeviceMemory, type MemoryWatch } from './memory.js';
import { Rest } from './thread-pause.js';

/** How long a failure waits for the news that its device is gone, before it passes for a fault of its own. */
const LOSS_NOTICE_MS = 200;

export interface LiveDeviceOptions {
  /** bytes that one binding may have, below what the device allows: for tests */
  readonly largestBinding?: number | undefined;
  /** for tests */
  readonly watch?: MemoryWatch | undefined;
  /** scenes take the time of each stage where the device has time stamps */
  readonly timings?: boolean | undefined;
  /** see SceneDevice; default: on hardware. Tests of hardware's way on a software adapter set it. */
  readonly runsAhead?: boolean | undefined;
}

/** A device with its kernels, and whether it can still be used. */
export class LiveDevice {
  readonly memory: DeviceMemory;
  readonly kernels: KernelSet;
  /** settles when the device is gone */
  readonly gone: Promise<void>;
  /** why it is not to be used any more */
  #fault: IntersticeError | undefined;
  readonly #atWork = new Set<Promise<unknown>>();
  readonly #manner: Pick<SceneDevice, 'hasTimings' | 'runsAhead'>;
  /** undefined where the device computes on processors of its own: then asking it all the time is the fastest */
  readonly #rest: Rest | undefined;

  private constructor(
    memory: DeviceMemory,
    kernels: KernelSet,
    lost: Promise<GPUDeviceLostInfo>,
    manner: Pick<SceneDevice, 'hasTimings' | 'runsAhead'>,
    rest: Rest | undefined,
  ) {
    this.memory = memory;
    this.kernels = kernels;
    this.#manner = manner;
    this.#rest = rest;
    this.gone = lost.then(({ reason, message }) => {
      this.#fault ??= new IntersticeError('DEVICE_LOST', `the device was lost: ${message || reason}`);
    });
    // What nobody asked after, a call that validation refused say, leaves results that nobody may trust.
    memory.device.addEventListener('uncapturederror', (event) => {
      event.preventDefault();
      this.#condemn(event.error);
    });
  }

  /**
   * Opens a device and makes every kernel ready for use.
   *
   * @throws Error when the adapter is gone or was closed, GPUPipelineError when a kernel does not compile
   */
  static async open(opened: OpenedAdapter, ledger: DeviceLedger, options: LiveDeviceOptions = {}): Promise<LiveDevice> {
    const { device, lost } = await opened.requestDevice();
    const rest = opened.description.software ? new Rest() : undefined;
    const searching = KernelSet.load(device, 'search').then((search) => search.warmUp());
    const loading = Promise.all([KernelSet.load(device, ...STEP_STAGES), searching]);
    const [step] = await (rest ? rest.during(loading) : loading);
    const manner = {
      hasTimings: options.timings === true,
      runsAhead: options.runsAhead ?? !opened.description.software,
    };
    const memory = new DeviceMemory(device, ledger, options.largestBinding, options.watch);
    const live = new LiveDevice(memory, step, lost, manner, rest);
    await live.during(step.warmUp());
    live.assertUsable();
    return live;
  }

  get isUsable(): boolean {
    return this.#fault === undefined;
  }

  /** @throws DEVICE_LOST when the device is gone, or whatever it could not do */
  assertUsable(): void {
    if (this.#fault) throw this.#fault;
  }

  /** What one scene sees of the device: memory with an account of its own. */
  forScene(): SceneDevice {
    return {
      memory: this.memory.fork(),
      kernels: this.kernels,
      ...this.#manner,
      assertAlive: () => this.assertUsable(),
      during: (work) => this.during(work),
    };
  }

  /**
   * Waits for work on the device. A lost device shows up as whatever failed first, before the news of its loss arrives:
   * an unforeseen failure waits for them a while.
   *
   * @throws DEVICE_LOST when it failed because the device went away; else what the work threw
   */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#atWork.add(work);
    try {
      return await (this.#rest ? this.#rest.during(work) : work);
    } catch (thrown) {
      if (!(thrown instanceof IntersticeError)) await this.#awaitNews();
      if (this.#fault && !(thrown instanceof IntersticeError)) throw this.#withCause(this.#fault, thrown);
      throw thrown;
    } finally {
      this.#atWork.delete(work);
    }
  }

  /** After the device was destroyed: waits until nothing of it is under way. The thread may end then, and not before. */
  async settle(): Promise<void> {
    await this.gone;
    while (this.#atWork.size > 0) await Promise.allSettled(this.#atWork);
  }

  #condemn(error: GPUError): void {
    const isMemory = error.constructor.name === 'GPUOutOfMemoryError';
    this.#fault ??= new IntersticeError(
      isMemory ? 'OUT_OF_DEVICE_MEMORY' : 'INTERNAL',
      `the device reported: ${error.message}`,
    );
  }

  #withCause({ code, message }: IntersticeError, cause: unknown): IntersticeError {
    return new IntersticeError(code, message, { cause });
  }

  async #awaitNews(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOSS_NOTICE_MS);
    });
    await Promise.race([this.gone, patience]);
    clearTimeout(timer);
  }
}
