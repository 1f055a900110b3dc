import type { JobInfo, JobPhase } from './long-jobs.js';
import type { Positions } from './mesh.js';
import type { PreflightOperation } from './operation-table.js';
import type { StateOrigin } from './path.js';
import type { Progress } from './report.js';
import type { Priority } from './requests.js';
import type { UntangleProgress } from './untangle.js';

/** An authenticated caller. */
export interface Caller {
  readonly tenant: string;
  /** A request for a higher priority gets this one. */
  readonly maxPriority: Priority;
}

/**
 * Receives every state of a resolve's path. `at` is the index of the state in the path, 0 for the start. It grows by
 * one with each call, except after the solver has discarded states: then the replacement has the index of the first
 * discarded state, and that state and all later ones are void. `origin` is absent if a state is reported again.
 */
export type StateListener = (positions: Positions, at: number, origin?: StateOrigin) => void;

/** The data of one call that a transport knows. */
export interface CallContext {
  /** Absent on a service without API keys: then all calls belong to one tenant and may use any priority. */
  readonly caller?: Caller | undefined;
  /** Identifies the call in logs and traces. */
  readonly requestId?: string | undefined;
  /** Reads a header (gRPC: metadata) of the call by its lower-case name. Tracing takes the parent span from it. */
  readonly header?: ((name: string) => string | undefined) | undefined;
  /** Aborted when the caller disconnects: the computation stops at the next step and the call ends with CANCELLED. */
  readonly signal?: AbortSignal;
  /** Whether the operation owns the arrays of the request, and may keep them instead of copying them. */
  readonly isHandedOver?: boolean;
  /** performance.now() at the first byte of the request; the time budget starts here. */
  readonly receivedAt?: number;
  /**
   * Called when the request begins to wait, with a function that counts the requests before it; again if it waits
   * elsewhere.
   */
  readonly onQueued?: (countAhead: () => number) => void;
  /**
   * Called at most once, when a thread begins with the request; `isUnderWay`: it had begun for another call, in whatever
   * phase it is.
   */
  readonly onStart?: (isUnderWay?: boolean) => void;
  /** Called when a thread begins another phase of the request. */
  readonly onPhase?: (phase: JobPhase) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** The same for an untangling. */
  readonly onUntangleProgress?: (progress: UntangleProgress) => void;
  /** Receives the job that the call watches, at every change until it ends. */
  readonly onJob?: (job: JobInfo) => void;
  /** Receives the states of the path in the scalar type of the answer, start first and answer last. */
  readonly onState?: StateListener;
}

/** Facts about a request that a transport knows before the body has arrived. */
export interface Preflight {
  readonly operation: PreflightOperation;
  /** Absent if the head of the request does not name a session. */
  readonly sessionId?: string | undefined;
  /** Size of the body; absent if the head of the request does not announce it. */
  readonly bytes?: number | undefined;
}
