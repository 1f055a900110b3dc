import type { ElementPair, ElementRef } from './elements.js';
import type { Warning } from './errors.js';
import type { Parameters, VerifyLevel } from './parameters.js';

/** Why the solver stopped. The positions are safe in every case. */
export type Status = 'CONVERGED' | 'STALLED' | 'STEP_LIMIT' | 'DEADLINE';

export interface Progress {
  readonly steps: number;
  /** ‖r‖∞ */
  readonly residual: number;
  /** Vertices with r ≥ ε. */
  readonly unfinishedVertices: number;
}

/** Microseconds spent in each stage of the solver. */
export interface StageTimings {
  search: number;
  geometry: number;
  backward: number;
  forward: number;
}

/** Microseconds spent in each stage of a request, on every transport; the header server-timing has milliseconds. */
export interface Timings extends StageTimings {
  queue: number;
  decode: number;
  upload: number;
  verify: number;
  readback: number;
  encode: number;
  total: number;
}

/** Sizes of the proximity set. */
export interface PairCounts {
  vertexTriangle: number;
  edgeEdge: number;
  vertexEdge: number;
  vertexVertex: number;
  activeContacts: number;
  colours: number;
}

export interface Verification {
  /** The tests that were actually performed. */
  readonly performed: VerifyLevel;
  /**
   * Without pairs that earlier tests have shown to be apart. What is kept of those tests depends on time budgets and on
   * parking; findings do not.
   */
  readonly pairsTested: number;
  readonly doubtfulPairs: number;
  /** Of the sent positions, without ignored pairs ({@link Report.intersectingPairCount} counts those): always 0. */
  readonly intersections: number;
  /** Whether an earlier verified state was sent because of a finding. */
  readonly fellBack: boolean;
}

/** An edge, and its length in the answer relative to that in the target. */
export interface StretchedEdge {
  readonly a: number;
  readonly b: number;
  readonly stretch: number;
}

/** Principal strains (singular values of deformation gradients) of elements with strain limits and a dynamic corner. */
export interface StrainReport {
  /** Elements outside their limits by more than a tolerance of 0.001 and rounding. */
  readonly violated: number;
  /** Tetrahedra that are inverted relative to their rest shape, whatever their limits. */
  readonly inverted: number;
  /** The smallest strain; negative for an inverted tetrahedron. */
  readonly min: number;
  /** The largest. */
  readonly max: number;
  /** The element farthest outside its limits, its strain and its limit; absent if there is none. */
  readonly worst?: { readonly element: ElementRef; readonly strain: number; readonly limit: number };
}

/** How near a state is to the target; the fields have the meaning of those of {@link Report}. */
export interface Fidelity {
  readonly distanceToTargetRms: number;
  readonly distanceToTargetMax: number;
  readonly overlongEdges: number;
}

/** How the time budget of a request was divided, µs. */
export interface BudgetReport {
  readonly grantedUs: number;
  /** reserved for the test of the answer */
  readonly keptForTestUs: number;
  /** for the report and everything else after the last step */
  readonly keptForReportUs: number;
  /** 0 = it is measured only if time is left */
  readonly keptForMinDistanceUs: number;
  /** the budget from which on every step of the session makes progress; absent = not known yet */
  readonly neededUs?: number;
}

/** The effect of the pull-back of the qualities BALANCED and FINE. */
export interface PullBackReport {
  /** Included in the steps of the report. */
  readonly steps: number;
  /** Of the state in which Algorithm 1 ended. */
  readonly before: Fidelity;
  /** Of the positions that were sent. */
  readonly after: Fidelity;
}

/** How the method VOLUME_IMPULSES reached its answer. */
export interface ImpulseReport {
  /**
   * Share of the motion that the sent positions have made: 1 unless collisions remained, the budget or the step limit
   * ended, less than residualTolerance was left, or an earlier state was sent. If targets are out of range
   * (TARGET_OUT_OF_RANGE), that of the vertex that has made the least.
   */
  readonly motionShare: number;
  /** Searches for colliding pairs. */
  readonly rounds: number;
  readonly newtonIterations: number;
  /** Iterations of conjugate gradients. */
  readonly solverIterations: number;
  /** Largest number of collision tetrahedra at once. */
  readonly volumes: number;
  /** Pairs that still collided when the method gave up; where a search ended at its limit, those that it had found. */
  readonly remainingPairs: number;
}

