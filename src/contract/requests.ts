/**
 * Requests and answers of the service as plain data, free of transports. Names are the contract's in lowerCamelCase; uint64
 * counts are numbers here, durations are seconds, bulk arrays are typed arrays.
 */

import type { ElementPair } from './errors.js';
import type { MeshInput, Positions } from './mesh.js';
import type { KinematicPairs, ParametersInput } from './parameters.js';
import type { Contacts, Report, VertexReport } from './report.js';

export type OnBudget = 'RETURN_SAFE' | 'FAIL';

export type Priority = 'BATCH' | 'NORMAL' | 'INTERACTIVE';

export interface IncludeInput {
  readonly contacts?: boolean;
  readonly vertices?: boolean;
  /** default 2 δ */
  readonly contactDistance?: number;
}

export interface ResolveRequest {
  readonly mesh: MeshInput;
  readonly start: Positions;
  readonly target: Positions;
  readonly parameters: ParametersInput;
  readonly include?: IncludeInput;
  readonly timeBudgetSeconds?: number;
  /** default RETURN_SAFE */
  readonly onBudget?: OnBudget;
  /** default NORMAL; capped by the caller's key */
  readonly priority?: Priority;
}

export interface ResolveAnswer {
  /** same scalar as the target */
  readonly positions: Positions;
  readonly report: Report;
  readonly contacts?: Contacts;
  readonly vertices?: VertexReport;
}

/** What is asked of a state, whosever it is. */
export interface CheckQuestion {
  readonly pathEnd?: Positions;
  readonly reportPairsCloserThan?: number;
  /** default 64 */
  readonly maxPairs?: number;
  readonly kinematicPairs?: KinematicPairs;
}

export interface MeshCheckRequest extends CheckQuestion {
  readonly mesh: MeshInput;
  readonly positions: Positions;
}

export interface SessionCheckRequest extends CheckQuestion {
  readonly sessionId: string;
  /** absent = its last answer */
  readonly positions?: Positions;
}

export type CheckRequest = MeshCheckRequest | SessionCheckRequest;

export interface CheckAnswer {
  readonly intersectionFree: boolean;
  readonly intersectionCount: number;
  readonly intersections: readonly ElementPair[];
  readonly kinematicIntersectionCount: number;
  readonly minDistance?: number;
  readonly closePairs: readonly ElementPair[];
  readonly pathFree?: boolean;
  readonly earliestImpact?: number;
}
