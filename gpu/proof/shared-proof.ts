import { findSharedCommitObjection } from './commit-proof.js';
import { findSharedHeightsObjection } from './heights-proof.js';
import { findSharedListObjection } from './lists-proof.js';
import type { BothKernels } from './places.js';
import { findSharedRunObjection } from './runs-proof.js';
import { findSharedSweepObjection } from './sweeps-proof.js';

/**
 * Lets a device show that the kernels of a convoy compute what those of a scene alone do, which prove by themselves what they owe. They are
 * compiled from the same text with other addresses, and WGSL lets a driver round differently in each. Every proof runs for two scenes of different
 * size at once, of which one lies behind the other in every buffer: each number must be that of the scene alone to the last bit. Lists have no
 * order; they are judged as those of a scene alone.
 *
 * @param kernels of the search and of the steps, with that of whole sweeps where scenes of a convoy have it
 * @returns what is wrong; undefined = scenes may submit together
 * @throws Error when a kernel does not run, or the device is lost
 */
export async function findSharedObjection(
  device: GPUDevice,
  kernels: BothKernels,
  isSoftware: boolean,
): Promise<string | undefined> {
  return (
    (await findSharedHeightsObjection(device, isSoftware)) ??
    (await findSharedListObjection(device, kernels.together, isSoftware)) ??
    (await findSharedCommitObjection(device, kernels, isSoftware)) ??
    (await findSharedSweepObjection(device, kernels, isSoftware)) ??
    (await findSharedRunObjection(device, kernels, isSoftware))
  );
}
