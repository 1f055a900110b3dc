import { IntersticeError } from '../contract/errors.js';
import { readBulk } from '../transport/messages/bulk.js';
import { type FieldShape, messageShape } from '../transport/messages/schema.js';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields of which every answer of the service has one. With defaults alone, any JSON object would be an answer. */
const ALWAYS_SENT: Readonly<Record<string, readonly string[]>> = {
  CheckResponse: ['intersectionFree'],
  DiagnoseResponse: ['accepted'],
  ResolveResponse: ['positions', 'untangle'],
  StepResponse: ['positions'],
  UntangleResponse: ['positions'],
  Session: ['id'],
  Job: ['id'],
};

/**
 * Decodes a service's JSON answer to the plain data of the contract: 64-bit counts as numbers, enums by name, bulk
 * fields as typed arrays, defaults filled in. Every known field must have its type; unknown fields of a newer service
 * are ignored.
 *
 * @throws INTERNAL if a field does not have the type that the contract states, or one is missing that is always sent:
 *   the server is not an Interstice service
 */
export function decodeAnswer(typeName: string, value: unknown, path = 'answer'): unknown {
  if (!isObject(value)) throw mismatch(path, 'an object');
  if (ALWAYS_SENT[typeName]?.every((name) => value[name] === undefined) === true)
    throw mismatch(path, `the message ${typeName}`);
  const entries: [string, unknown][] = [];
  for (const field of messageShape(typeName).fields) {
    const sent = value[field.jsonName];
    const where = `${path}.${field.jsonName}`;
    if (field.isRepeated) {
      if (sent !== undefined && !Array.isArray(sent)) throw mismatch(where, 'a list');
      const items: readonly unknown[] = sent ?? [];
      entries.push([field.jsonName, items.map((item, index) => decodeOne(field, item, value, `${where}[${index}]`))]);
    } else if (sent !== undefined && sent !== null) {
      entries.push([field.jsonName, decodeOne(field, sent, value, where)]);
    } else if (!field.hasPresence) {
      entries.push([field.jsonName, defaultOf(field)]);
    }
  }
  return Object.fromEntries(entries);
}

function decodeOne(field: FieldShape, value: unknown, message: Json, path: string): unknown {
  const kind = field.kind;
  switch (kind.of) {
    case 'message':
      return decodeAnswer(kind.type, value, path);
    case 'bulk': {
      if (typeof value !== 'string') throw mismatch(path, 'base64');
      const element = kind.element === 'scalar' ? (message.scalar === 'FLOAT64' ? 'float64' : 'float32') : kind.element;
      return readBulk(Buffer.from(value, 'base64'), element, path);
    }
    case 'duration':
      if (typeof value !== 'string' || !/^[\d.]+s$/.test(value)) throw mismatch(path, 'a duration');
      return Number(value.slice(0, -1));
    case 'enum':
    case 'timestamp':
      if (typeof value !== 'string') throw mismatch(path, 'a name');
      return value;
    case 'scalar':
      return decodeScalar(kind.type, value, path);
  }
}

function decodeScalar(type: string, value: unknown, path: string): unknown {
  if (type === 'string' || type === 'bool') {
    if (typeof value !== (type === 'string' ? 'string' : 'boolean')) throw mismatch(path, `a ${type}`);
    return value;
  }
  // 64-bit integers are sent as strings, and so are NaN and infinities of a double.
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  const isNamed = value === 'NaN';
  if (typeof number !== 'number' || (Number.isNaN(number) && !isNamed)) throw mismatch(path, 'a number');
  return number;
}

function defaultOf(field: FieldShape): unknown {
  const kind = field.kind;
  if (kind.of === 'bulk') return new Uint8Array(0);
  if (kind.of !== 'scalar') return undefined;
  if (kind.type === 'string') return '';
  return kind.type === 'bool' ? false : 0;
}

const mismatch = (path: string, expected: string): IntersticeError =>
  new IntersticeError('INTERNAL', `The service's ${path} is not ${expected}.`, {
    hint: 'Check that the address belongs to an Interstice service of this version.',
  });
