import protobuf from 'protobufjs/minimal.js';
import { writeBulk } from '../messages/bulk.js';
import { enumShape, type FieldShape, type MessageShape, messageShape } from '../messages/schema.js';
import type { WireTime } from '../messages/wire-message.js';
import { STATIC_CODE } from './static-code.js';

/**
 * Encodes a message as protobuf.
 *
 * @param type message of the contract
 * @param message enums by name or number, 64-bit integers as number, bigint or string of digits, bulk fields as bytes
 *   or typed arrays. A key that is not a field of the message is a programming error and throws.
 * @returns new memory; a large bulk field is copied once
 */
export function encodeMessage(type: string, message: object): Uint8Array {
  const pieces = encodePieces(type, message);
  // A large field has two pieces, head and content, so a single piece was encoded by the library.
  if (pieces.length === 1) return pieces[0]!;
  const bytes = Buffer.allocUnsafeSlow(bytesIn(pieces));
  copyInto(bytes, 0, pieces);
  return bytes;
}

/** Bytes reserved for the report, whose lists are bounded. A longer report costs a copy of the whole message. */
const REPORT_ROOM = 16 * 1024;
/** Bytes reserved for the head of an {@link Enclosure}: at most two small fields. */
const HEAD_ROOM = 64;

/** A message that contains the encoded message as its last field. */
export interface Enclosure {
  /** Its other fields, encoded. */
  readonly before: Uint8Array;
  /** Number of the field that contains the message. */
  readonly fieldNumber: number;
}

/**
 * Encodes a message into one buffer with its `report` last, which contains the time that the other fields took to
 * encode. Protobuf allows fields in any order.
 *
 * @param type message of the contract that has a `report`
 * @param stamp called when everything except the report is encoded
 */
export function encodeReported(
  type: string,
  message: { readonly report: object },
  stamp: () => void,
  enclosure?: Enclosure,
): Buffer {
  const { report, ...rest } = message;
  const pieces = encodePieces(type, rest);
  const restBytes = bytesIn(pieces);
  // Not from Node's pool, and unused bytes are cleared, so that no unrelated data follows the message in memory.
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

/** Encodes a message with the library. */
function encodeSmall(type: string, message: object): Uint8Array {
  return STATIC_CODE[type]!.encode(toStatic(type, message)).finish();
}

/** Converts a message into an object of the library. */
function toStatic(type: string, message: object): object {
  const shape = messageShape(type);
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    const field = shape.byName.get(name);
    if (field?.jsonName !== name) throw new Error(`${type} has no field ${name}.`);
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
  if (number === undefined || !shape.byNumber.has(number)) throw new Error(`${type} has no value ${String(value)}.`);
  return number;
}

/** The halves of the two's complement, which the library accepts without rounding. */
function toLong(value: bigint | number | string): { low: number; high: number } {
  const bits = BigInt.asUintN(64, BigInt(value));
  return { low: Number(bits & 0xffffffffn), high: Number(bits >> 32n) };
}

/**
 * Size from which a bulk field is a separate piece. The writer of the library would copy a large field three times:
 * once to write it, once when its buffer grows, and once when the length of the message needs more bytes than reserved.
 */
const LARGE_BYTES = 4096;

/**
 * Encodes a message as pieces whose concatenation is its wire format, with fields ordered by number as the library
 * does. The pieces of large bulk fields are views of the given arrays.
 */
function encodePieces(type: string, message: object): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let small: Record<string, unknown> = {};
  const flush = () => {
    const bytes = encodeSmall(type, small);
    if (bytes.byteLength > 0) pieces.push(bytes);
    small = {};
  };
  for (const [field, value] of fieldsOf(messageShape(type), message)) {
    const inner = largePieces(field, value);
    if (!inner) {
      small[field.jsonName] = value;
      continue;
    }
    flush();
    pieces.push(lengthDelimited(field.number, bytesIn(inner)), ...inner);
  }
  flush();
  return pieces;
}

function bytesIn(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Tag and length of a length-delimited field. */
function lengthDelimited(fieldNumber: number, byteLength: number): Uint8Array {
  return protobuf.Writer.create()
    .uint32((fieldNumber << 3) | 2)
    .uint32(byteLength)
    .finish();
}

/** The set fields ordered by number. A key that is not a field is a programming error. */
function fieldsOf(shape: MessageShape, message: object): [FieldShape, unknown][] {
  return Object.entries(message)
    .map(([name, value]): [FieldShape, unknown] => {
      const field = shape.byName.get(name);
      if (field?.jsonName !== name) throw new Error(`${shape.name} has no field ${name}.`);
      return [field, value];
    })
    .filter(([, value]) => value !== undefined && value !== null)
    .sort(([a], [b]) => a.number - b.number);
}

/** The content of a field as pieces; undefined if it contains nothing large. */
function largePieces({ kind, isRepeated }: FieldShape, value: unknown) {
  if (isRepeated) return undefined;
  if (kind.of === 'bulk') {
    const view = value as ArrayBufferView;
    return view.byteLength < LARGE_BYTES ? undefined : [writeBulk(view)];
  }
  return kind.of === 'message' && hasLarge(kind.type, value as object)
    ? encodePieces(kind.type, value as object)
    : undefined;
}

function hasLarge(type: string, message: object): boolean {
  const { byName } = messageShape(type);
  return Object.entries(message).some(([name, value]) => {
    const field = byName.get(name);
    if (!field || field.isRepeated || value === undefined || value === null) return false;
    const { kind } = field;
    if (kind.of === 'bulk') return (value as ArrayBufferView).byteLength >= LARGE_BYTES;
    return kind.of === 'message' && hasLarge(kind.type, value as object);
  });
}
