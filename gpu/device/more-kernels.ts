import { IntersticeError } from '../../src/contract/errors.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { SMALL_VERTICES } from '../kernels/constants.js';
import { type AloneStage, canSweepAlone } from '../kernels/table.js';
import { findJoinedObjection } from '../proof/joined-proof.js';
import { proveSweeps, type SweepWay, type SweepWays } from '../proof/sweeps-proof.js';
import type { OpenedAdapter } from './adapter.js';
import { KernelRefused, KernelSet } from './kernel.js';
import { DeviceMemory, MemoryBudget } from './memory.js';
import type { SceneDevice } from './scene-device.js';
import { warmUp } from './warm-up.js';

type Owner = Pick<SceneDevice, 'memory' | 'kernels' | 'runsAhead' | 'waitFor'>;

/** Kernels of a device that not every mesh needs: compiled, and proven, for the first mesh that needs them. */
export class MoreKernels {
  readonly #opened: OpenedAdapter;
  readonly #device: Owner;
  readonly #canSweepAlone: boolean;
  /** undefined = the device does not have the kernels of a stage, or does not use them */
  readonly #alone = new Map<AloneStage, Promise<KernelSet | undefined>>();

  /** @param storageBuffers that a kernel may bind */
  constructor(opened: OpenedAdapter, device: Owner, storageBuffers: number) {
    this.#opened = opened;
    this.#device = device;
    this.#canSweepAlone = canSweepAlone(storageBuffers);
  }

  /**
   * Returns what the scene of a mesh uses besides the kernels of every step: those of strain limits if it has any,
   * otherwise those that make whole sweeps; and those that save dispatches.
   *
   * @throws DEVICE_LOST; INTERNAL if the device refuses the kernels of strain limits
   */
  async of({ strain, vertexCount }: Pick<CollisionMesh, 'strain' | 'vertexCount'>): Promise<readonly KernelSet[]> {
    const own = strain ? await this.#strain() : await this.#sweepsFor(vertexCount);
    return [own, ...(await this.#savingDispatches())].filter((kernels) => kernels !== undefined);
  }

  /** Returns those that make whole sweeps over a small mesh; undefined = the device does not use them. */
  async small(): Promise<KernelSet | undefined> {
    return this.#canSweepAlone ? this.#loadOnce('small') : undefined;
  }

  /** Finds which of these ways to sweep agree with the others. */
  async prove<W extends SweepWay>(ways: readonly W[], kernels = this.#device.kernels): Promise<SweepWays<W>> {
    // A few megabytes for some milliseconds, so they are not counted in any account.
    const memory = new DeviceMemory(this.#device.memory.device, new MemoryBudget());
    try {
      return await proveSweeps(memory, kernels, ways);
    } finally {
      memory.freeAll();
    }
  }

  async #sweepsFor(vertexCount: number): Promise<KernelSet | undefined> {
    if (!this.#canSweepAlone) return undefined;
    const small = vertexCount <= SMALL_VERTICES ? await this.#loadOnce('small') : undefined;
    return small ?? this.#loadOnce('few');
  }

  /** On processors a dispatch costs too little for these kernels to be worth compiling. */
  async #savingDispatches(): Promise<readonly (KernelSet | undefined)[]> {
    if (!this.#canSweepAlone || !this.#device.runsAhead) return [];
    return Promise.all([this.#loadOnce('listed'), this.#loadOnce('chosen'), this.#loadOnce('joined')]);
  }

  #loadOnce(stage: AloneStage): Promise<KernelSet | undefined> {
    const known = this.#alone.get(stage);
    if (known) return known;
    const loading = this.#device.waitFor(this.#loadProven(stage));
    this.#alone.set(stage, loading);
    // The next mesh may find the memory that was missing for this one.
    loading.catch(() => this.#alone.delete(stage));
    return loading;
  }

  /** @returns undefined = the device refuses them, or they failed their proof */
  async #loadProven(stage: AloneStage): Promise<KernelSet | undefined> {
    const { memory, kernels } = this.#device;
    try {
      const own = await KernelSet.load(memory.device, stage);
      await warmUp(own, this.#opened);
      const all = kernels.with(own);
      const isProven =
        stage === 'joined'
          ? (await findJoinedObjection(memory.device, all)) === undefined
          : (await this.prove([stage], all))[stage];
      return isProven ? own : undefined;
    } catch (thrown) {
      // The kernels of every step can do the same work. If the device is lost, the next use of it reports that.
      if (thrown instanceof KernelRefused) return undefined;
      throw thrown;
    }
  }

  async #strain(): Promise<KernelSet> {
    try {
      return await this.#device.waitFor(KernelSet.load(this.#device.memory.device, 'strain'));
    } catch (thrown) {
      if (!(thrown instanceof KernelRefused)) throw thrown;
      throw new IntersticeError('INTERNAL', `The adapter has no strain limits. ${thrown.message}`, {
        cause: thrown,
        hint: 'Leave the strain limits of the mesh unset, or start the service with INTERSTICE_ENGINE=cpu.',
      });
    }
  }
}
