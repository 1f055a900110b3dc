import type { ElementPair } from './elements.js';
import type { MeshInput, Positions } from './mesh.js';
import type { KinematicPairs, ParametersInput } from './parameters.js';
import type { Path, Reasons } from './path.js';
import type { Contacts, Report, VertexReport } from './report.js';

/**
 * Requests and answers of the operations without a session, as plain data. Names are those of the contract in
 * lowerCamelCase; uint64 counts are numbers, durations are seconds, bulk fields are typed arrays.
 */

/** What happens when the time budget ends: return the last safe state, or fail with DEADLINE_EXCEEDED. */
export type OnBudget = 'RETURN_SAFE' | 'FAIL';

export type Priority = 'BATCH' | 'NORMAL' | 'INTERACTIVE';

/** What an answer contains besides positions and report. */
export interface IncludeInput {
  readonly contacts?: boolean;
  readonly vertices?: boolean;
  /** Default 2 δ. */
  readonly contactDistance?: number;
  /** The states on the way to the answer. */
  readonly path?: boolean;
  /** For each vertex, what holds it where it is. */
  readonly reasons?: boolean;
}

/** Options of every request that computes an answer. */
export interface ComputeOptions {
  readonly include?: IncludeInput;
  /** From the first byte of the request, waiting time included. */
  readonly timeBudgetSeconds?: number;
  /** Default RETURN_SAFE. */
  readonly onBudget?: OnBudget;
  /** Default NORMAL; limited by the caller's key. */
  readonly priority?: Priority;
}

export interface ResolveRequest extends ComputeOptions {
  readonly mesh: MeshInput;
  readonly start: Positions;
  readonly target: Positions;
  readonly parameters: ParametersInput;
}

export interface ResolveAnswer {
  /** In the scalar type of the target. */
  readonly positions: Positions;
  readonly report: Report;
  readonly contacts?: Contacts;
  readonly vertices?: VertexReport;
  readonly path?: Path;
  readonly reasons?: Reasons;
}

/** The tests that a check performs. */
export interface CheckQuestion {
  /** If set, the straight path from the positions to these is tested as well. */
  readonly pathEnd?: Positions;
  /** In the caller's unit. */
  readonly reportPairsCloserThan?: number;
  /** Largest number of pairs in each list; default 64. Counts of intersections are complete; close pairs have none. */
  readonly maxPairs?: number;
  readonly kinematicPairs?: KinematicPairs;
  /** From receipt, including the queue; absent = default of the server. */
  readonly timeBudgetSeconds?: number;
}

/** A check of a mesh that the request contains. */
export interface MeshCheckRequest extends CheckQuestion {
  readonly mesh: MeshInput;
  readonly positions: Positions;
}

/** A check of a session's mesh. */
export interface SessionCheckRequest extends CheckQuestion {
  readonly sessionId: string;
  /** Absent = last answer of the session. */
  readonly positions?: Positions;
}

export type CheckRequest = MeshCheckRequest | SessionCheckRequest;

export interface CheckAnswer {
  readonly intersectionFree: boolean;
  readonly intersectionCount: number;
  readonly intersections: readonly ElementPair[];
  /** Counted separately, even if kinematic pairs are skipped. */
  readonly kinematicIntersectionCount: number;
  /** Absent if no pair is closer than `reportPairsCloserThan`. */
  readonly minDistance?: number;
  readonly closePairs: readonly ElementPair[];
  readonly pathFree?: boolean;
  /** Lower bound of the first time of impact, in [0, 1]. It may be too early, never too late. */
  readonly earliestImpact?: number;
}
