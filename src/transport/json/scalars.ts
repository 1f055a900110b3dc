import { IntersticeError } from '../../contract/errors.js';
import { quote } from '../../contract/quote.js';
import type { ScalarType } from '../messages/schema.js';
import { MAX_DURATION_SECONDS, type WireTime } from '../messages/wire-message.js';

/** `a.b`, or `a["odd name"]` if the name is not an identifier. */
export function nameOf(path: string, name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** A short form of a value for error messages. */
export function show(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return quote(value, 40);
  return typeof value === 'object' ? 'an object' : String(value);
}

function refuse(value: unknown, expected: string, path: string): never {
  throw new IntersticeError('MALFORMED_BODY', `${path} is ${show(value)}, expected ${expected}.`);
}

export function decodeScalar(type: ScalarType, value: unknown, path: string): number | bigint | string | boolean {
  switch (type) {
    case 'bool':
      return typeof value === 'boolean' ? value : refuse(value, 'true or false', path);
    case 'string':
      return decodeString(value, path);
    case 'double':
    case 'float':
      return decodeFloat(type, value, path);
    case 'uint32':
      return Number(decodeInteger(value, 0n, 0xffffffffn, path));
    case 'int32':
      return Number(decodeInteger(value, -0x80000000n, 0x7fffffffn, path));
    case 'uint64':
      return decodeInteger(value, 0n, 0xffffffffffffffffn, path);
    case 'int64':
      return decodeInteger(value, -0x8000000000000000n, 0x7fffffffffffffffn, path);
    case 'bytes':
      throw new Error('Fields of type bytes are decoded as bulk fields.');
  }
}

function decodeString(value: unknown, path: string): string {
  if (typeof value !== 'string') refuse(value, 'a string', path);
  // A lone surrogate has no UTF-8 encoding, so the string could not be sent as protobuf.
  if (/\p{Surrogate}/u.test(value)) throw new IntersticeError('MALFORMED_BODY', `${path} is not valid Unicode.`);
  return value;
}

function decodeFloat(type: 'double' | 'float', value: unknown, path: string): number {
  let number: number;
  if (typeof value === 'number') number = value;
  else if (typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) number = Number(value);
  else if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') number = Number(value);
  else refuse(value, 'a number', path);
  const stored = type === 'float' ? Math.fround(number) : number;
  if (!Number.isFinite(stored)) {
    throw new IntersticeError('NOT_FINITE', `${path} is ${show(value)}, which is not a finite ${type} number.`);
  }
  return stored;
}

function decodeInteger(value: unknown, smallest: bigint, largest: bigint, path: string): bigint {
  const expected = `an integer from ${smallest} to ${largest}`;
  let integer: bigint;
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) refuse(value, expected, path);
    // JSON.parse has already rounded integers beyond 2^53.
    if (!Number.isSafeInteger(value) && largest > 0xffffffffn) {
      throw new IntersticeError('MALFORMED_BODY', `${path} is too large for a JSON number.`, {
        hint: 'Send integers beyond 2^53 as strings of digits.',
      });
    }
    integer = BigInt(value);
  } else if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) integer = BigInt(value);
  else refuse(value, expected, path);
  if (integer < smallest || integer > largest) refuse(value, expected, path);
  return integer;
}

/** Accepts the standard and the URL-safe alphabet, padded or not. Buffer.from alone would ignore invalid characters. */
export function decodeBase64(value: unknown, path: string): Uint8Array {
  if (typeof value !== 'string') refuse(value, 'base64, or an array of numbers', path);
  const unpadded = value.endsWith('==') ? value.slice(0, -2) : value.endsWith('=') ? value.slice(0, -1) : value;
  const isPadded = unpadded.length !== value.length;
  // Searching for an invalid character needs no stack, unlike matching the whole string, which may have megabytes.
  if (/[^A-Za-z0-9+/_-]/.test(unpadded) || unpadded.length % 4 === 1 || (isPadded && value.length % 4 !== 0)) {
    throw new IntersticeError('MALFORMED_BODY', `${path} is not valid base64.`, {
      hint: 'Send base64 (standard or URL-safe alphabet) of the little-endian bytes, or a plain array of numbers.',
    });
  }
  return Buffer.from(unpadded, 'base64');
}

export function decodeDuration(value: unknown, path: string): WireTime {
  const match = typeof value === 'string' ? /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(value) : null;
  if (!match) refuse(value, 'a duration in seconds such as "1.5s"', path);
  const [, sign, whole, fraction = ''] = match;
  const seconds = Number(whole);
  if (seconds > MAX_DURATION_SECONDS) refuse(value, `at most ${MAX_DURATION_SECONDS}s`, path);
  const nanos = Number(fraction.padEnd(9, '0'));
  return sign === '-' ? { seconds: 0 - seconds, nanos: 0 - nanos } : { seconds, nanos };
}

export function decodeTimestamp(value: unknown, path: string): WireTime {
  const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;
  const match = typeof value === 'string' ? pattern.exec(value) : null;
  const milliseconds = match ? Date.parse(`${match[1]}${match[3]}`) : Number.NaN;
  // Date.parse accepts the 30th of February as the 2nd of March.
  const isDay = !Number.isNaN(milliseconds) && new Date(`${match?.[1]}Z`).toISOString().slice(0, 19) === match?.[1];
  if (!match || !isDay) refuse(value, 'a time such as "2026-11-30T12:00:00Z"', path);
  return { seconds: milliseconds / 1000, nanos: Number((match[2] ?? '').padEnd(9, '0')) };
}

const fractionOf = (nanos: number): string => {
  const digits = String(Math.abs(nanos)).padStart(9, '0');
  // The JSON mapping has 0, 3, 6 or 9 fractional digits.
  if (nanos === 0) return '';
  if (digits.endsWith('000000')) return `.${digits.slice(0, 3)}`;
  return digits.endsWith('000') ? `.${digits.slice(0, 6)}` : `.${digits}`;
};

export function encodeDuration(time: WireTime): string {
  const seconds = BigInt(time.seconds);
  const sign = seconds < 0n || time.nanos < 0 ? '-' : '';
  return `${sign}${seconds < 0n ? -seconds : seconds}${fractionOf(time.nanos)}s`;
}

export function encodeTimestamp(time: WireTime): string {
  const whole = new Date(Number(time.seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}${fractionOf(time.nanos)}Z`;
}
