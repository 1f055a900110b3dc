import type { ElementPair } from '../contract/elements.js';
import type { ScenesAlone } from '../contract/events.js';
import type { Parameters } from '../contract/parameters.js';
import type { StateOrigin } from '../contract/path.js';
import type { PairCounts, Progress, StageTimings, Status } from '../contract/report.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { LeftOutPairs } from '../mesh/left-out-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { SavedScene } from './saved-scene.js';

/**
 * Types of a method within the engine contract: the parameters that it reads and the figures that it reports in
 * addition to those of every method.
 */
export interface Method {
  readonly parameters: object;
  readonly figures: object;
}

/** The two-way method of the paper. */
export interface TwoWayMethod extends Method {
  readonly parameters: Parameters;
  readonly figures: TwoWayFigures;
}

/** Figures that the two-way method reports for one resolve. */
export interface TwoWayFigures {
  readonly searches: number;
  readonly proximitySetReused: boolean;
  readonly pairs: PairCounts;
  /** pairs without a certificate in the last step: their vertices were frozen */
  readonly touchingPairs: number;
  readonly timings: StageTimings;
  /** absent if the pull-back did not run */
  readonly pullBack?: PullBackFigures;
  /** present if the method VOLUME_IMPULSES computed the answer */
  readonly impulses?: ImpulseFigures;
  /** present if they were requested and the engine records them */
  readonly holds?: EngineHolds;
}

/** Which pair held each vertex last. Pairs have their code in PAIR_KINDS and their vertex slots. */
export interface EngineHolds {
  /** int8[V]; −1 = no pair did */
  readonly kinds: Int8Array;
  /** int32[4·V], −1 where unused */
  readonly vertices: Int32Array;
  /** uint32[V] the first step of the uninterrupted period in which that pair held the vertex */
  readonly since: Uint32Array;
  /** multipliers of the last step of the pull-back towards the target; absent = there was no such step */
  readonly pushes?: EnginePushes;
}

/** The pairs whose rows push, n of them. */
export interface EnginePushes {
  /** uint8[n] */
  readonly kinds: Uint8Array;
  /** int32[4·n] */
  readonly vertices: Int32Array;
  /** float32[n] λ > 0, engine units × mean mass */
  readonly multipliers: Float32Array;
}

/** Figures of a resolve by volume-preserving impulses. Its pairs are those of the round with the most volumes. */
export interface ImpulseFigures {
  /** share of the motion that was made; 1 = all of it */
  readonly motionShare: number;
  /** by accepted state: the share that it has made; ascending */
  readonly shares: readonly number[];
  /** number of searches for colliding pairs, N of Table 1, over all pieces, abandoned ones included */
  readonly rounds: number;
  /** number of solves of Eq. 4 */
  readonly newtonIterations: number;
  /** number of iterations of conjugate gradients, over all solves */
  readonly solverIterations: number;
  /** largest number of collision tetrahedra in a round */
  readonly volumes: number;
  /** pairs that still collided when the method ended without a solution; 0 = it found one */
  readonly remainingPairs: number;
  /** present if the last search ended at its limit: remainingPairs is the number that it had found by then */
  readonly hasMore?: true;
}

/** Figures of the pull-back of a resolve. */
export interface PullBackFigures {
  /** included in the steps of the resolve */
  readonly steps: number;
  /** the state in which Algorithm 1 ended and the phase began */
  readonly before: EnginePositions;
}

/** float32[3·V] in engine coordinates: centred and scaled by a power of two (see frame.ts). */
export type EnginePositions = Float32Array;

/** The result of one resolve, for every method. The positions are safe under every status. */
export interface Outcome {
  readonly status: Status;
  readonly positions: EnginePositions;
  /** float32[V] r of Eq. 17 */
  readonly residuals: Float32Array;
  readonly steps: number;
  /** ‖r‖∞ */
  readonly residual: number;
  /** vertices with r ≥ ε */
  readonly unfinishedVertices: number;
  /** a few pairs that limit the vertices with the largest residuals; distances in engine units */
  readonly limitingPairs: readonly ElementPair[];
}

export type Resolution<M extends Method = TwoWayMethod> = Outcome & M['figures'];

export interface StepInput {
  /** the start; finite, and free of intersections except for those of `excluded`. The engine keeps no reference. */
  readonly x: EnginePositions;
  /** the target; finite. The engine keeps no reference. */
  readonly y: EnginePositions;
  /** proximity pairs that this resolve neither constrains nor bounds nor checks; absent = none */
  readonly excluded?: LeftOutPairs | undefined;
  /** asked between steps: true stops the resolve with status DEADLINE and a safe state */
  readonly shouldStop?: () => boolean;
  /**
   * Milliseconds that a step may still take, asked within a step as often as the engine can afford. At 0 or less the
   * engine abandons the step; the outcome is the state before it, with status DEADLINE. Pieces that a step has made
   * before may count as one. An engine with short steps need not ask.
   */
  readonly timeLeft?: () => number;
  /**
   * The same during a search: a search whose result is kept may use the time that is reserved for the test of an
   * answer, as long as no step has been made. Absent: as {@link timeLeft}.
   */
  readonly searchTimeLeft?: () => number;
  readonly onProgress?: (progress: Progress) => void;
  /** whether {@link TwoWayFigures.holds} are wanted */
  readonly recordsHolds?: boolean;
  /**
   * Receives every accepted state after x, in order; the engine reuses the array.
   *
   * @param from the phase that led to it
   * @param isPassed whether the state is only passed on the way to the next one: a run that is stopped does not end in it
   */
  readonly onState?: (x: EnginePositions, from?: StateOrigin, isPassed?: boolean) => void;
  /** whether `onState` need not receive states that are only passed */
  readonly omitsPassed?: boolean;
}

