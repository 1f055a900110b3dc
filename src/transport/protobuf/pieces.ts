import protobuf from 'protobufjs/minimal.js';
import { writeBulk } from '../json/bulk.js';
import { type FieldShape, type MessageShape, messageShape } from '../json/schema.js';

/**
 * Bytes from which a bulk field is a piece of its own. The library's writer grows as it goes, and moves what it has when
 * it does and when a message turns out longer than guessed: nothing for small fields, three copies for large ones.
 */
const LARGE_BYTES = 4096;

/** Encodes a message without large fields. */
type EncodeSmall = (type: string, message: object) => Uint8Array;

/**
 * A message as the pieces that end to end are its wire format, fields by their numbers as the library orders them. Large
 * bulk fields are not copied: their pieces are views of the arrays that were given.
 */
export function encodePieces(type: string, message: object, encodeSmall: EncodeSmall): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let small: Record<string, unknown> = {};
  const flush = () => {
    const bytes = encodeSmall(type, small);
    if (bytes.byteLength > 0) pieces.push(bytes);
    small = {};
  };
  for (const [field, value] of fieldsOf(messageShape(type), message)) {
    const inner = largePieces(field, value, encodeSmall);
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

export function bytesIn(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** What stands before the bytes of a field that has them. */
export function lengthDelimited(fieldNumber: number, byteLength: number): Uint8Array {
  return protobuf.Writer.create()
    .uint32((fieldNumber << 3) | 2)
    .uint32(byteLength)
    .finish();
}

/** The fields that are set, in the order of their numbers. A key that is no field is a mistake of this program. */
function fieldsOf(shape: MessageShape, message: object): [FieldShape, unknown][] {
  return Object.entries(message)
    .map(([name, value]): [FieldShape, unknown] => {
      const field = shape.byName.get(name);
      if (field?.jsonName !== name) throw new Error(`${shape.name} has no field ${name}`);
      return [field, value];
    })
    .filter(([, value]) => value !== undefined && value !== null)
    .sort(([a], [b]) => a.number - b.number);
}

/** The content of a field as pieces, where something in it is large. */
function largePieces({ kind, isRepeated }: FieldShape, value: unknown, encodeSmall: EncodeSmall) {
  if (isRepeated) return undefined;
  if (kind.of === 'bulk') {
    const view = value as ArrayBufferView;
    return view.byteLength < LARGE_BYTES ? undefined : [writeBulk(view)];
  }
  return kind.of === 'message' && hasLarge(kind.type, value as object)
    ? encodePieces(kind.type, value as object, encodeSmall)
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
