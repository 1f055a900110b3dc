import { IntersticeError } from '../../contract/errors.js';
import type { Logger } from '../../observe/log.js';

/** What nobody foresaw is logged with its cause; the caller gets only the request id. */
export function logFault(log: Logger, requestId: string, thrown: unknown): void {
  if (IntersticeError.from(thrown).code === 'INTERNAL') log.error({ requestId, err: thrown }, 'request failed');
}
