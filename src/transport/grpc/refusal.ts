import { Metadata, type StatusObject } from '@grpc/grpc-js';
import { ERRORS, GRPC_STATUS, type IntersticeError } from '../../contract/errors.js';
import { packageVersion } from '../../paths.js';
import { fromError } from '../answers.js';
import { encodeRpcStatus, shorten } from './rpc-status.js';

export const DETAILS_KEY = 'grpc-status-details-bin';

/**
 * Bytes of the status text. Escaped it grows up to threefold, and with the details (base64) all trailers together must
 * stay under the 8 KiB that C++, Python and Go clients take.
 */
const MAX_TEXT_BYTES = 400;

/** How a call ends that is refused: status, text, and trailers with the whole error. */
export function statusOf(error: IntersticeError, requestId: string): StatusObject {
  const code = GRPC_STATUS[ERRORS[error.code].grpc];
  const message = fromError(error, requestId);
  const metadata = identify(requestId);
  metadata.set(DETAILS_KEY, Buffer.from(encodeRpcStatus(code, message)));
  // Whole seconds, never early.
  if (error.retryAfterSeconds !== undefined) metadata.set('retry-after', String(Math.ceil(error.retryAfterSeconds)));
  return { code, details: shorten(message.message, MAX_TEXT_BYTES), metadata };
}

/** What every answer carries: in its first headers, or with the refusal where there are no others. */
export function identify(requestId: string): Metadata {
  const metadata = new Metadata();
  metadata.set('x-request-id', requestId);
  metadata.set('interstice-version', packageVersion);
  return metadata;
}
