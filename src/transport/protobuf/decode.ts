import { IntersticeError } from '../../contract/errors.js';
import { type FieldShape, type MessageShape, messageShape } from '../messages/schema.js';
import { MAX_DURATION_SECONDS, type WireMessage, type WireTime, type WireValue } from '../messages/wire-message.js';
import { STATIC_CODE, StrictReader, UnreadField } from './static-code.js';

/**
 * Decodes a protobuf message strictly. Bulk fields are views of `bytes`. Unset fields, and default values of fields
 * without presence, are absent. Enums are numbers; unknown ones are refused where they are converted.
 *
 * @param type message of the contract
 * @param isOwned whether `bytes` has no other users, so that large bulk fields can be moved to aligned addresses
 * @throws MALFORMED_BODY (cut off, a length beyond the end, a wire type that the field does not have, invalid UTF-8, a
 *   duration out of range), NOT_FINITE (of a single number), UNKNOWN_FIELD, TOO_LARGE (more fields than
 *   {@link StrictReader} reads)
 */
export function decodeMessage(type: string, bytes: Uint8Array, isOwned = false): WireMessage {
  const shape = messageShape(type);
  const reader = new StrictReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  let decoded: object;
  try {
    decoded = STATIC_CODE[type]!.decode(reader);
  } catch (thrown) {
    throw refusalOf(thrown, type, reader.pos);
  }
  return toWire(shape, decoded as Record<string, unknown>, '', isOwned);
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
          `${owner}.${field.jsonName} has the wrong wire type ${thrown.wireType}, ${place} of the body.`,
          { cause: thrown, hint: 'Encode the message with a protobuf library and the .proto of this server.' },
        )
      : new IntersticeError(
          'UNKNOWN_FIELD',
          `${owner} has no field with the number ${thrown.fieldNumber}, ${place} of the body.`,
          { cause: thrown, hint: 'This server may be older than the .proto of the caller. Leave the field unset.' },
        );
  }
  const reason = thrown instanceof TypeError ? 'a string is not valid UTF-8' : 'it is cut off, or a length is wrong';
  return new IntersticeError('MALFORMED_BODY', `The body is no valid ${type}: ${reason}, ${place}.`, {
    cause: thrown,
    hint: 'Send the bytes that a protobuf library creates for this message, without a length prefix.',
  });
}

/** Converts an object of the library (prototype with defaults, Long) into a WireMessage. */
function toWire(shape: MessageShape, decoded: Record<string, unknown>, path: string, isOwned: boolean): WireMessage {
  const message: Record<string, WireValue> = {};
  for (const field of shape.fields) {
    if (!Object.hasOwn(decoded, field.jsonName)) continue;
    const value = decoded[field.jsonName];
    const at = path === '' ? field.jsonName : `${path}.${field.jsonName}`;
    if (!field.isRepeated) message[field.jsonName] = toWireValue(field, value, at, isOwned);
    else if ((value as unknown[]).length > 0) {
      message[field.jsonName] = (value as unknown[]).map((item, i) => toWireValue(field, item, `${at}[${i}]`, isOwned));
    }
  }
  return message;
}

function toWireValue(field: FieldShape, value: unknown, path: string, isOwned: boolean): WireValue {
  const kind = field.kind;
  if (kind.of === 'message') return toWire(messageShape(kind.type), value as Record<string, unknown>, path, isOwned);
  if (kind.of === 'bulk' && isOwned) return alignInPlace(value as Uint8Array);
  if (kind.of === 'duration' || kind.of === 'timestamp') return toTime(kind.of, value as object, path);
  if (kind.of === 'scalar' && (kind.type === 'double' || kind.type === 'float'))
    return toFinite(value, kind.type, path);
  return isLong(value) ? toBigInt(value) : (value as WireValue);
}

/** No field of the contract has a meaning for another number; JSON refuses it with the same words. */
function toFinite(value: unknown, type: string, path: string): number {
  if (Number.isFinite(value)) return value as number;
  throw new IntersticeError('NOT_FINITE', `${path} is ${value}, which is not a finite ${type} number.`);
}

/** A 64-bit integer of the library. */
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
  // By definition the parts of a duration have the same sign, and the nanoseconds of a timestamp are not negative.
  const isSignValid = kind === 'duration' ? Math.sign(seconds) * Math.sign(nanos) >= 0 : nanos >= 0;
  if (Math.abs(seconds) <= MAX_DURATION_SECONDS && Math.abs(nanos) < 1e9 && isSignValid) return { seconds, nanos };
  throw new IntersticeError(
    'MALFORMED_BODY',
    `${path} is ${seconds} s and ${nanos} ns, which is not a valid ${kind}.`,
    {
      hint: `Use at most ${MAX_DURATION_SECONDS} s and less than 10^9 ns, both with the same sign.`,
    },
  );
}

/** Element size of most typed arrays of the contract. Fields of doubles are then aligned in half of the cases. */
const ALIGNMENT = 4;

/**
 * Length from which a field may be moved: its tag has one byte and its length three more, so that a move by up to three
 * bytes only overwrites the field's own head, which has been read.
 */
const MIN_MOVED_BYTES = 1 << 14;

/**
 * Moves a large field to the aligned address before it. An unaligned typed array would need a copy, and writing to new
 * memory costs ten times as much as the move.
 *
 * @param field view of a decoded message; invalid after the move
 * @returns the same bytes; if they are large, `byteOffset` is a multiple of {@link ALIGNMENT}
 */
function alignInPlace(field: Uint8Array): Uint8Array {
  const shift = field.byteOffset % ALIGNMENT;
  if (shift === 0 || field.byteLength < MIN_MOVED_BYTES) return field;
  const moved = Buffer.from(field.buffer, field.byteOffset - shift, shift + field.byteLength);
  moved.copyWithin(0, shift);
  return moved.subarray(0, field.byteLength);
}
