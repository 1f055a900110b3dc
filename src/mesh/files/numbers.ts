import { IntersticeError } from '../../contract/errors.js';
import { quote } from './lines.js';

/** The longest exact decimal of a double has 1,077 characters before its exponent; no real one is longer than this. */
const MAX_NUMBER_LENGTH = 2048;

/** What programs print for values that are not finite, including Microsoft's 1.#IND and 1.#INF. */
const NON_FINITE = /^[+-]?(nan(\(.*\))?|inf(inity)?|\d\.#\w+)$/i;

/**
 * Reads a decimal number, rounded to the nearest double. Names of NaN and infinity, and numbers beyond all doubles,
 * give a value that is not finite.
 *
 * @param line number for the message
 * @throws IntersticeError MALFORMED_BODY for anything else
 */
export function readNumber(word: string, line: number): number {
  const value = Number(word);
  // Number() accepts more than decimals: 0x10, 0b1, 0o7, '' as 0, and it trims blanks beyond ASCII.
  const isPrefixed = word.charCodeAt(0) === 48 && word.charCodeAt(1) > 57 && !/^0e/i.test(word);
  const isForeign = !(word.charCodeAt(0) < 127 && word.charCodeAt(word.length - 1) < 127);
  if (!Number.isNaN(value) && !isPrefixed && !isForeign && word.length <= MAX_NUMBER_LENGTH) return value;
  if (NON_FINITE.test(word)) return Number.NaN;
  if (word === '') throw new IntersticeError('MALFORMED_BODY', `Line ${line}: a number is missing.`);
  throw new IntersticeError('MALFORMED_BODY', `Line ${line}: ${quote(word)} is not a number.`);
}

/**
 * Reads a decimal number, rounded to the nearest float32. Rounding by way of a double is wrong where the double lies
 * exactly between two float32 but the decimal does not: there the decimal itself decides.
 */
export function readFloat32(word: string, line: number): number {
  const double = readNumber(word, line);
  const nearest = Math.fround(double);
  if (nearest === double || !Number.isFinite(nearest)) return nearest;
  // Exact: both are doubles within one float32 spacing of each other.
  const other = nearest + 2 * (double - nearest);
  if (Math.fround(other) !== other) return nearest;
  const side = compareDecimal(word, double);
  if (side === 0) return nearest;
  return side > 0 ? Math.max(nearest, other) : Math.min(nearest, other);
}

/** Sign of (decimal − double), exactly. `word` is a finite decimal number. */
function compareDecimal(word: string, double: number): number {
  const [, sign, whole = '', fraction = '', exponentText] = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(word)!;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  const exponent = Number(exponentText ?? 0) - fraction.length;
  let power = 0;
  let integer = double;
  // Every finite double is an integer times a power of two.
  for (; !Number.isInteger(integer); power++) integer *= 2;
  const left = digits * 2n ** BigInt(power) * (exponent > 0 ? 10n ** BigInt(exponent) : 1n);
  const right = BigInt(integer) * (exponent < 0 ? 10n ** BigInt(-exponent) : 1n);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The shortest decimal that reads back, as a double, to the same bits. */
export function printFloat64(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Digits that may suffice for a float32; nine always do. */
const FLOAT32_DIGITS = [7, 8, 9] as const;

/** Returns a short decimal that, read as a float32, has the same bits. */
export function printFloat32(value: number): string {
  const exact = printFloat64(value);
  if (exact.length <= FLOAT32_DIGITS[0]) return exact;
  for (const digits of FLOAT32_DIGITS) {
    const text = printFloat64(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value && readFloat32(text, 0) === value) return text;
  }
  return exact;
}
