import type { Scene, Size } from '../scenes/types.js';
import type { Contacts } from '../src/contacts.js';
import type { Energies, Impulses } from '../src/momentum.js';

/** What one time step took and brought; one line of `steps.jsonl`. Lengths in m, times in s. */
export interface StepRecord {
  readonly frame: number;
  /** of the service, with its adapter */
  readonly engine: string;
  /** of the service's answers, one a Newton iteration */
  readonly statuses: readonly string[];
  /** steps of the two-way method, of all iterations together */
  readonly steps: number;
  /** of these, steps of the pull-back */
  readonly pullBackSteps: number;
  readonly searches: number;
  /** share of the answers that began with the pairs of the one before */
  readonly reused: number;
  /** ‖r‖∞ of the last answer */
  readonly residual: number;
  /** |x' − y| of the last answer */
  readonly distanceRms: number;
  readonly distanceMax: number;
  /** longest edge of the answer against its length in the target */
  readonly stretch: number;
  readonly overlongEdges: number;
  /** least and largest principal stretch of all elements against their rest shape; absent without any */
  readonly strain?: readonly [number, number];
  readonly minDistance?: number;
  readonly contacts: number;
  /** kinematic vertices that are not where they should be */
  readonly unreachedKinematic: number;
  /** the service's own time without its queue */
  readonly cost: number;
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
  /** of the judge: 0, or the scene ends; absent when it was not asked */
  readonly intersections?: number;
  readonly warnings: readonly string[];
}

/** A scene as it was played. */
export interface Played {
  readonly scene: Scene;
  readonly size: Size;
  readonly vertices: number;
  /** of the kind that prevails, with its name */
  readonly elements: string;
  readonly adapter: string;
  readonly records: readonly StepRecord[];
}

/** What is needed to go on after an interruption. */
export interface Saved {
  readonly frame: number;
  readonly x: Float64Array;
  readonly velocity: Float64Array;
  readonly contacts: Contacts;
}

/** A line of JSON: six digits of every number say enough. */
export const lineOf = (record: StepRecord): string =>
  JSON.stringify(record, (_key, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value,
  );
