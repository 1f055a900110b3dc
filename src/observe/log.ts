import { type DestinationStream, type Logger, pino } from 'pino';
import { packageVersion } from '../paths.js';

export type { Logger } from 'pino';

/**
 * The second line of defence: nobody logs headers, but should a library's error ever carry them, what stands in these
 * never reaches the log.
 */
const SECRET_HEADERS = ['authorization', 'x-api-key', 'cookie', 'proxy-authorization'];
const SECRET_PATHS = ['', '*.', '*.*.'].flatMap((place) =>
  SECRET_HEADERS.map((name) => (place === '' ? `["${name}"]` : `${place.slice(0, -1)}["${name}"]`)),
);

/**
 * The service's own log: one JSON object a line, on standard error so that standard output stays the program's.
 * Lines carry ids, counts, times and codes; payloads and header values never.
 */
export function createLogger(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  return pino(
    {
      level,
      base: { service: 'interstice', version: packageVersion },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_PATHS, censor: '[secret]' },
    },
    destination,
  );
}

/** What is worth keeping of one answered request. */
export interface RequestLine {
  readonly requestId: string;
  /** HTTP's method, or gRPC */
  readonly method: string;
  /** without the query */
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
  /** of the body, as far as it was announced or read */
  readonly bytesIn: number | undefined;
  readonly bytesOut: number | undefined;
  /** code of the refusal */
  readonly code: string | undefined;
  /** whose key was shown */
  readonly tenant?: string | undefined;
}

/** Answers of 500 and above that are no fault of the service: not built, come again later, the caller's own time was up. */
const NO_FAULTS: readonly number[] = [501, 503, 504];

/** Server faults are errors, what the caller can mend is information. */
export function logRequest(log: Logger, line: RequestLine): void {
  const { requestId, method, path, status, code, bytesIn, bytesOut, tenant } = line;
  const ms = Math.round(line.milliseconds * 1000) / 1000;
  const level = status >= 500 && !NO_FAULTS.includes(status) ? 'error' : 'info';
  log[level]({ requestId, method, path, status, ms, bytesIn, bytesOut, code, tenant }, 'request');
}
