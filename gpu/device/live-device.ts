import { IntersticeError } from '../../src/contract/errors.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { ConvoyCounts, JobsTogether } from '../../src/solver/engine.js';
import { MOST_SHARED_BUFFERS } from '../convoy/address.js';
import { Convoy, type ConvoySettings } from '../convoy/convoy.js';
import { SMALL_VERTICES } from '../kernels/constants.js';
import { type AloneStage, canSweepAlone, type KernelStage, STEP_STAGES } from '../kernels/table.js';
import { proveCommit } from '../proof/commit-proof.js';
import { loadProvenKernels } from '../proof/filter-proof.js';
import { findSharedObjection } from '../proof/shared-proof.js';
import { proveSweeps, type SweepWay, type SweepWays } from '../proof/sweeps-proof.js';
import type { OpenedAdapter } from './adapter.js';
import { KernelRefused, KernelSet } from './kernel.js';
import { DeviceMemory, MemoryBudget, type MemoryWatch } from './memory.js';
import { ThreadPause } from './thread-pause.js';
import { warmUp } from './warm-up.js';

/**
 * Largest number of vertices of a scene in a convoy. The pull-back of a larger mesh sweeps with the kernels of `few`,
 * which a convoy does not have. Besides, all scenes share one buffer per array, and no device lets a kernel bind more
 * than a certain number of bytes, so scenes of large meshes would be refused in a convoy although each of them fits
 * alone. A scene's bytes do not depend on this number, because its dispatches have the same sizes as alone.
 *
 * A mesh with strain limits always submits alone: its kernels derive the number of components from the length of a
 * buffer (gpu/kernels/strain/members.wgsl), which in an arena is that of all scenes.
 */
export const CONVOY_VERTICES = SMALL_VERTICES;

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

/** The data shared by scenes that submit together. */
interface Company {
  readonly convoy: Convoy;
  /** kernels of the search and of the steps */
  readonly kernels: KernelSet;
  readonly jobs: JobsTogether;
}

const warnOfProcess = (message: string): void => process.emitWarning(message, { code: 'INTERSTICE_CONVOY' });

/** The part of a device that one scene, or one state filter, uses: memory with an account of its own. */
export interface SceneDevice {
  readonly memory: DeviceMemory;
  /** kernels of the stages of a step */
  readonly kernels: KernelSet;
  /**
   * which ways to sweep the device may take besides kernels that make whole sweeps; `kernels` contains those that it
   * may use
   */
  readonly ways: SweepWays;
  /** whether the time of each stage is taken, if the device has time stamps */
  readonly hasTimings: boolean;
  /**
   * Whether steps are recorded in batches and the next batch is submitted before the status of the last one is known,
   * as far as SubmissionPlan allows. On hardware the device could compute during the time that reading the status
   * takes. On a software adapter every dispatch that finds nothing to do costs a tenth of a millisecond, and reading
   * the status costs almost nothing.
   */
  readonly runsAhead: boolean;
  /** the convoy with which the scene submits; undefined = it submits alone */
  readonly convoy?: Convoy | undefined;
  /** @throws DEVICE_LOST with the reason if the device is lost; the reported error if it cannot be trusted */
  assertUsable(): void;
  /**
   * Waits for work on the device; work that fails because the device is lost throws DEVICE_LOST, regardless of what
   * failed first.
   */
  waitFor<T>(work: Promise<T>): Promise<T>;
}

