import { IntersticeError } from '../../contract/errors.js';
import { LONGEST_DURATION_SECONDS } from '../json/scalars.js';
import { type FieldShape, type MessageShape, messageShape } from '../json/schema.js';
import type { WireMessage, WireTime, WireValue } from '../json/wire.js';
import { alignInPlace } from './align.js';
import { StrictReader, UnreadField } from './reader.js';
import { STATIC_CODE } from './static-code.js';

/**
 * Reads one message of the wire format, strictly. Bulk fields are views of `bytes`: they keep it in memory as long as
 * they are held. Fields that were not sent, or hold a default without presence, are absent. Enums are numbers, unknown
 * ones included: who reads them knows their path.
 *
 * @param type message of the contract
 * @param isOwn nobody else looks at `bytes`, now or later: large bulk fields are moved to where typed arrays can lie
 * @throws MALFORMED_BODY (cut off, a length beyond the end, a wire type that the field does not have, invalid UTF-8, a
 *   duration out of range), UNKNOWN_FIELD, TOO_LARGE (more fields than {@link StrictReader} reads)
 */
export function decodeMessage(type: string, bytes: Uint8Array, isOwn = false): WireMessage {
  const shape = messageShape(type);
  const reader = new StrictReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  let decoded: object;
  try {
    decoded = STATIC_CODE[type]!.decode(reader);
  } catch (thrown) {
    throw refusalOf(thrown, type, reader.pos);
  }
  return toWire(shape, decoded as Record<string, unknown>, '', isOwn);
}

function refusalOf(thrown: unknown, type: string, offset: number): IntersticeError {
  if (thrown instanceof IntersticeError) return thrown;
  const place = `at or before byte ${offset}`;
  if (thrown instanceof UnreadField) {
    const owner = thrown.owner ?? type;
    const field = messageShape(owner).fields.find(({ number }) => number === thrown.fieldNumber);
    return field
      ? new IntersticeError(
          'MALFORMED_BODY',
          `${owner}.${field.jsonName} has wire type ${thrown.wireType}, which this field never has, ${place} of the body.`,
          { cause: thrown, hint: 'Encode the message with a protobuf library and the .proto of this server.' },
        )
      : new IntersticeError(
          'UNKNOWN_FIELD',
          `${owner} has no field with the number ${thrown.fieldNumber}, ${place} of the body.`,
          { cause: thrown, hint: 'This server may be older than the .proto of the caller: leave the field unset.' },
        );
  }
  const reason = thrown instanceof TypeError ? 'a string is not valid UTF-8' : 'it is cut off, or a length is wrong';
  return new IntersticeError('MALFORMED_BODY', `The body is no valid ${type}: ${reason}, ${place}.`, {
    cause: thrown,
    hint: 'Send the bytes that a protobuf library makes of this message, with no length or frame around them.',
  });
}

/** From the library's terms (prototypes full of defaults, Long) into ours. */
function toWire(shape: MessageShape, decoded: Record<string, unknown>, path: string, isOwn: boolean): WireMessage {
  const message: Record<string, WireValue> = {};
  for (const field of shape.fields) {
    if (!Object.hasOwn(decoded, field.jsonName)) continue;
    const value = decoded[field.jsonName];
    const at = path === '' ? field.jsonName : `${path}.${field.jsonName}`;
    if (!field.isRepeated) message[field.jsonName] = toWireValue(field, value, at, isOwn);
    else if ((value as unknown[]).length > 0) {
      message[field.jsonName] = (value as unknown[]).map((item, i) => toWireValue(field, item, `${at}[${i}]`, isOwn));
    }
  }
  return message;
}

function toWireValue(field: FieldShape, value: unknown, path: string, isOwn: boolean): WireValue {
  const kind = field.kind;
  if (kind.of === 'message') return toWire(messageShape(kind.type), value as Record<string, unknown>, path, isOwn);
  if (kind.of === 'bulk' && isOwn) return alignInPlace(value as Uint8Array);
  if (kind.of === 'duration' || kind.of === 'timestamp') return toTime(kind.of, value as object, path);
  return isLong(value) ? toBigInt(value) : (value as WireValue);
}

/** A 64-bit integer as the library hands it out. */
interface Long {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

const isLong = (value: unknown): value is Long => typeof value === 'object' && value !== null && 'unsigned' in value;

function toBigInt({ low, high, unsigned }: Long): bigint {
  const bits = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  return unsigned ? bits : BigInt.asIntN(64, bits);
}

function toTime(kind: 'duration' | 'timestamp', time: { seconds?: unknown; nanos?: number }, path: string): WireTime {
  const seconds = isLong(time.seconds) ? Number(toBigInt(time.seconds)) : 0;
  const nanos = time.nanos ?? 0;
  // By their definitions: a duration's parts have one sign, a timestamp's nanoseconds always count forward.
  const isOneWay = kind === 'duration' ? Math.sign(seconds) * Math.sign(nanos) >= 0 : nanos >= 0;
  if (Math.abs(seconds) <= LONGEST_DURATION_SECONDS && Math.abs(nanos) < 1e9 && isOneWay) return { seconds, nanos };
  throw new IntersticeError('MALFORMED_BODY', `${path} is ${seconds} s and ${nanos} ns, which is no valid ${kind}.`, {
    hint: `At most ${LONGEST_DURATION_SECONDS} s, less than 10^9 ns, and both of one sign.`,
  });
}
