import protobuf from 'protobufjs/minimal.js';
import { encodeMessage } from '../protobuf/codec.js';

/** What the trailer may hold by the contract, in bytes before its base64. */
export const STATUS_DETAILS_BYTES = 4096;

const ERROR_TYPE = 'type.googleapis.com/interstice.v1.Error';

/** The contract's `Error` as plain data, as far as this file must know it. */
interface ErrorMessage {
  readonly message: string;
  readonly hint: string;
  readonly pairs: readonly unknown[];
}

/**
 * google.rpc.Status with the contract's `Error` as its one detail: the bytes of `grpc-status-details-bin`. Of an error
 * that is too long pairs go first, from the end, and then the end of its texts, which is marked; counts stay complete.
 */
export function encodeRpcStatus(code: number, error: ErrorMessage): Uint8Array {
  const withPairs = (kept: number) => encode(code, { ...error, pairs: error.pairs.slice(0, kept) });
  const whole = withPairs(error.pairs.length);
  if (whole.byteLength <= STATUS_DETAILS_BYTES) return whole;
  // The number of pairs lies in [fits, tooMany): bisected, since a refusal should not cost more than its request.
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
  // The message stands in the status and in the error: with the hint three texts of at most 1 KiB, and a few ids.
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

/** Of a length-delimited field. */
const tag = (field: number): number => (field << 3) | 2;

/** At most so many bytes of UTF-8, the end marked when there was more; half a surrogate pair becomes U+FFFD. */
export function shorten(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= maxBytes) return bytes.toString();
  const mark = '…';
  // One character may be cut in two here; its rest decodes to replacement characters, which go.
  const head = bytes.subarray(0, maxBytes - Buffer.byteLength(mark)).toString();
  return `${head.replace(/\uFFFD+$/, '')}${mark}`;
}
