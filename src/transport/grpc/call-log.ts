import { ERRORS } from '../../contract/errors.js';
import { logRequest, type RequestLine } from '../../observe/log.js';
import type { GrpcOptions } from './options.js';
import type { Visit } from './visit.js';

/** One line a call, in the shape of the HTTP door's; the status is what HTTP would have said. */
export function logCall({ log, onAnswered }: Pick<GrpcOptions, 'log' | 'onAnswered'>, visit: Visit): void {
  const { requestId, path, receivedAt, bytesIn, bytesOut, outcome } = visit;
  const code = outcome === 'OK' ? undefined : outcome;
  const line: RequestLine = {
    requestId,
    method: 'gRPC',
    path,
    status: code === undefined ? 200 : ERRORS[code].http,
    milliseconds: performance.now() - receivedAt,
    bytesIn,
    bytesOut,
    code,
    tenant: visit.caller?.tenant,
  };
  logRequest(log, line);
  onAnswered?.(line);
}
