import type { ErrorCode } from './errors.js';
import type { Operations } from './operations.js';
import type { Report } from './report.js';

/** What the session room tells whoever measures it. Plain data, free of ids and payloads: no event names a session. */

/** Operations that answer a caller; `info`, `ready` and `close` are not measured. */
export type OperationName = Exclude<keyof Operations, 'preflight' | 'info' | 'ready' | 'close'>;

/** One call has ended, well or not. */
export interface RequestEvent {
  readonly type: 'request';
  readonly operation: OperationName;
  readonly code: 'OK' | ErrorCode;
  readonly tenant: string;
  /** from receipt (or from the call, where a transport does not say when that was) to the answer */
  readonly seconds: number;
  /** of a resolve or a step that was computed for this call: status, steps, searches, re-use, pairs, timings by phase */
  readonly report?: Report;
  /** a frame that was answered before: nothing was computed */
  readonly isReplay?: boolean;
}

export type SessionChange = 'created' | 'deleted' | 'expired' | 'parked' | 'resumed';

export interface SessionEvent {
  readonly type: 'session';
  readonly change: SessionChange;
  readonly tenant: string;
}

/** What failed: the exact test of a state, the test of a piece of the path, or a number that is not finite. */
export type FindingKind = 'STATE' | 'PATH' | 'NOT_FINITE';

/** The verifier caught the engine; the answer was not sent. */
export interface FindingEvent {
  readonly type: 'finding';
  readonly kind: FindingKind;
  readonly engine: string;
}

/** A thread of the schedule died; another takes its place when there is work. */
export interface WorkerLostEvent {
  readonly type: 'worker-lost';
}

export type OperationEvent = RequestEvent | SessionEvent | FindingEvent | WorkerLostEvent;

/** Called as things happen, on the main thread; what it throws is logged and goes no further. */
export type OperationObserver = (event: OperationEvent) => void;

/** Gauges of this moment. */
export interface OperationStats {
  /** jobs in the queue */
  readonly waiting: number;
  /** jobs on a thread */
  readonly running: number;
  /** open sessions, parked ones included */
  readonly sessions: number;
  readonly parked: number;
  /** bytes that lanes hold for sessions, on devices and on the host: scenes, meshes, states, the verifier's trees */
  readonly residentBytes: number;
  /** bytes that lanes keep for whatever job is next, whosever it is */
  readonly sharedBytes: number;
  /** bytes that the session room holds: meshes, committed states, last requests and answers */
  readonly hostBytes: number;
}

/** Operations that can be looked at: what `createOperations` returns. */
export interface MeasuredOperations extends Operations {
  stats(): OperationStats;
}
