import { writeBulk } from '../json/bulk.js';
import { enumShape, type FieldShape, messageShape } from '../json/schema.js';
import type { WireTime } from '../json/wire.js';
import { STATIC_CODE } from './static-code.js';

/**
 * The wire format of a message.
 *
 * @param type message of the contract
 * @param message enums by name or number, 64-bit integers as number, bigint or string of digits, bulk fields as bytes or as
 *   the typed array itself. A key that is not a field of the message is a mistake of this program and throws.
 * @returns bytes of their own: every bulk field is copied into them once
 */
export function encodeMessage(type: string, message: object): Uint8Array {
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
