import { IntersticeError } from '../../contract/errors.js';
import { packNumbers } from '../messages/bulk.js';
import { type EnumShape, enumShape, type FieldShape, type MessageShape, messageShape } from '../messages/schema.js';
import { MAX_FIELDS, type WireMessage, type WireValue } from '../messages/wire-message.js';
import { decodeBase64, decodeDuration, decodeScalar, decodeTimestamp, nameOf, show } from './scalars.js';

/** A decoded message, and whether it contains bulk fields as arrays of numbers (then the answer uses arrays too). */
export interface DecodedJson {
  readonly message: WireMessage;
  readonly usedArrays: boolean;
}

interface Progress {
  usedArrays: boolean;
}

const NONE: readonly string[] = [];

/**
 * Decodes a message from the proto3 JSON mapping strictly: unknown fields are refused with their path, never dropped.
 * Both spellings of a name are accepted; `null` means unset.
 *
 * @param typeName message of the contract, or `Options`
 * @param value result of JSON.parse
 * @param path prefix of the paths in error messages; empty at the root
 * @param unsupported fields of this message that the caller refuses, so that no hint suggests them
 * @throws UNKNOWN_FIELD, MALFORMED_BODY (type, range, base64, two members of a oneof), NOT_FINITE,
 *   INVALID_PARAMETER (unknown enum value), SIZE_MISMATCH, TOO_LARGE (a list of more than {@link MAX_FIELDS} strings)
 */
export function decodeJson(typeName: string, value: unknown, path = '', unsupported = NONE): DecodedJson {
  const progress: Progress = { usedArrays: false };
  const message = decodeMessage(messageShape(typeName), value, path, progress, unsupported);
  return { message, usedArrays: progress.usedArrays };
}

function decodeMessage(
  shape: MessageShape,
  value: unknown,
  path: string,
  progress: Progress,
  unsupported = NONE,
): WireMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new IntersticeError(
      'MALFORMED_BODY',
      `${path === '' ? 'The body' : path} is ${show(value)}, expected an object (${shape.name}).`,
    );
  }
  const given = collectFields(shape, value as Record<string, unknown>, path, unsupported);
  const message: Record<string, WireValue> = {};
  for (const [field, { key, entry }] of given) {
    const at = nameOf(path, key);
    const kind = field.kind;
    if (kind.of === 'bulk') {
      const element = kind.element === 'scalar' ? scalarBeside(given, path) : kind.element;
      if (Array.isArray(entry)) {
        progress.usedArrays = true;
        message[field.jsonName] = packNumbers(entry, element, at);
      } else {
        message[field.jsonName] = decodeBase64(entry, at);
      }
    } else if (field.isRepeated) {
      if (!Array.isArray(entry)) {
        throw new IntersticeError('MALFORMED_BODY', `${at} is ${show(entry)}, expected an array.`);
      }
      refuseManyStrings(field, entry, at);
      message[field.jsonName] = entry.map((item, i) => decodeOne(field, item, `${at}[${i}]`, progress));
    } else {
      message[field.jsonName] = decodeOne(field, entry, at, progress);
    }
  }
  return message;
}

/** Objects in lists were counted with the text, and numbers in lists are sent between threads as one array. */
function refuseManyStrings({ kind }: FieldShape, list: readonly unknown[], path: string): void {
  if (kind.of !== 'scalar' || kind.type !== 'string' || list.length <= MAX_FIELDS) return;
  throw new IntersticeError('TOO_LARGE', `${path} has ${list.length} entries; the limit is ${MAX_FIELDS}.`);
}

/** The set fields. Refuses unknown names, duplicate fields and two members of a oneof. */
function collectFields(
  shape: MessageShape,
  value: Record<string, unknown>,
  path: string,
  unsupported: readonly string[],
): Map<FieldShape, { key: string; entry: unknown }> {
  const given = new Map<FieldShape, { key: string; entry: unknown }>();
  const members = new Map<string, string>();
  for (const key of Object.keys(value)) {
    const field = shape.byName.get(key);
    if (!field) refuseUnknown(shape, key, path, unsupported);
    const earlier = given.get(field);
    if (earlier) {
      throw new IntersticeError(
        'MALFORMED_BODY',
        `${nameOf(path, key)} and ${nameOf(path, earlier.key)} are the same field. Set it once.`,
      );
    }
    const entry = value[key];
    if (entry === null) continue;
    if (field.oneof !== undefined) {
      const other = members.get(field.oneof);
      if (other !== undefined) {
        throw new IntersticeError(
          'MALFORMED_BODY',
          `${nameOf(path, other)} and ${nameOf(path, key)} are mutually exclusive. Set one of them.`,
        );
      }
      members.set(field.oneof, key);
    }
    given.set(field, { key, entry });
  }
  return given;
}

function decodeOne(field: FieldShape, value: unknown, path: string, progress: Progress): WireValue {
  const kind = field.kind;
  switch (kind.of) {
    case 'message':
      return decodeMessage(messageShape(kind.type), value, path, progress);
    case 'enum':
      return decodeEnum(enumShape(kind.type), value, path);
    case 'duration':
      return decodeDuration(value, path);
    case 'timestamp':
      return decodeTimestamp(value, path);
    case 'bulk':
      return decodeBase64(value, path);
    case 'scalar':
      return decodeScalar(kind.type, value, path);
  }
}

function decodeEnum(shape: EnumShape, value: unknown, path: string): number {
  if (typeof value === 'string') {
    const number = shape.byName.get(value);
    if (number !== undefined) return number;
  } else if (typeof value === 'number') {
    if (shape.byNumber.has(value)) return value;
  } else {
    throw new IntersticeError('MALFORMED_BODY', `${path} is ${show(value)}, expected a name (${shape.name}).`);
  }
  const names = [...shape.byName].filter(([, number]) => number !== 0).map(([name]) => name);
  throw new IntersticeError('INVALID_PARAMETER', `${path} is ${show(value)}, expected one of ${names.join(', ')}.`);
}

/** Element type of `Positions.data` by its sibling `scalar`; 0 and unset mean FLOAT32. */
function scalarBeside(given: ReadonlyMap<FieldShape, { key: string; entry: unknown }>, path: string) {
  for (const [field, { key, entry }] of given) {
    if (field.name !== 'scalar' || field.kind.of !== 'enum') continue;
    const shape = enumShape(field.kind.type);
    return decodeEnum(shape, entry, nameOf(path, key)) === shape.byName.get('FLOAT64') ? 'float64' : 'float32';
  }
  return 'float32';
}

function refuseUnknown(shape: MessageShape, key: string, path: string, unsupported: readonly string[]): never {
  const plain = (name: string) => name.replaceAll('_', '').toLowerCase();
  const fields = shape.fields.filter(({ jsonName }) => !unsupported.includes(jsonName));
  const meant = fields.find((field) => plain(field.name) === plain(key));
  const known = fields.map((field) => field.jsonName).join(', ');
  throw new IntersticeError(
    'UNKNOWN_FIELD',
    `${nameOf(path, key.length > 100 ? `${key.slice(0, 100)}…` : key)} is not a field of ${shape.name}.`,
    {
      hint: meant
        ? `Did you mean ${meant.jsonName}? Names are case-sensitive.`
        : known === ''
          ? 'This message has no fields.'
          : `Known fields: ${known}.`,
    },
  );
}
