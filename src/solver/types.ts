import type { ElementPair } from '../contract/elements.js';
import type { Parameters } from '../contract/parameters.js';
import type { PairCounts, Progress, StageTimings, Status } from '../contract/report.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';

/** float32[3·V] in engine coordinates: centred and scaled by a power of two (see frame.ts). */
export type EnginePositions = Float32Array;

/** What one engine reports of one resolve. Positions are safe whatever the status. */
export interface Resolution {
  readonly status: Status;
  readonly positions: EnginePositions;
  /** float32[V] r of Eq. 17 */
  readonly residuals: Float32Array;
  readonly steps: number;
  readonly searches: number;
  readonly proximitySetReused: boolean;
  readonly residual: number;
  readonly unfinishedVertices: number;
  readonly pairs: PairCounts;
  readonly touchingPairs: number;
  /** a few pairs that hold the worst vertices; distances in engine units */
  readonly limitingPairs: readonly ElementPair[];
  readonly timings: StageTimings;
}

export interface StepInput {
  /** the start; finite, and free of intersections but for those of `excluded`. The engine does not keep a reference. */
  readonly x: EnginePositions;
  readonly y: EnginePositions;
  /** proximity pairs that are neither constrained nor bounded nor checked in this resolve; absent = none */
  readonly excluded?: ExcludedPairs | undefined;
  /** between steps: true → stop with status DEADLINE (a safe state) */
  readonly shouldStop?: () => boolean;
  /**
   * Milliseconds that a step may still take. Asked within a step, as often as the engine can afford; at 0 or less the step is
   * given up, and the state before it is the outcome, with status DEADLINE. An engine whose steps are short need not ask.
   */
  readonly timeLeft?: () => number;
  readonly onProgress?: (progress: Progress) => void;
  /** every accepted state after x, in order; the array is reused, copy what you keep */
  readonly onState?: (x: EnginePositions) => void;
}

/** How the engine's numbers relate to the caller's, and how small a gap they can hold. */
export interface EngineUnits {
  /** engine units per caller's unit, a power of two: lengths in `Parameters` are multiplied by it */
  readonly scale: number;
  /** engine units; no pair is allowed to come closer than this through rounding alone (docs/method.md, floor) */
  readonly floor: number;
}

/** One mesh, resident in an engine. Steps run one at a time. */
export interface Scene {
  /** bytes that the scene holds between two resolves besides its mesh, on its device or on the host; an estimate where an
   *  engine cannot count them */
  readonly bytes: number;
  resolve(step: StepInput): Promise<Resolution>;
  /**
   * Other parameters and another floor from the next resolve on; `units.scale` stays what it was at `open`. The
   * proximity set is kept, unless δ, ρ, the leap, a search radius, the preset's guard or the kinematic rule changed.
   */
  configure(parameters: Parameters, units: EngineUnits): void;
  close(): void;
}

export interface Engine {
  readonly description: EngineDescription;
  /**
   * Whether `onState` costs next to nothing. Where it is set, a resolve always listens and keeps a few states to fall back
   * to; elsewhere (a device, which would have to stop after every step) only when something needs the states.
   */
  readonly hasCheapStates?: boolean;
  /** bytes that resolves of all its scenes share, kept from one to the next; absent = none */
  readonly sharedBytes?: number;
  /** @param parameters lengths in the caller's unit */
  open(mesh: CollisionMesh, parameters: Parameters, units: EngineUnits): Promise<Scene>;
  close(): Promise<void>;
}
