import type { JobsTogether } from '../../src/solver/engine.js';
import { MOST_SHARED_BUFFERS } from '../convoy/address.js';
import { Convoy, type ConvoySettings } from '../convoy/convoy.js';
import { SMALL_VERTICES } from '../kernels/constants.js';
import { type KernelStage, STEP_STAGES } from '../kernels/table.js';
import { findSharedObjection } from '../proof/shared-proof.js';
import type { OpenedAdapter } from './adapter.js';
import { KernelRefused, KernelSet } from './kernel.js';
import { MemoryBudget } from './memory.js';
import type { MoreKernels } from './more-kernels.js';
import type { SceneDevice } from './scene-device.js';
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

/** The data shared by scenes that submit together. */
export interface Company {
  readonly convoy: Convoy;
  /** kernels of the search and of the steps */
  readonly kernels: KernelSet;
  readonly jobs: JobsTogether;
}

export interface CompanyParts {
  readonly opened: OpenedAdapter;
  readonly device: Pick<SceneDevice, 'memory' | 'kernels' | 'waitFor'>;
  readonly more: MoreKernels;
  readonly settings: ConvoySettings;
  /** storage buffers that a kernel may bind */
  readonly storageBuffers: number;
}

/** Prepares what scenes share. @returns why they submit alone instead, as a sentence or a clause */
export async function openCompany({
  opened,
  device,
  more,
  settings,
  storageBuffers,
}: CompanyParts): Promise<Company | string> {
  if (storageBuffers < MOST_SHARED_BUFFERS)
    return `the device binds ${storageBuffers} storage buffers at a time, and ${MOST_SHARED_BUFFERS} are needed.`;
  const { memory, kernels } = device;
  const own = memory.fork();
  const isSoftware = opened.description.software;
  const load = async (...stages: readonly KernelStage[]): Promise<KernelSet> => {
    const shared = await KernelSet.loadShared(memory.device, ...stages);
    await warmUp(shared, opened);
    return shared;
  };
  // Without those of whole sweeps, a convoy sweeps as scenes alone do that lack them too.
  const loadSmall = async (): Promise<KernelSet | undefined> => {
    if (!(await more.small())) return undefined;
    try {
      return await device.waitFor(load('small'));
    } catch (thrown) {
      if (thrown instanceof KernelRefused) return undefined;
      throw thrown;
    }
  };
  try {
    const steps = await device.waitFor(load('search', ...STEP_STAGES));
    const small = await loadSmall();
    const together = small ? steps.with(small) : steps;
    const ofProof = new MemoryBudget();
    const objection = await device.waitFor(
      findSharedObjection(memory.device, { alone: kernels, together }, isSoftware, ofProof),
    );
    if (objection !== undefined) return `their kernels do not compute what those of one scene do: ${objection}`;
    // A shared buffer has a least size, so a scene that fits alone might find no room in a convoy, however often it is sent.
    const { limit } = memory.budget;
    if (ofProof.most > limit)
      return `three small scenes take ${ofProof.most} bytes of device memory together, and ${limit} may be used (INTERSTICE_MAX_DEVICE_BYTES).`;
    const convoy = await own.checkAllocations('the convoy', () => new Convoy(own, isSoftware, settings));
    return { convoy, kernels: together, jobs: { jobs: settings.scenes, vertices: CONVOY_VERTICES } };
  } catch (thrown) {
    // A convoy for which the device has no memory has no owner.
    own.freeAll();
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