/** How engine units relate to the caller's, and how small a gap they can represent. */
export interface EngineUnits {
  /** engine units per caller's unit, a power of two; lengths in the parameters are multiplied by it */
  readonly scale: number;
  /** engine units; rounding alone brings no pair closer than this (docs/method.md, S5) */
  readonly floor: number;
}

/** One mesh, resident in an engine. Resolves run one at a time. */
export interface Scene<M extends Method = TwoWayMethod> {
  /** Bytes that the scene holds between resolves besides its mesh, on the device or the host; may be an estimate. */
  readonly bytes: number;
  /** False once its device was lost or has reported a fault: the caller opens another scene. Absent = true. */
  readonly isUsable?: boolean;
  /**
   * Whether its buffers are parts of buffers of many scenes, which may need more memory than it would alone. Absent =
   * false.
   */
  readonly isShared?: boolean;
  /** @throws TOO_LARGE if the proximity set does not fit; the scene remains usable */
  resolve(step: StepInput): Promise<Resolution<M>>;
  /**
   * Sets parameters and floor from the next resolve on; `units.scale` stays what it was at `open`. The scene keeps its
   * proximity set unless a parameter of its search has changed (settings.ts, servesBoth).
   */
  configure(parameters: M['parameters'], units: EngineUnits): void;
  /**
   * Copies the data that the scene holds between resolves, so that it can be opened again later. Absent = the engine
   * cannot do this, and a scene that is closed and opened again searches again.
   */
  save?(): SavedScene;
  /**
   * The same for a scene on a device. Reading it takes time, and no resolve may run meanwhile.
   *
   * @throws OUT_OF_DEVICE_MEMORY if there is no room for the copies; DEVICE_LOST
   */
  read?(): Promise<SavedScene>;
  close(): void;
}

/** Number of jobs that an engine runs at once because their scenes submit together. */
export interface JobsTogether {
  readonly jobs: number;
  /** largest number of vertices of such a mesh; scenes of larger meshes submit alone */
  readonly vertices: number;
}

/** Counts of the submissions that scenes have shared so far, including those on devices that the engine has lost. */
export interface ConvoyCounts {
  readonly submissions: number;
  /** number of scenes in these submissions */
  readonly parts: number;
  /** dispatches that were submitted, and the dispatches of single scenes that they replaced */
  readonly dispatches: number;
  readonly launches: number;
  /** total milliseconds from the end of the recording of a scene to its submission */
  readonly waited: number;
  /** by k: number of submissions with at most 2^k and more than 2^(k−1) scenes */
  readonly sizes: readonly number[];
  /** scenes that were opened to submit alone although others submit together */
  readonly alone: ScenesAlone;
}

export interface Engine<M extends Method = TwoWayMethod> {
  readonly description: EngineDescription;
  /**
   * Whether `onState` costs almost nothing. If so, every resolve keeps a few states to fall back to; otherwise (a
   * device would have to stop after every step) only a resolve that needs the states does.
   */
  readonly hasCheapStates?: boolean;
  /**
   * Whether contacts of the pull-back aim at the offsets of parts (part-offsets.ts). Without it, requests that depend
   * on one are refused.
   */
  readonly hasPartOffsets?: boolean;
  /**
   * Whether StepInput.excluded may follow from a rule. Without it, it must list its pairs
   * (LeftOutPairs.proximityPairs).
   */
  readonly leavesOutByRule?: boolean;
  /** bytes that the pairs of one request may take; absent or 0 = as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
  /**
   * Whether another engine of its kind takes seconds to open, or much memory of a device: few threads should have one.
   */
  readonly isCostlyToOpen?: boolean;
  /** absent = scenes of an engine that resolve at the same time gain nothing from each other: they take turns */
  readonly together?: JobsTogether | undefined;
  /** what has been submitted for several scenes together; absent = nothing yet */
  readonly convoyCounts?: ConvoyCounts | undefined;
  /** bytes that all scenes share and that remain allocated between resolves; absent = none */
  readonly sharedBytes?: number;
  /**
   * Calls the listener with the reason for every device that is lost, once another is to replace it; and again for a
   * replacement that does not open. Absent = the engine has no device.
   */
  watchLosses?(listener: (reason: string) => void): void;
  /**
   * @param parameters lengths in the caller's unit
   * @param saved of an earlier scene of the same mesh, parameters and units; an engine whose scenes cannot be saved
   *   ignores it
   * @param alone whether the scene is to share no buffers, because they had no memory for it
   */
  open(
    mesh: CollisionMesh,
    parameters: M['parameters'],
    units: EngineUnits,
    saved?: SavedScene,
    alone?: boolean,
  ): Promise<Scene<M>>;
  close(): Promise<void>;
}
