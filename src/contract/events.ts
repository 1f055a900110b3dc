import type { ErrorCode } from './errors.js';
import type { MeasuredOperation } from './operation-table.js';
import type { Operations } from './operations.js';
import type { Report } from './report.js';

/**
 * Events that the operations report to metrics. They are plain data without ids and payloads: no event names a session.
 */

/** One call has ended. */
export interface RequestEvent {
  readonly type: 'request';
  readonly operation: MeasuredOperation;
  readonly code: 'OK' | ErrorCode;
  readonly tenant: string;
  /** From the first byte of the request (from the call, if the transport does not give that time) to the answer. */
  readonly seconds: number;
  /** Present if this call computed a resolve or a step. */
  readonly report?: Report;
  /** Whether the frame had been answered before, so that nothing was computed. */
  readonly isReplay?: boolean;
}

export type SessionChange = 'created' | 'deleted' | 'expired' | 'parked' | 'resumed' | 'loaded' | 'moved';

export interface SessionEvent {
  readonly type: 'session';
  readonly change: SessionChange;
  readonly tenant: string;
}

/** The failed test: the exact test of a state, the test of a path segment, or the test for finite numbers. */
export const FINDING_KINDS = ['STATE', 'PATH', 'NOT_FINITE'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** The verifier refused an answer of the engine; the answer was not sent. */
export interface FindingEvent {
  readonly type: 'finding';
  readonly kind: FindingKind;
  readonly engine: string;
}

/** A worker thread died. It is replaced when there is work. */
export interface WorkerLostEvent {
  readonly type: 'worker-lost';
}

/** The engine of a thread has lost its device. It replaces it, and repeats once what ran there. */
export interface DeviceLostEvent {
  readonly type: 'device-lost';
}

export type OperationEvent = RequestEvent | SessionEvent | FindingEvent | WorkerLostEvent | DeviceLostEvent;

/** Called on the main thread as events happen. An exception is logged and has no other effect. */
export type OperationObserver = (event: OperationEvent) => void;

/** Current values of the gauges. */
export interface OperationStats {
  /** Jobs in the queue. */
  readonly waiting: number;
  /** Jobs on a worker thread. */
  readonly running: number;
  /** Open sessions, including parked ones. */
  readonly sessions: number;
  readonly parked: number;
  /** Bytes that lanes hold for sessions on devices and on the host: scenes, meshes, states, trees of the verifier. */
  readonly residentBytes: number;
  /** Bytes that lanes keep for any next job. */
  readonly sharedBytes: number;
  /** Bytes of host memory for sessions: meshes, committed states, last requests and answers. */
  readonly hostBytes: number;
  /** Jobs of SubmitJob that wait or run. */
  readonly pendingJobs: number;
  /** Jobs that have ended and are kept. */
  readonly endedJobs: number;
  /** Bytes of host memory for these jobs: requests and results. */
  readonly jobBytes: number;
  /** Bytes of the arrays that lanes compute on, including resident proximity sets and recycled memory. */
  readonly workBytes: number;
  /** Bytes of the buffers that lanes hold on the device. */
  readonly deviceBufferBytes: number;
  /** Largest number of scenes that a lane submits together; 1 = each alone, because of the setting or the device. */
  readonly scenesTogether: number;
  /** Counts of what the lanes have submitted to devices for several scenes together. */
  readonly convoy: ConvoyStats;
}

/** Counts since the process began, even across lost threads and devices: they never decrease. */
export interface ConvoyStats {
  readonly submissions: number;
  /** of scenes, in these submissions */
  readonly parts: number;
  /** submitted; below, the dispatches of single scenes that they replaced */
  readonly dispatches: number;
  readonly launches: number;
  /** ms that scenes have waited to be submitted, summed over all scenes */
  readonly waited: number;
  /** submissions of more than 2^(k−1) and at most 2^k scenes, by k */
  readonly sizes: readonly number[];
  readonly alone: ScenesAlone;
}

/** Number of scenes that were opened to submit alone where others submit together, by the reason. */
export interface ScenesAlone {
  /** meshes with too many vertices */
  readonly size: number;
  readonly strainLimits: number;
  /** small meshes for which there are too many scenes already */
  readonly scenes: number;
  /** small meshes for which the buffers that scenes share have no memory */
  readonly memory: number;
}

/** Operations with gauges, as `createOperations` returns them. */
export interface MeasuredOperations extends Operations {
  stats(): OperationStats;
}
