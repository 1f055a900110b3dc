import { bulkBytes } from './in-slices.js';

/** How bulk fields are written: as bytes, in base64, or as arrays of numbers. */
export type BulkEncoding = 'binary' | 'base64' | 'numbers';

/** Bytes of text per byte of an array: base64 has four characters for three bytes, a float32 at most 16 for four. */
const TEXT_PER_BYTE: Readonly<Record<BulkEncoding, number>> = { binary: 1, base64: 4 / 3, numbers: 4 };

/** Largest size of a pair of elements in a list: two names of kinds, and up to eight numbers with names in JSON. */
const PAIR_BYTES: Readonly<Record<BulkEncoding, number>> = { binary: 64, base64: 256, numbers: 256 };

/** Size of an answer before it is encoded, estimated from its arrays and lists of pairs; the rest takes a few KiB. */
export function answerBytes(answer: object, encoding: BulkEncoding): number {
  let pairs = 0;
  for (const part of Object.values(answer)) if (Array.isArray(part)) pairs += part.length;
  return Math.ceil(bulkBytes(answer) * TEXT_PER_BYTE[encoding]) + pairs * PAIR_BYTES[encoding];
}
