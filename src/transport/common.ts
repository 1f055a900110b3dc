import { randomUUID } from 'node:crypto';
import type { Operations } from '../contract/operations.js';
import type { Logger, RequestLine } from '../observe/log.js';
import type { Authenticate } from './auth/keyring.js';
import type { BrowserGuard } from './browser-guard.js';
import type { ArrivalTimes } from './intake/arrival.js';
import type { BodyLedger } from './intake/body-ledger.js';
import type { ConnectionCap } from './intake/connection-cap.js';
import type { DiscardLimits } from './intake/discarding.js';
import type { ServiceState } from './service-state.js';

/** Options that the HTTP and the gRPC server share. */
export interface TransportOptions {
  readonly operations: Operations;
  readonly state: ServiceState;
  /** Largest request body or message in bytes; gRPC: before and after decompression. */
  readonly maxMessageBytes: number;
  /** The memory of request bodies; both servers share it. */
  readonly bodies: BodyLedger;
  /** The connections of both servers; absent = no limit. */
  readonly connections?: ConnectionCap | undefined;
  /** Called with every error of a listening server, which would otherwise end the process. */
  readonly onServerError?: ((error: Error) => void) | undefined;
  /** Default: ARRIVAL_TIMES of src/transport/intake. Tests shorten them. */
  readonly arrivalTimes?: ArrivalTimes;
  /** Default: DISCARD_LIMITS of src/transport/intake. Tests lower them. */
  readonly discardLimits?: DiscardLimits;
  /** ms without progress after which an unread answer is abandoned; default ANSWER_STALL_MS. Tests shorten it. */
  readonly answerStallMs?: number;
  readonly log: Logger;
  /** Absent on a service without API keys. */
  readonly authenticate?: Authenticate | undefined;
  /** Absent: every host and origin is served. */
  readonly guard?: BrowserGuard | undefined;
  /** Called for every answer, including refusals. Metrics use it. */
  readonly onAnswered?: ((line: RequestLine) => void) | undefined;
}

/** Time that a request body may take to arrive: a slow upload must not hold its place indefinitely. */
export const UPLOAD_TIMEOUT_MS = 300_000;

/** Request ids that are safe in a log line and in a header. */
const SAFE_ID = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

/** @param given the caller's own id, which is kept if it is safe */
export const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && SAFE_ID.test(given) ? given : randomUUID();
