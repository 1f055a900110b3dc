import type { ElementPair, ElementRef } from '../errors.js';
import type { MeshInput, Positions } from '../mesh/types.js';
import type {
  EngineDescription,
  KinematicPairs,
  PairCounts,
  Parameters,
  ParametersInput,
  Progress,
  Status,
  VerifyLevel,
} from '../solver/types.js';

/**
 * The operations of the service as plain data, free of transports. Names are the contract's in lowerCamelCase; uint64
 * counts are numbers here, durations are seconds, bulk arrays are typed arrays.
 */

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

/** Microseconds. */
export interface Timings {
  queue: number;
  decode: number;
  upload: number;
  search: number;
  geometry: number;
  backward: number;
  forward: number;
  verify: number;
  readback: number;
  encode: number;
  total: number;
}

export interface Verification {
  readonly performed: VerifyLevel;
  readonly pairsTested: number;
  readonly doubtfulPairs: number;
  readonly intersections: number;
  readonly fellBack: boolean;
}

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly element?: ElementRef;
  readonly count: number;
}

export interface Report {
  readonly status: Status;
  readonly steps: number;
  readonly searches: number;
  readonly proximitySetReused: boolean;
  readonly residual: number;
  readonly unfinishedVertices: number;
  readonly unreachedKinematic: number;
  readonly deflectedVertices: number;
  readonly distanceToTargetMax: number;
  readonly distanceToTargetRms: number;
  readonly maxStretch: number;
  readonly minDistance?: number;
  readonly pairs: PairCounts;
  readonly touchingPairs: number;
  readonly ignoredPairCount: number;
  readonly ignoredPairs: readonly ElementPair[];
  readonly limitingPairs: readonly ElementPair[];
  readonly verification: Verification;
  readonly timings: Timings;
  readonly resolved: Parameters;
  readonly warnings: readonly Warning[];
  readonly sessionRebuilt: boolean;
  readonly engine: string;
  readonly version: string;
}

export interface Contacts {
  readonly kinds: Uint8Array;
  readonly vertices: Uint32Array;
  readonly weights: Float32Array;
  readonly normals: Float32Array;
  readonly distances: Float32Array;
}

export interface VertexReport {
  readonly residual: Float32Array;
  readonly distanceToTarget: Float32Array;
  readonly unreachedKinematic: Uint32Array;
}

export interface Limits {
  readonly maxVertices: number;
  readonly maxElements: number;
  readonly maxMessageBytes: number;
  readonly maxSessions: number;
  readonly maxDeviceBytes: number;
  readonly maxQueue: number;
  readonly maxTimeBudgetSeconds: number;
}

export interface ServerInfo {
  readonly version: string;
  readonly algorithmVersion: string;
  readonly engines: readonly EngineDescription[];
  readonly limits: Limits;
  readonly defaults: ParametersInput;
  /** what this build offers, e.g. "resolve", "check", "http", "multipart"; what is absent answers UNIMPLEMENTED */
  readonly features: readonly string[];
}

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

/** Who calls. */
export interface Caller {
  readonly tenant: string;
  /** requests that ask for more get this */
  readonly maxPriority: Priority;
}

/**
 * Hears the path of a resolve, state by state. `at` is the place of a state in the path, 0 for the start: one more each time,
 * unless states are given up; then the one that takes their place is told with its number, and what had it and all after it are void.
 */
export type TellState = (positions: Positions, at: number) => void;

/** What a transport knows about one call. */
export interface CallContext {
  /** absent: the one tenant of a service without keys, at any priority */
  readonly caller?: Caller | undefined;
  /** names the call in logs and traces */
  readonly requestId?: string | undefined;
  /** reads a header (metadata) of the call by its lower-case name: where a trace of the caller's is continued from */
  readonly header?: ((name: string) => string | undefined) | undefined;
  /** aborted when the caller goes away: the computation stops at the next step and the call ends with CANCELLED */
  readonly signal?: AbortSignal;
  /** the arrays of the request are nobody else's, now or later: the operation may keep them instead of copying them */
  readonly isHandedOver?: boolean;
  /** performance.now() when the first byte of the request arrived; the time budget counts from here */
  readonly receivedAt?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** every state of the path in the answer's scalar, start first, answer last (command line's --trace); awaited */
  readonly onState?: TellState;
}

/** What a door knows of a request of which only the head has come. */
export interface Knock {
  readonly operation: 'resolve' | 'check' | 'createSession' | 'updateSession' | 'step';
  /** where the head names it */
  readonly sessionId?: string | undefined;
  /** of the body, where the head says so */
  readonly bytes?: number | undefined;
}

/** What the transports and the command line call. Every method throws IntersticeError. */
export interface Operations {
  /**
   * Says no to a request whose body has not come yet, so that none is sent and read in vain. Nothing is promised to what it
   * lets through: that is admitted, or refused, when it is whole.
   *
   * @returns to be called when the request is whole, or gone: until then, or for some seconds, it is counted on
   * @throws DRAINING, SESSION_NOT_FOUND, QUEUE_FULL, QUOTA_EXCEEDED
   */
  knock(knock: Knock, context?: CallContext): () => void;
  resolve(request: ResolveRequest, context?: CallContext): Promise<ResolveAnswer>;
  check(request: CheckRequest, context?: CallContext): Promise<CheckAnswer>;
  createSession(request: CreateSessionRequest, context?: CallContext): Promise<SessionInfo>;
  getSession(sessionId: string, context?: CallContext): Promise<SessionInfo>;
  listSessions(request: ListSessionsRequest, context?: CallContext): Promise<ListSessionsAnswer>;
  updateSession(request: UpdateSessionRequest, context?: CallContext): Promise<SessionInfo>;
  deleteSession(sessionId: string, context?: CallContext): Promise<void>;
  step(request: StepRequest, context?: CallContext): Promise<StepAnswer>;
  info(): ServerInfo;
  /** resolves once the service can take requests; rejects with the reason when it never will */
  ready(): Promise<void>;
  close(): Promise<void>;
}
