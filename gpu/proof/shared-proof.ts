import type { MemoryBudget } from '../device/memory.js';
import { findSharedCommitObjection } from './commit-proof.js';
import { findSharedHeightsObjection } from './heights-proof.js';
import { findSharedListObjection } from './lists-proof.js';
import type { BothKernels } from './places.js';
import { findSharedRunObjection } from './runs-proof.js';
import { findSharedSweepObjection } from './sweeps-proof.js';

/**
 * Lets a device prove that the kernels of a convoy compute the same as those of a scene alone, which have proofs of
 * their own. They are compiled from the same text with other addresses, and WGSL lets a driver round differently in
 * each. Every proof runs for two or three scenes of different size at once, which lie one after the other in every
 * buffer: each number must equal that of the scene alone to the last bit. Lists have no order; they are judged like
 * those of a scene alone.
 *
 * @param kernels of the search and of the steps, with the one for whole sweeps if scenes of a convoy have it
 * @param budget counts the bytes of whole runs of three scenes together
 * @returns what is wrong; undefined = scenes may submit together
 * @throws Error if a kernel does not run, or the device is lost
 */
export async function findSharedObjection(
  device: GPUDevice,
  kernels: BothKernels,
  isSoftware: boolean,
  budget?: MemoryBudget,
): Promise<string | undefined> {
  return (
    (await findSharedHeightsObjection(device, isSoftware)) ??
    (await findSharedListObjection(device, kernels.together, isSoftware)) ??
    (await findSharedCommitObjection(device, kernels, isSoftware)) ??
    (await findSharedSweepObjection(device, kernels, isSoftware)) ??
    (await findSharedRunObjection(device, kernels, isSoftware, budget))
  );
}
