import type { MeshInput, Positions } from './mesh.js';
import type { Parameters, ParametersInput } from './parameters.js';
import type { Report, Warning } from './report.js';
import type { IncludeInput, OnBudget, Priority, ResolveAnswer } from './requests.js';

export interface CreateSessionRequest {
  readonly mesh: MeshInput;
  /** state of frame 0, free of intersections */
  readonly start: Positions;
  readonly parameters: ParametersInput;
  readonly label?: string;
  /** absent = the server's default; 0 = until deleted */
  readonly idleTimeoutSeconds?: number;
  /** the same key from the same tenant returns the same session */
  readonly idempotencyKey?: string;
}

export interface MeshSummary {
  readonly vertices: number;
  readonly edges: number;
  readonly triangles: number;
  readonly segments: number;
  readonly particles: number;
  readonly tetrahedra: number;
  readonly components: number;
  readonly medianEdge: number;
  readonly minHeight: number;
  /** min xyz, max xyz */
  readonly bounds: readonly number[];
  readonly contentHash: string;
}

export type Residency = 'RESIDENT' | 'PARKED';

/** A session as its owner sees it. */
export interface SessionInfo {
  readonly id: string;
  /** last accepted frame; 0n after creation */
  readonly frame: bigint;
  readonly resolved: Parameters;
  readonly mesh: MeshSummary;
  readonly warnings: readonly Warning[];
  readonly label: string;
  /** ms since 1970 */
  readonly created: number;
  readonly lastUsed: number;
  /** 0 = until deleted */
  readonly idleTimeoutSeconds: number;
  readonly residency: Residency;
  /** bytes that the engine holds for it; 0 while it is parked */
  readonly deviceBytes: number;
  readonly lastReport?: Report;
}

export interface ListSessionsRequest {
  readonly pageSize?: number;
  readonly pageToken?: string;
  /** only sessions with this label */
  readonly label?: string;
}

export interface ListSessionsAnswer {
  readonly sessions: readonly SessionInfo[];
  /** empty on the last page */
  readonly nextPageToken: string;
}

export interface UpdateSessionRequest {
  readonly sessionId: string;
  /** laid over the session's: what is not set stays */
  readonly parameters?: ParametersInput;
  readonly idleTimeoutSeconds?: number;
  readonly label?: string;
}

export interface PartTarget {
  readonly part: string;
  readonly target: Positions;
}

export interface StepRequest {
  readonly sessionId: string;
  /** absent = the last one + 1, and then never safe to retry */
  readonly frame?: bigint;
  /** this, or `partTargets`, or neither: on towards the last target (before the first step: the start of frame 0) */
  readonly target?: Positions;
  /** parts not named keep their last target (their start of frame 0, if they never had one); mixed scalars: float64 */
  readonly partTargets?: readonly PartTarget[];
  /** absent = the last answer */
  readonly start?: Positions;
  /** uint8[V], 0 or 1; from this step on, in place of all flags, those of parts included */
  readonly kinematic?: Uint8Array;
  /** float32[V]; from this step on */
  readonly masses?: Float32Array;
  /** for this step only, laid over the session's */
  readonly override?: ParametersInput;
  readonly include?: IncludeInput;
  /** from receipt, queue included */
  readonly timeBudgetSeconds?: number;
  /** default RETURN_SAFE */
  readonly onBudget?: OnBudget;
  /** default NORMAL; capped by the caller's key */
  readonly priority?: Priority;
}

export interface StepAnswer extends ResolveAnswer {
  readonly frame: bigint;
  /**
   * A frame sent again: the stored answer. A transport writes its own times into `report.timings` of an answer that is
   * new, and leaves those of a replay alone: so both encode to the same bytes.
   */
  readonly isReplay: boolean;
}
