import { type DestinationStream, type Logger, pino } from 'pino';
import { IntersticeError } from '../contract/errors.js';
import { packageVersion } from '../paths.js';
import { LogSink } from './log-sink.js';

export type { Logger } from 'pino';

/** Headers whose values are redacted. The service logs no headers, but an error of a library might carry them. */
const SECRET_HEADERS = ['authorization', 'x-api-key', 'cookie', 'proxy-authorization'];
const SECRET_PATHS = ['', '*.', '*.*.'].flatMap((place) =>
  SECRET_HEADERS.map((name) => (place === '' ? `["${name}"]` : `${place.slice(0, -1)}["${name}"]`)),
);

/**
 * The log of the service: one JSON object per line on standard error. Lines contain ids, counts, times and codes, never
 * payloads or header values.
 */
export function createLogger(level: string, destination: DestinationStream = new LogSink()): Logger {
  const log = pino(
    {
      level,
      base: { service: 'interstice', version: packageVersion },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_PATHS, censor: '[secret]' },
    },
    destination,
  );
  // Logged as an error so that every level includes it: the lost lines may have been errors.
  if (destination instanceof LogSink) {
    destination.onRecovered = (lost) => log.error({ event: 'log-lines-lost', lost }, 'Lines of this log were lost.');
  }
  return log;
}

/** One answered request. */
export interface RequestLine {
  readonly requestId: string;
  /** HTTP method, or "gRPC". */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
  /** Size of the body, if announced or read. */
  readonly bytesIn: number | undefined;
  readonly bytesOut: number | undefined;
  /** Error code; undefined for a successful answer. */
  readonly code: string | undefined;
  readonly tenant?: string | undefined;
}

/**
 * Statuses of 500 and above that are not faults of the service: not implemented, unavailable for now, the caller's
 * deadline.
 */
const EXPECTED_STATUSES: readonly number[] = [501, 503, 504];

/** Logs faults of the service as errors and everything else as information. */
export function logRequest(log: Logger, line: RequestLine): void {
  const { requestId, method, path, status, code, bytesIn, bytesOut, tenant } = line;
  const ms = Math.round(line.milliseconds * 1000) / 1000;
  const level = status >= 500 && !EXPECTED_STATUSES.includes(status) ? 'error' : 'info';
  log[level]({ requestId, method, path, status, ms, bytesIn, bytesOut, code, tenant }, 'Request completed.');
}

/** Logs an unexpected exception with its cause; the caller only gets the request id. */
export function logFault(log: Logger, requestId: string, thrown: unknown): void {
  if (IntersticeError.from(thrown).code === 'INTERNAL') log.error({ requestId, err: thrown }, 'Request failed.');
}