/** How an answer came about. Lengths are in the caller's unit. */
export interface Report {
  readonly status: Status;
  readonly steps: number;
  readonly searches: number;
  readonly proximitySetReused: boolean;
  /** ‖r‖∞ */
  readonly residual: number;
  /** Vertices with r ≥ ε. Under STEP_LIMIT and DEADLINE r of a dynamic vertex of an edge or element over its limits is 1. */
  readonly unfinishedVertices: number;
  /** Kinematic vertices whose answer differs from their target. */
  readonly unreachedKinematic: number;
  /** Vertices with |x' − y| > δ. */
  readonly deflectedVertices: number;
  /** max |x' − y| over the dynamic vertices; 0 if there are none. */
  readonly distanceToTargetMax: number;
  /** rms |x' − y| over the dynamic vertices; 0 if there are none. */
  readonly distanceToTargetRms: number;
  /** max |x' − y| over the kinematic vertices; 0 if there are none. */
  readonly kinematicDistanceMax: number;
  /**
   * Edges with a dynamic end that are longer than σ times their length in the target, or at rest if they have one; 0 if
   * σ is off.
   */
  readonly overlongEdges: number;
  /** The worst of the overlong edges; absent if there is none. */
  readonly worstEdge?: StretchedEdge;
  /** Absent if the mesh has no strain limits. */
  readonly strain?: StrainReport;
  /** Absent if the phase did not run. */
  readonly pullBack?: PullBackReport;
  /** Present under the method VOLUME_IMPULSES. */
  readonly impulses?: ImpulseReport;
  /** absent: no time budget */
  readonly budget?: BudgetReport;
  /** Longest edge relative to its length in the target, or at rest if it has one. */
  readonly maxStretch: number;
  /** Absent if nothing is within reach, or if it was not measured (warning MIN_DISTANCE_NOT_MEASURED). */
  readonly minDistance?: number;
  readonly pairs: PairCounts;
  readonly touchingPairs: number;
  readonly ignoredPairCount: number;
  /** Some of the ignored pairs. */
  readonly ignoredPairs: readonly ElementPair[];
  /** Ignored pairs that intersect in the positions that were sent; absent if those were not tested. */
  readonly intersectingPairCount?: number;
  /** Some of these pairs. */
  readonly intersectingPairs: readonly ElementPair[];
  /** Some of the pairs that stop the vertices farthest from their targets. */
  readonly limitingPairs: readonly ElementPair[];
  /**
   * Some of the edges at their limit that stop the dynamic vertices farthest from their targets, farthest first; none
   * under VOLUME_IMPULSES.
   */
  readonly limitingEdges: readonly StretchedEdge[];
  readonly verification: Verification;
  readonly timings: Timings;
  /** Parameters in use, every field set. */
  readonly resolved: Parameters;
  readonly warnings: readonly Warning[];
  /**
   * Whether the pairs of earlier frames were lost (with a thread, a device, or a step that was not accepted) and found
   * again: the answer may differ in bits from that of a history without the loss. Parking is not a loss.
   */
  readonly sessionRebuilt: boolean;
  /** Name of the engine, see EngineDescription. */
  readonly engine: string;
  /** Version of the algorithm; equal inputs give equal bytes within one version. */
  readonly version: string;
}

/** The C pairs that are closer than `include.contactDistance` in the answer, sorted by kind, then by ids. */
export interface Contacts {
  /** uint8[C], values of the contract's enum Kind. */
  readonly kinds: Uint8Array;
  /** uint32[4·C], vertices of side a, then of side b; padded with 0xFFFFFFFF. */
  readonly vertices: Uint32Array;
  /** float32[4·C], barycentric weights of the closest points; each side sums to 1. */
  readonly weights: Float32Array;
  /** float32[3·C], unit vectors from b to a. */
  readonly normals: Float32Array;
  /** float32[C], in the caller's unit. */
  readonly distances: Float32Array;
  /** float32[C] λ ≥ 0, in the caller's unit, for the mean mass; absent if the engine does not know them. */
  readonly multipliers?: Float32Array;
}

export interface VertexReport {
  /** float32[V] */
  readonly residual: Float32Array;
  /** float32[V], in the caller's unit. */
  readonly distanceToTarget: Float32Array;
  /** Ids of kinematic vertices whose answer differs from their target, ascending. */
  readonly unreachedKinematic: Uint32Array;
}