/** A device with its compiled kernels. Once it is lost, or has reported an error, it stays unusable. */
export class LiveDevice implements SceneDevice {
  readonly memory: DeviceMemory;
  readonly hasTimings: boolean;
  readonly runsAhead: boolean;
  /** kernels of the stages of every step */
  readonly kernels: KernelSet;
  #ways: SweepWays = { rounds: false, lists: false };
  readonly #canSweepAlone: boolean;
  /**
   * kernels that make whole sweeps, loaded when the first mesh requires them; undefined = the device does not use them
   */
  readonly #sweepsAlone = new Map<AloneStage, Promise<KernelSet | undefined>>();
  /** undefined = every scene submits alone */
  #company: Company | undefined;
  readonly #opened: OpenedAdapter;
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
    this.#opened = opened;
    this.memory = memory;
    this.kernels = kernels;
    this.#canSweepAlone = canSweepAlone(storageBuffers);
    this.hasTimings = hasTimings;
    this.runsAhead = runsAhead;
    this.#pause = pause;
    this.#lost = lost.then(({ reason, message }) => {
      this.#fault ??= new IntersticeError('DEVICE_LOST', `The device was lost: ${message || reason}`);
    });
    // An error outside every error scope, for example a call that validation refused, leaves results that cannot be
    // trusted.
    memory.device.addEventListener('uncapturederror', (event) => {
      event.preventDefault();
      this.#invalidate(event.error);
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
      live.#ways = await live.waitFor(live.#prove(kernels, ['rounds', 'lists']));
      if (options.convoy) {
        const objection = await live.#openCompany(options.convoy, storageBuffers, isSoftware);
        if (objection !== undefined) (options.warn ?? warnOfProcess)(`Every scene submits alone: ${objection}`);
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

  /** Finds which of these ways to sweep agree with the others. */
  async #prove<W extends SweepWay>(kernels: KernelSet, ways: readonly W[]): Promise<SweepWays<W>> {
    // A few megabytes for some milliseconds, so they are not counted in any account.
    const memory = new DeviceMemory(this.memory.device, new MemoryBudget());
    try {
      return await proveSweeps(memory, kernels, ways);
    } finally {
      memory.freeAll();
    }
  }

  /**
   * Returns the kernels of this stage, ready for use; undefined = the device does not have them, or they failed their
   * proof.
   */
  #sweepAlone(stage: AloneStage): Promise<KernelSet | undefined> {
    const known = this.#sweepsAlone.get(stage);
    if (known) return known;
    const loading = this.waitFor(this.#loadAlone(stage));
    this.#sweepsAlone.set(stage, loading);
    // The next mesh may find the memory that was missing for this one.
    loading.catch(() => this.#sweepsAlone.delete(stage));
    return loading;
  }

  async #loadAlone(stage: AloneStage): Promise<KernelSet | undefined> {
    try {
      const kernels = await KernelSet.load(this.memory.device, stage);
      await warmUp(kernels, this.#opened);
      const all = this.kernels.with(kernels);
      const isProven =
        stage === 'joined'
          ? (await proveCommit(this.memory.device, all, 'commitAndWatch')).ok
          : (await this.#prove(all, [stage]))[stage];
      return isProven ? kernels : undefined;
    } catch (thrown) {
      // The kernels of every step can do the same work. If the device is lost, the next use of it reports that.
      if (thrown instanceof KernelRefused) return undefined;
      throw thrown;
    }
  }

  async #loadShared(...stages: readonly KernelStage[]): Promise<KernelSet> {
    const kernels = await KernelSet.loadShared(this.memory.device, ...stages);
    await warmUp(kernels, this.#opened);
    return kernels;
  }

  /** Returns the device for a scene that submits with others; undefined = it cannot. */
  #inCompany(): SceneDevice | undefined {
    if (!this.#company?.convoy.arena.hasRoom) return undefined;
    const { convoy, kernels } = this.#company;
    const ways = { rounds: false, lists: false };
    return { ...this.forScene(), memory: this.memory.fork(convoy.arena), kernels, ways, hasTimings: false, convoy };
  }

  /** Prepares what scenes share. @returns why they submit alone; undefined = together */
  async #openCompany(
    settings: ConvoySettings,
    storageBuffers: number,
    isSoftware: boolean,
  ): Promise<string | undefined> {
    if (storageBuffers < MOST_SHARED_BUFFERS)
      return `the device binds ${storageBuffers} storage buffers at a time, and ${MOST_SHARED_BUFFERS} are needed.`;
    try {
      const { device } = this.memory;
      const steps = await this.waitFor(this.#loadShared('search', ...STEP_STAGES));
      const small = await this.#sharedSmall();
      const together = small ? steps.with(small) : steps;
      const both = { alone: this.kernels, together };
      const objection = await this.waitFor(findSharedObjection(device, both, isSoftware));
      if (objection !== undefined) return `their kernels do not compute what those of one scene do: ${objection}`;
      const own = this.memory.fork();
      const convoy = await own.checkAllocations('the convoy', () => new Convoy(own, isSoftware, settings));
      this.#company = {
        convoy,
        kernels: together,
        jobs: { jobs: settings.scenes, vertices: CONVOY_VERTICES },
      };
      return undefined;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  /**
   * Kernels of whole sweeps for convoys; undefined = a convoy sweeps without them, either as single scenes do or
   * because the device refuses this kernel.
   */
  async #sharedSmall(): Promise<KernelSet | undefined> {
    if (!this.#canSweepAlone || !(await this.#sweepAlone('small'))) return undefined;
    try {
      return await this.waitFor(this.#loadShared('small'));
    } catch (thrown) {
      if (thrown instanceof KernelRefused) return undefined;
      throw thrown;
    }
  }

  /** Jobs of scenes that submit together; undefined = none do. */
  get together(): JobsTogether | undefined {
    return this.#company?.jobs;
  }

  /** undefined = no scene submits with others */
  get convoyCounts(): ConvoyCounts | undefined {
    return this.#company?.convoy.counts;
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

  /** @throws DEVICE_LOST; INTERNAL if the device refuses them */
  async #strainKernels(): Promise<KernelSet> {
    try {
      return await this.waitFor(KernelSet.load(this.memory.device, 'strain'));
    } catch (thrown) {
      if (!(thrown instanceof KernelRefused)) throw thrown;
      throw new IntersticeError('INTERNAL', `The adapter has no strain limits. ${thrown.message}`, {
        cause: thrown,
        hint: 'Leave the strain limits of the mesh unset, or start the service with INTERSTICE_ENGINE=cpu.',
      });
    }
  }

  get isUsable(): boolean {
    return this.#fault === undefined;
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
  async forMesh(
    { strain, vertexCount }: Pick<CollisionMesh, 'strain' | 'vertexCount'>,
    mayShare = true,
  ): Promise<SceneDevice> {
    const shared = mayShare && !strain && vertexCount <= CONVOY_VERTICES ? this.#inCompany() : undefined;
    if (shared) return shared;
    const more = strain ? await this.#strainKernels() : await this.#sweepsFor(vertexCount);
    const place = this.forScene();
    const others = [more, ...(await this.#savingDispatches())].filter((own) => own !== undefined);
    return { ...place, kernels: others.reduce((all, own) => all.with(own), this.kernels) };
  }

  /** Loads kernels that save dispatches. On processors a dispatch costs too little for them to be worth compiling. */
  async #savingDispatches(): Promise<readonly (KernelSet | undefined)[]> {
    if (!this.#canSweepAlone || !this.runsAhead) return [];
    return Promise.all([this.#sweepAlone('listed'), this.#sweepAlone('chosen'), this.#sweepAlone('joined')]);
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

  async #sweepsFor(vertexCount: number): Promise<KernelSet | undefined> {
    if (!this.#canSweepAlone) return undefined;
    const small = vertexCount <= SMALL_VERTICES ? await this.#sweepAlone('small') : undefined;
    return small ?? this.#sweepAlone('few');
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
