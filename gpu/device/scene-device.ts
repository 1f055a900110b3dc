import type { Convoy } from '../convoy/convoy.js';
import type { SweepWays } from '../proof/sweeps-proof.js';
import type { KernelSet } from './kernel.js';
import type { DeviceMemory } from './memory.js';

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
