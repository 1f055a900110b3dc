import type { ElementPair } from '../errors.js';
import type { LeftOutPairs } from '../mesh/left-out-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';

/** float32[3·V] in engine coordinates: centred and scaled by a power of two (see frame.ts). */
export type EnginePositions = Float32Array;

export type Preset = 'TUNED' | 'PAPER';
export type ForwardRule = 'PLANAR' | 'ISOTROPIC';
export type ContactForm = 'GAP' | 'VOLUME';
export type KinematicPairs = 'SKIP' | 'PROTECT';
export type VerifyLevel = 'NONE' | 'STATE' | 'PATH';
export type IntersectingStart = 'REJECT' | 'IGNORE_PAIRS';

/** Every field set, lengths in the caller's unit. Names as in the contract's Parameters message (lowerCamelCase). */
export interface Parameters {
  readonly preset: Preset;
  /** δ */
  readonly activationDistance: number;
  /** ρ */
  readonly reach: number;
  readonly leap: number;
  /** Dmin, used by preset PAPER */
  readonly searchRadiusMin: number;
  /** Dmax, used by preset PAPER */
  readonly searchRadiusMax: number;
  /** σ; 0 = off */
  readonly stretchLimit: number;
  /** γ */
  readonly damping: number;
  /** ε */
  readonly residualTolerance: number;
  /** L */
  readonly stepLimit: number;
  readonly sweepsPerStep: number;
  readonly metresPerUnit: number;
  readonly forward: ForwardRule;
  readonly contact: ContactForm;
  readonly verify: VerifyLevel;
  readonly onIntersectingStart: IntersectingStart;
  readonly kinematicPairs: KinematicPairs;
}

/** What a caller may set; absent = the preset's default. */
export type ParametersInput = { readonly [K in keyof Parameters]?: Parameters[K] | undefined };

export type Status = 'CONVERGED' | 'STALLED' | 'STEP_LIMIT' | 'DEADLINE';

export interface Progress {
  readonly steps: number;
  /** ‖r‖∞ */
  readonly residual: number;
  readonly unfinishedVertices: number;
}

/** Microseconds spent in each stage of one resolve. */
export interface StageTimings {
  search: number;
  geometry: number;
  backward: number;
  forward: number;
}

export interface PairCounts {
  vertexTriangle: number;
  edgeEdge: number;
  vertexEdge: number;
  vertexVertex: number;
  activeContacts: number;
  colours: number;
}

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
  /** the start; finite, and free of intersections but for those of `leftOut`. The engine does not keep a reference. */
  readonly x: EnginePositions;
  readonly y: EnginePositions;
  /** proximity pairs that are neither constrained nor bounded nor checked in this resolve; absent = none */
  readonly leftOut?: LeftOutPairs | undefined;
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

export interface EngineDescription {
  /** "cpu" or "webgpu: NAME" */
  readonly name: string;
  readonly adapter: string;
  readonly software: boolean;
  readonly maxBufferBytes: number;
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
