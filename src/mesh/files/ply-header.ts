import { IntersticeError } from '../../contract/errors.js';
import { quote } from './lines.js';
import type { PlyEncoding } from './types.js';

/** Scalar types by each of their two names. */
const SCALARS = {
  char: 'int8',
  int8: 'int8',
  uchar: 'uint8',
  uint8: 'uint8',
  short: 'int16',
  int16: 'int16',
  ushort: 'uint16',
  uint16: 'uint16',
  int: 'int32',
  int32: 'int32',
  uint: 'uint32',
  uint32: 'uint32',
  float: 'float32',
  float32: 'float32',
  double: 'float64',
  float64: 'float64',
} as const;
export type PlyScalar = (typeof SCALARS)[keyof typeof SCALARS];

export const SCALAR_BYTES: Readonly<Record<PlyScalar, number>> = {
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  float32: 4,
  float64: 8,
};

/** The smallest and the largest number of each integer type. */
export const INTEGER_RANGES: Readonly<Partial<Record<PlyScalar, readonly [least: number, most: number]>>> = {
  int8: [-(2 ** 7), 2 ** 7 - 1],
  uint8: [0, 2 ** 8 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  uint16: [0, 2 ** 16 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
};

export const isFloat = (type: PlyScalar): boolean => type === 'float32' || type === 'float64';

export interface PlyProperty {
  readonly name: string;
  readonly type: PlyScalar;
  /** of a list: the type of its length */
  readonly countType?: PlyScalar;
}

export interface PlyElement {
  readonly name: string;
  readonly count: number;
  readonly properties: readonly PlyProperty[];
}

export interface PlyHeader {
  readonly encoding: PlyEncoding;
  readonly elements: readonly PlyElement[];
  /** lines that begin with comment or obj_info */
  readonly comments: readonly string[];
  /** lines up to and including end_header */
  readonly lineCount: number;
}

/** Largest header, in bytes; typical ones have a few hundred. */
const MAX_HEADER_BYTES = 2 ** 18;
/** Most elements, and most properties of one: far above real files, and few enough to parse every record quickly. */
const MAX_DECLARATIONS = 1024;

const FEED = 10;
const RETURN = 13;

/** Collects the header's bytes. The line ends of the header decide where a binary body begins. */
export class PlyHeaderReader {
  private readonly bytes = Buffer.alloc(MAX_HEADER_BYTES);
  private length = 0;
  private lineStart = 0;
  /** How lines end; unknown until the first one has ended. */
  private ending: 'LF' | 'CR' | undefined;
  private readonly lines: string[] = [];

  /** Undefined until the header is complete. */
  header: PlyHeader | undefined;

  /** @returns the number of bytes of `chunk` that belong to the header */
  push(chunk: Uint8Array): number {
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      // After a lone CR the next byte decides: LF belongs to it, anything else to the next line.
      if (this.ending === undefined && this.bytes[this.length - 1] === RETURN) {
        this.ending = byte === FEED ? 'LF' : 'CR';
        if (this.ending === 'CR') this.endLine();
      }
      if (this.length === MAX_HEADER_BYTES) {
        throw new IntersticeError('MALFORMED_BODY', `The header has no end_header within ${MAX_HEADER_BYTES} bytes.`);
      }
      this.bytes[this.length++] = byte;
      if (this.ending === undefined && byte === FEED) this.ending = 'LF';
      if (byte === (this.ending === 'CR' ? RETURN : FEED) && this.ending !== undefined) this.endLine();
      if (this.header) return i + 1;
    }
    return chunk.length;
  }

  private endLine(): void {
    const line = this.bytes.toString('latin1', this.lineStart, this.length).trim();
    this.lineStart = this.length;
    this.lines.push(line);
    if (this.lines.length === 1) checkMagic(line);
    if (line === 'end_header') this.header = parseHeader(this.lines);
  }

  /** Refuses a file that ends within its header. */
  refuseEnd(): never {
    if (this.lines.length === 0) checkMagic(this.bytes.toString('latin1', 0, this.length).trim());
    throw new IntersticeError('MALFORMED_BODY', 'The file ends before its end_header line.');
  }
}

function checkMagic(line: string): void {
  if (line === 'ply' || line === '\xef\xbb\xbfply') return;
  throw new IntersticeError(
    'MALFORMED_BODY',
    `A PLY file begins with a line "ply"; this one begins with ${quote(line)}.`,
  );
}

/** @param lines of the header, trimmed */
function parseHeader(lines: readonly string[]): PlyHeader {
  let encoding: PlyEncoding | undefined;
  const elements: { name: string; count: number; properties: PlyProperty[] }[] = [];
  const comments: string[] = [];
  lines.slice(1, -1).forEach((text, index) => {
    const line = index + 2;
    const words = text.split(/\s+/);
    const keyword = words[0]!;
    if (keyword === 'comment' || keyword === 'obj_info') comments.push(text);
    if (keyword === '' || keyword === 'comment' || keyword === 'obj_info') return;
    if (keyword === 'format') encoding = parseFormat(words, line);
    else if (keyword === 'element') elements.push({ ...parseElement(words, line), properties: [] });
    else if (keyword === 'property' && elements.length > 0) {
      elements.at(-1)!.properties.push(parseProperty(words, line));
    } else refuseLine(line, `unexpected ${quote(text)}`);
    checkNames(elements, line);
  });
  if (encoding === undefined) throw new IntersticeError('MALFORMED_BODY', 'The header has no format line.');
  for (const { name, count, properties } of elements) {
    if (count > 0 && properties.length === 0) {
      throw new IntersticeError(
        'MALFORMED_BODY',
        `The header declares ${count} × ${quote(name)} without any property.`,
      );
    }
  }
  return { encoding, elements, comments, lineCount: lines.length };
}

function parseFormat(words: readonly string[], line: number): PlyEncoding {
  const [, encoding, version] = words;
  if (encoding !== 'ascii' && encoding !== 'binary_little_endian' && encoding !== 'binary_big_endian') {
    return refuseLine(line, `unknown format ${quote(encoding ?? '')}`);
  }
  if (version !== '1.0') refuseLine(line, `unknown version ${quote(version ?? '')}, this reads 1.0`);
  return encoding;
}

function parseElement(words: readonly string[], line: number): { name: string; count: number } {
  const [, name, countText] = words;
  if (name === undefined || countText === undefined || words.length > 3 || !/^\d{1,15}$/.test(countText)) {
    return refuseLine(line, `expected "element NAME COUNT", found ${quote(words.join(' '))}`);
  }
  return { name, count: Number(countText) };
}

function parseProperty(words: readonly string[], line: number): PlyProperty {
  if (words[1] === 'list' && words.length === 5) {
    const countType = parseScalar(words[2]!, line);
    if (isFloat(countType)) refuseLine(line, `the length of a list cannot be ${quote(words[2]!)}`);
    return { name: words[4]!, type: parseScalar(words[3]!, line), countType };
  }
  if (words.length !== 3) refuseLine(line, `expected "property TYPE NAME", found ${quote(words.join(' '))}`);
  return { name: words[2]!, type: parseScalar(words[1]!, line) };
}

function parseScalar(name: string, line: number): PlyScalar {
  if (Object.hasOwn(SCALARS, name)) return SCALARS[name as keyof typeof SCALARS];
  return refuseLine(line, `unknown type ${quote(name)}; known are ${Object.keys(SCALARS).join(', ')}`);
}

/** Checks the latest declaration; the earlier ones have been checked. */
function checkNames(elements: readonly PlyElement[], line: number): void {
  const element = elements.at(-1);
  if (!element) return;
  const { properties } = element;
  if (elements.length > MAX_DECLARATIONS || properties.length > MAX_DECLARATIONS) {
    refuseLine(line, `more than ${MAX_DECLARATIONS} elements, or properties of one`);
  }
  if (properties.length === 0 && elements.findIndex(({ name }) => name === element.name) < elements.length - 1) {
    refuseLine(line, `element ${quote(element.name)} is declared twice`);
  }
  const latest = properties.at(-1);
  if (latest && properties.findIndex(({ name }) => name === latest.name) < properties.length - 1) {
    refuseLine(line, `property ${quote(latest.name)} is declared twice`);
  }
}

function refuseLine(line: number, problem: string): never {
  throw new IntersticeError('MALFORMED_BODY', `Line ${line} of the header: ${problem}.`);
}
