import type { Positions } from './mesh.js';
import type { ParametersInput } from './parameters.js';
import type { EngineDescription, Progress } from './report.js';
import type { CheckAnswer, CheckRequest, Priority, ResolveAnswer, ResolveRequest } from './requests.js';
import type {
  CreateSessionRequest,
  ListSessionsAnswer,
  ListSessionsRequest,
  SessionInfo,
  StepAnswer,
  StepRequest,
  UpdateSessionRequest,
} from './sessions.js';

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
export type StateListener = (positions: Positions, at: number) => void;

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
  readonly onState?: StateListener;
}

/** What a door knows of a request of which only the head has come. */
export interface Preflight {
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
  preflight(preflight: Preflight, context?: CallContext): () => void;
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
