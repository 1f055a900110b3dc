import { type ElementType, readBulk, writeBulk } from '../messages/bulk.js';
import { enumShape, type FieldShape, messageShape } from '../messages/schema.js';
import type { WireMessage, WireTime } from '../messages/wire-message.js';
import { encodeDuration, encodeTimestamp } from './scalars.js';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  [name: string]: JsonValue;
}

export interface EncodeOptions {
  /** Whether bulk fields are arrays of numbers instead of base64. */
  readonly arrays: boolean;
}

/**
 * Encodes a message in the proto3 JSON mapping with all defaults: scalars, enums and lists are always present, messages
 * and `optional` fields only if they are set.
 *
 * @param message enums by name or number, 64-bit integers as number, bigint or string, bulk fields as bytes or typed
 *   arrays. A key that is not a field of the message is a programming error and throws.
 */
export function encodeJson(typeName: string, message: object, options: EncodeOptions): JsonObject {
  const shape = messageShape(typeName);
  const source = message as WireMessage;
  for (const key of Object.keys(source)) {
    if (shape.byName.get(key)?.jsonName !== key) throw new Error(`${typeName} has no field ${key}.`);
  }
  const result: JsonObject = {};
  for (const field of shape.fields) {
    const value: unknown = source[field.jsonName];
    const isUnset = value === undefined || value === null;
    if (isUnset && field.hasPresence) continue;
    if (field.isRepeated) {
      const items = isUnset ? [] : [...(value as Iterable<unknown>)];
      result[field.jsonName] = items.map((item) => encodeOne(field, item, source, options));
    } else {
      result[field.jsonName] = encodeOne(field, isUnset ? defaultOf(field) : value, source, options);
    }
  }
  return result;
}

function defaultOf(field: FieldShape): unknown {
  const kind = field.kind;
  if (kind.of === 'bulk') return new Uint8Array(0);
  if (kind.of !== 'scalar') return 0;
  if (kind.type === 'string') return '';
  return kind.type === 'bool' ? false : 0;
}

function encodeOne(field: FieldShape, value: unknown, message: WireMessage, options: EncodeOptions): JsonValue {
  const kind = field.kind;
  switch (kind.of) {
    case 'message':
      return encodeJson(kind.type, value as object, options);
    case 'enum': {
      const shape = enumShape(kind.type);
      const name = typeof value === 'string' ? value : shape.byNumber.get(value as number);
      if (name === undefined || !shape.byName.has(name)) throw new Error(`${kind.type} has no value ${String(value)}.`);
      return name;
    }
    case 'duration':
      return encodeDuration(value as WireTime);
    case 'timestamp':
      return encodeTimestamp(value as WireTime);
    case 'bulk':
      return encodeBulk(kind.element === 'scalar' ? scalarOf(message) : kind.element, value, options);
    case 'scalar':
      if (kind.type === 'uint64' || kind.type === 'int64') return String(value);
      if (typeof value === 'number') return encodeNumber(value);
      return value as JsonValue;
  }
}

/** JSON has no NaN and no infinity; the mapping encodes them as strings. */
function encodeNumber(value: number): JsonValue {
  return Number.isFinite(value) ? value : String(value);
}

function scalarOf(message: WireMessage): ElementType {
  const scalar = message.scalar;
  return scalar === 'FLOAT64' || scalar === enumShape('Scalar').byName.get('FLOAT64') ? 'float64' : 'float32';
}

function encodeBulk(element: ElementType, value: unknown, options: EncodeOptions): JsonValue {
  const bytes = writeBulk(value as ArrayBufferView);
  if (!options.arrays) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return Array.from(readBulk(bytes, element, 'bulk field'), encodeNumber);
}
