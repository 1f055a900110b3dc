import { writeBulk } from '../json/bulk.js';
import { enumShape, type FieldShape, messageShape } from '../json/schema.js';
import type { WireTime } from '../json/wire.js';
import { bytesIn, encodePieces, lengthDelimited } from './pieces.js';
import { STATIC_CODE } from './static-code.js';

/**
 * The wire format of a message.
 *
 * @param type message of the contract
 * @param message enums by name or number, 64-bit integers as number, bigint or string of digits, bulk fields as bytes or as
 *   the typed array itself. A key that is not a field of the message is a mistake of this program and throws.
 * @returns bytes of their own: a large bulk field is copied into them once
 */
export function encodeMessage(type: string, message: object): Uint8Array {
  const pieces = encodePieces(type, message, encodeSmall);
  // A large field never comes alone, without its head: one piece is what the library has written.
  if (pieces.length === 1) return pieces[0]!;
  const bytes = Buffer.allocUnsafeSlow(bytesIn(pieces));
  copyInto(bytes, 0, pieces);
  return bytes;
}

/** Room for the report behind the rest, bytes: its lists are bounded; one that is longer costs a copy of everything. */
const REPORT_ROOM = 16 * 1024;
/** For what {@link Enclosure} puts in front: two small fields at most. */
const HEAD_ROOM = 64;

/** A message around the one that is encoded, in a last field of its own. */
export interface Enclosure {
  /** its other fields, encoded */
  readonly before: Uint8Array;
  /** of the field that the message is in */
  readonly fieldNumber: number;
}

/**
 * A message whose `report` says how long the rest took to encode, and therefore comes last: fields may stand in any order.
 * All of it is written to one buffer.
 *
 * @param type message of the contract that has a `report`
 * @param stamp called when everything but the report is in place
 */
export function encodeReported(
  type: string,
  message: { readonly report: object },
  stamp: () => void,
  enclosure?: Enclosure,
): Buffer {
  const { report, ...rest } = message;
  const pieces = encodePieces(type, rest, encodeSmall);
  const restBytes = bytesIn(pieces);
  // Never from Node's pool, and what the report leaves empty is cleared: nobody else's bytes lie beside the message.
  const room = Buffer.allocUnsafeSlow(HEAD_ROOM + restBytes + REPORT_ROOM);
  copyInto(room, HEAD_ROOM, pieces);
  stamp();
  const last = encodeMessage(type, { report });
  const head = enclosure
    ? Buffer.concat([enclosure.before, lengthDelimited(enclosure.fieldNumber, restBytes + last.byteLength)])
    : Buffer.alloc(0);
  const begin = HEAD_ROOM - head.byteLength;
  const end = HEAD_ROOM + restBytes;
  if (begin < 0 || last.byteLength > REPORT_ROOM) {
    return Buffer.concat([head, room.subarray(HEAD_ROOM, end), last]);
  }
  room.fill(0, 0, begin).set(head, begin);
  room.fill(0, end + last.byteLength).set(last, end);
  return room.subarray(begin, end + last.byteLength);
}

function copyInto(target: Uint8Array, from: number, pieces: readonly Uint8Array[]): void {
  let at = from;
  for (const piece of pieces) {
    target.set(piece, at);
    at += piece.byteLength;
  }
}

/** By the library. */
function encodeSmall(type: string, message: object): Uint8Array {
  return STATIC_CODE[type]!.encode(toStatic(type, message)).finish();
}

/** From our terms into the library's. */
function toStatic(type: string, message: object): object {
  const shape = messageShape(type);
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    const field = shape.byName.get(name);
    if (field?.jsonName !== name) throw new Error(`${type} has no field ${name}`);
    if (value === undefined || value === null) continue;
    result[name] = field.isRepeated
      ? Array.from(value as Iterable<unknown>, (item) => toStaticValue(field, item))
      : toStaticValue(field, value);
  }
  return result;
}

function toStaticValue(field: FieldShape, value: unknown): unknown {
  const kind = field.kind;
  switch (kind.of) {
    case 'message':
      return toStatic(kind.type, value as object);
    case 'enum':
      return enumNumber(kind.type, value);
    case 'duration':
    case 'timestamp':
      return { seconds: toLong((value as WireTime).seconds), nanos: (value as WireTime).nanos };
    case 'bulk':
      return writeBulk(value as ArrayBufferView);
    case 'scalar':
      return kind.type === 'uint64' || kind.type === 'int64' ? toLong(value as bigint | number | string) : value;
  }
}

function enumNumber(type: string, value: unknown): number {
  const shape = enumShape(type);
  const number = typeof value === 'string' ? shape.byName.get(value) : (value as number);
  if (number === undefined || !shape.byNumber.has(number)) throw new Error(`${type} has no value ${String(value)}`);
  return number;
}

/** Halves of the two's complement: the library takes 64-bit integers like this without rounding. */
function toLong(value: bigint | number | string): { low: number; high: number } {
  const bits = BigInt.asUintN(64, BigInt(value));
  return { low: Number(bits & 0xffffffffn), high: Number(bits >> 32n) };
}
