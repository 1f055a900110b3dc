import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs/minimal.js';
import { ERRORS, GRPC_STATUS, IntersticeError } from '../../contract/errors.js';
import { packageVersion } from '../../paths.js';
import { fromError } from '../messages/answers.js';
import { encodeMessage } from '../protobuf/encode.js';

/** Errors as gRPC statuses with details, and statuses of the library as errors. */

/** Trailer with the `google.rpc.Status` of a failed call. */
export const DETAILS_KEY = 'grpc-status-details-bin';

/** Largest value of that trailer by the contract, bytes before base64. */
export const STATUS_DETAILS_BYTES = 4096;

/**
 * Largest status text, bytes. Escaping may triple it, and with the details in base64 all trailers together must stay
 * below the 8 KiB that C++, Python and Go clients accept.
 */
const MAX_TEXT_BYTES = 400;

const ERROR_TYPE = 'type.googleapis.com/interstice.v1.Error';

/** Status, text and trailers of a call that ends with an error. */
export function statusOf(error: IntersticeError, requestId: string): StatusObject {
  const code = GRPC_STATUS[ERRORS[error.code].grpc];
  const message = fromError(error, requestId);
  const metadata = identify(requestId);
  metadata.set(DETAILS_KEY, Buffer.from(encodeRpcStatus(code, message)));
  // Whole seconds, rounded up.
  if (error.retryAfterSeconds !== undefined) metadata.set('retry-after', String(Math.ceil(error.retryAfterSeconds)));
  return { code, details: shorten(message.message, MAX_TEXT_BYTES), metadata };
}

/** The metadata of every answer; an error without initial metadata has it in its trailers. */
export function identify(requestId: string): Metadata {
  const metadata = new Metadata();
  metadata.set('x-request-id', requestId);
  metadata.set('interstice-version', packageVersion);
  return metadata;
}

/** The fields of the contract's `Error` that this file reads. */
interface ErrorMessage {
  readonly message: string;
  readonly hint: string;
  readonly pairs: readonly unknown[];
}

/**
 * `google.rpc.Status` with the contract's `Error` as its only detail. If it exceeds {@link STATUS_DETAILS_BYTES}, pairs
 * are dropped from the end, then the texts are shortened; counts stay complete.
 */
export function encodeRpcStatus(code: number, error: ErrorMessage): Uint8Array {
  const withPairs = (kept: number) => encode(code, { ...error, pairs: error.pairs.slice(0, kept) });
  const whole = withPairs(error.pairs.length);
  if (whole.byteLength <= STATUS_DETAILS_BYTES) return whole;
  // Bisection over the number of pairs in [fits, tooMany): an error must not cost more than its request.
  let best: Uint8Array | undefined;
  for (let fits = 0, tooMany = error.pairs.length; fits < tooMany; ) {
    const kept = (fits + tooMany) >> 1;
    const bytes = withPairs(kept);
    if (bytes.byteLength <= STATUS_DETAILS_BYTES) {
      best = bytes;
      fits = kept + 1;
    } else tooMany = kept;
  }
  if (best) return best;
  // The message occurs twice (status and error); with the hint these are three texts of at most 1 KiB, and a few ids.
  const [message, hint] = [shorten(error.message, 1024), shorten(error.hint, 1024)];
  return encode(code, { ...error, message, hint, pairs: [] });
}

function encode(code: number, error: ErrorMessage): Uint8Array {
  const detail = protobuf.Writer.create()
    .uint32(tag(1))
    .string(ERROR_TYPE)
    .uint32(tag(2))
    .bytes(encodeMessage('Error', error))
    .finish();
  return protobuf.Writer.create()
    .uint32(8) // field 1, a varint
    .int32(code)
    .uint32(tag(2))
    .string(error.message)
    .uint32(tag(3))
    .bytes(detail)
    .finish();
}

/** Tag of a length-delimited field. */
const tag = (field: number): number => (field << 3) | 2;

/** Shortens a text to at most `maxBytes` of UTF-8 with an ellipsis; a lone surrogate becomes U+FFFD. */
export function shorten(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= maxBytes) return bytes.toString();
  const mark = '…';
  // The cut may split a character; its bytes decode to replacement characters, which are removed.
  const head = bytes.subarray(0, maxBytes - Buffer.byteLength(mark)).toString();
  return `${head.replace(/\uFFFD+$/, '')}${mark}`;
}

/** A status that the library created. */
export interface LibraryStatus {
  readonly code?: number | null;
  readonly details?: string | null;
}

/**
 * The error for a status of the library, which reports size, compression and time limits in its own codes. Its texts
 * are used only where its code INTERNAL may mean a broken request or a fault of the service.
 */
export function errorOfLibrary({ code, details }: LibraryStatus, maxMessageBytes: number): IntersticeError {
  const text = details ?? '';
  switch (code) {
    case status.RESOURCE_EXHAUSTED:
      return new IntersticeError('TOO_LARGE', `A message may have ${maxMessageBytes} bytes. ${text}.`, {
        hint: 'Send less, or raise INTERSTICE_MAX_MESSAGE_BYTES. The limit also applies after decompression.',
      });
    case status.DEADLINE_EXCEEDED:
      return deadlineExceeded();
    case status.UNIMPLEMENTED:
      // gRPC prescribes this code for an unknown encoding; the library also uses it for a wrong number of messages.
      return /encoding/.test(text)
        ? new IntersticeError('UNIMPLEMENTED', `${text}.`, { hint: 'Send messages uncompressed, or as gzip.' })
        : new IntersticeError('MALFORMED_BODY', `${text}.`, { hint: 'This method takes exactly one message.' });
    default:
      return isAboutMessage(text) || /grpc-timeout/.test(text)
        ? new IntersticeError('MALFORMED_BODY', `${text}.`, { hint: 'Use a gRPC library to make the call.' })
        : new IntersticeError('INTERNAL', text || 'The call failed.', { cause: code });
  }
}

/** Whether a text of the library reports a message that cannot be unpacked or decoded. */
export const isAboutMessage = (text: string | null | undefined): boolean => /decompress|deserializ/.test(text ?? '');

export function deadlineExceeded(): IntersticeError {
  return new IntersticeError('DEADLINE_EXCEEDED', 'The deadline of the call passed before there was an answer.', {
    hint: 'Allow more time, or set a time_budget below the deadline with RETURN_SAFE.',
  });
}

/** The caller has ended its half of the call before its last message was complete. */
export function cutOff(): IntersticeError {
  return new IntersticeError('MALFORMED_BODY', 'The call ended within a message.', {
    hint: 'Send every message whole, as its length prefix announces it. The incomplete message was not read.',
  });
}
