import type { Warning } from './errors.js';
import type { MeshInput, Positions } from './mesh.js';
import type { Parameters, ParametersInput } from './parameters.js';
import type { Report } from './report.js';
import type { ComputeOptions, ResolveAnswer } from './requests.js';
import type { UntangleOptions } from './untangle.js';
import type { UntangledState } from './untangle-answer.js';

/** Requests and answers of the operations on sessions, as plain data; conventions as in requests.ts. */

/** Seconds: long enough for a pause in a simulation, short enough to free the memory of a client that died. */
export const DEFAULT_IDLE_TIMEOUT_SECONDS = 900;

/** Seconds in a day. A client that needs a session for longer sets 0 and deletes the session itself. */
export const MAX_IDLE_TIMEOUT_SECONDS = 86_400;

/** Limit on labels, idempotency keys and names of parts, in Unicode characters. */
export const MAX_NAME_CHARACTERS = 256;

/** Prefix of an idempotency key that names a session by its creation; no id begins with it. */
export const KEY_PREFIX = 'key:';

export interface CreateSessionRequest {
  readonly mesh: MeshInput;
  /** State of frame 0, free of intersections. */
  readonly start: Positions;
  readonly parameters: ParametersInput;
  readonly label?: string;
  /** Absent = default of the server; 0 = until deleted. */
  readonly idleTimeoutSeconds?: number;
  /** The same key from the same tenant returns the same session. */
  readonly idempotencyKey?: string;
  /** From receipt, including the queue; absent = default of the server. If it ends, no session is created. */
  readonly timeBudgetSeconds?: number;
  /** Only with onIntersectingStart UNTANGLE. */
  readonly untangle?: UntangleOptions;
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
  /** Of the triangles that have an area; 0 = there is none. */
  readonly minHeight: number;
  /** [6]: minimum xyz, maximum xyz. */
  readonly bounds: readonly number[];
  readonly contentHash: string;
}

export type Residency = 'RESIDENT' | 'PARKED';

/** A session as its owner sees it. */
export interface SessionInfo {
  readonly id: string;
  /** Last accepted frame; 0n after creation. */
  readonly frame: bigint;
  readonly resolved: Parameters;
  readonly mesh: MeshSummary;
  readonly warnings: readonly Warning[];
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Milliseconds since 1970. */
  readonly lastUsed: number;
  /** 0 = until deleted. */
  readonly idleTimeoutSeconds: number;
  readonly residency: Residency;
  /** Bytes that the engine holds for the session; 0 while it is parked. */
  readonly deviceBytes: number;
  readonly lastReport?: Report;
  /** Present until the first step if the start was untangled: its positions are the state of frame 0. */
  readonly untangle?: UntangledState;
}

export interface ListSessionsRequest {
  readonly pageSize?: number;
  readonly pageToken?: string;
  /** Only sessions with this label. */
  readonly label?: string;
}

export interface ListSessionsAnswer {
  readonly sessions: readonly SessionInfo[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface UpdateSessionRequest {
  readonly sessionId: string;
  /** Overrides the session's parameters; unset fields keep their values. */
  readonly parameters?: ParametersInput;
  readonly idleTimeoutSeconds?: number;
  readonly label?: string;
}

export interface PartTarget {
  readonly part: string;
  readonly target: Positions;
}

export interface StepRequest extends ComputeOptions {
  readonly sessionId: string;
  /** Absent = last frame + 1; such a step is not safe to retry. */
  readonly frame?: bigint;
  /** The last accepted frame known to the caller; a session at another frame refuses the step. Absent = any frame. */
  readonly afterFrame?: bigint;
  /**
   * At most one of `target` and `partTargets`. With neither, the last target is kept, at first the start of frame 0.
   */
  readonly target?: Positions;
  /** Other parts keep their last target (at first, the start of frame 0). If scalar types differ, all are float64. */
  readonly partTargets?: readonly PartTarget[];
  /**
   * Of the kept last target, and so of the answer, with neither `target` nor `partTargets`: they have their own. Absent
   * = as it was sent. FLOAT32 does not hold a target of doubles, and is refused for one.
   */
  readonly scalar?: 'FLOAT32' | 'FLOAT64';
  /** Absent = last answer. */
  readonly start?: Positions;
  /** uint8[V], 0 or 1. From this step on it replaces all flags, including those of parts. */
  readonly kinematic?: Uint8Array;
  /** float32[V], from this step on. */
  readonly masses?: Float32Array;
  /** Overrides the session's parameters for this step. */
  readonly override?: ParametersInput;
}

export interface StepAnswer extends ResolveAnswer {
  readonly frame: bigint;
  /**
   * Whether this is the stored answer of a frame that was sent again. A transport adds its own times to
   * `report.timings` of a new answer and leaves those of a replay unchanged, so that both encode to the same bytes.
   */
  readonly isReplay: boolean;
}
