import type { Scene, Size } from '../scenes/types.js';
import type { IntegratorSettings } from '../src/integrator.js';
import type { Energies, Impulses } from '../src/momentum.js';
import type { Parameters } from '../src/service.js';
import type { KnotVerdict } from './knots.js';
import type { PileVerdict } from './layers.js';

/** Costs and results of one time step; one line of `steps.jsonl`. Lengths in m, times in s. */
export interface StepRecord {
  readonly frame: number;
  /** of the service, with its adapter */
  readonly engine: string;
  /** of the service's algorithm */
  readonly version: string;
  /** of the service's answers, one per Newton iteration */
  readonly statuses: readonly string[];
  /** steps of the two-way method, of all iterations together */
  readonly steps: number;
  /** of these, steps of the pull-back */
  readonly pullBackSteps: number;
  readonly searches: number;
  /** share of the answers that began with the pairs of the previous one */
  readonly reused: number;
  /** ‖r‖∞ of the last answer */
  readonly residual: number;
  /** |x' − y| of the last answer */
  readonly distanceRms: number;
  readonly distanceMax: number;
  /** longest edge of the answer relative to its length in the target */
  readonly stretch: number;
  readonly overlongEdges: number;
  /** least and largest principal stretch of all elements relative to their rest shape; absent if there are none */
  readonly strain?: readonly [number, number];
  readonly minDistance?: number;
  readonly contacts: number;
  /** kinematic vertices that are not where they should be */
  readonly unreachedKinematic: number;
  /** the service's own time without its queue */
  readonly cost: number;
  /** processor time of the service's threads together, to a hundredth; absent if it is not known */
  readonly processorTime?: number;
  /** from the request to the answer */
  readonly serviceTime: number;
  /** the solver's time */
  readonly dynamicsTime: number;
  readonly solverIterations: number;
  readonly solverResidual: number;
  /** contact impulses of the last iteration, and |linear| / total */
  readonly impulses: Impulses;
  readonly drift: number;
  readonly energies: Energies;
  /** found by the judge: 0, otherwise the scene ends; absent if the judge was not used */
  readonly intersections?: number;
  readonly warnings: readonly string[];
}

/** A scene as it was played. */
export interface Played {
  readonly scene: Scene;
  readonly size: Size;
  readonly vertices: number;
  /** name and number of the prevailing kind */
  readonly elements: string;
  readonly adapter: string;
  /** number of frames of the scene before the first one that was played; see contested.ts */
  readonly firstFrame: number;
  readonly records: readonly StepRecord[];
  /** for scenes with loops, and for those with a pile */
  readonly knot?: KnotVerdict;
  readonly pile?: PileVerdict;
}

/** Facts that all frames of a run share. */
export interface RunFacts {
  readonly algorithmVersion: string;
  /** of the session, including those of the scene */
  readonly parameters: Parameters;
  /** of the solver: its time step, its linear systems, repulsion and friction */
  readonly solver: Omit<IntegratorSettings, 'repulsionDistance' | 'contactOffset'>;
  /** digest of meshes, materials, motions and the initial state */
  readonly model: string;
}

/** Returns a line of JSON: six digits of every number suffice. */
export const lineOf = (record: StepRecord): string =>
  JSON.stringify(record, (_key, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value,
  );
