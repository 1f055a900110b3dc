import type { Positions } from '../../contract/mesh.js';
import { Words } from './lines.js';
import { printFloat32, printFloat64 } from './numbers.js';
import { type PlyElement, type PlyHeader, type PlyProperty, type PlyScalar, SCALAR_BYTES } from './ply-header.js';
import type { ElementPlan } from './ply-plan.js';

/**
 * The records of a PLY file, kept so that properties and elements that are not part of the mesh (normals, colours,
 * texture coordinates, materials) are written back unchanged. Only x, y and z are replaced.
 */
export interface PlySource {
  readonly format: 'ply';
  readonly header: PlyHeader;
  /** per element of the header: chunks of whole records as in the file (ASCII: of whole lines that end in LF) */
  readonly records: readonly (readonly Uint8Array[])[];
  /** names of the content that a file of another format loses */
  readonly names: readonly string[];
  /** bytes of memory of the records */
  readonly bytes: number;
}

/** Bytes of a chunk of lines. */
const BLOCK_LENGTH = 2 ** 16;

/** Collects the records while the body is read. */
export class PlySourceWriter {
  private readonly records: Uint8Array[][];
  private lines: string[] = [];
  private length = 0;
  private element = 0;
  private kept = 0;

  private constructor(
    private readonly header: PlyHeader,
    private readonly names: readonly string[],
  ) {
    this.records = header.elements.map(() => []);
  }

  /** @returns undefined for a file that contains only the mesh */
  static open(header: PlyHeader, plans: readonly ElementPlan[]): PlySourceWriter | undefined {
    const names = plans.flatMap(({ element: { name, count, properties }, slots }) => {
      if (count === 0) return [];
      if (slots.every((slot) => slot < 0)) return [name];
      return properties.filter((_, i) => slots[i]! < 0).map((property) => `${name}.${property.name}`);
    });
    return names.length === 0 ? undefined : new PlySourceWriter(header, names);
  }

  /** Bytes of memory of what is kept so far. */
  get bytes(): number {
    return this.kept + this.length;
  }

  /** @param bytes whole records; they are copied */
  add(element: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.records[element]!.push(new Uint8Array(bytes));
    this.kept += bytes.length;
  }

  /** Elements must be added in their order. */
  addLine(element: number, line: string): void {
    if (element !== this.element || this.length >= BLOCK_LENGTH) this.flush();
    this.element = element;
    this.lines.push(line);
    this.length += line.length + 1;
  }

  private flush(): void {
    if (this.lines.length > 0) this.add(this.element, Buffer.from(`${this.lines.join('\n')}\n`, 'latin1'));
    this.lines = [];
    this.length = 0;
  }

  finish(): PlySource {
    this.flush();
    return { format: 'ply', header: this.header, records: this.records, names: this.names, bytes: this.bytes };
  }
}

const TYPE_NAMES: Readonly<Record<PlyScalar, string>> = {
  int8: 'char',
  uint8: 'uchar',
  int16: 'short',
  uint16: 'ushort',
  int32: 'int',
  uint32: 'uint',
  float32: 'float',
  float64: 'double',
};

const AXES: readonly string[] = ['x', 'y', 'z'];

const axisOf = ({ name, countType }: PlyProperty): number => (countType === undefined ? AXES.indexOf(name) : -1);

const isVertex = ({ name }: PlyElement): boolean => name === 'vertex';

/** The file with new coordinates, in chunks of the size in which it arrived. */
export function* replayPly({ header, records }: PlySource, positions: Positions): Generator<Uint8Array> {
  const scalar: PlyScalar = positions instanceof Float32Array ? 'float32' : 'float64';
  yield Buffer.from(printHeader(header, scalar), 'latin1');
  for (const [i, element] of header.elements.entries()) {
    if (!isVertex(element)) yield* records[i]!;
    else if (header.encoding === 'ascii') yield* replaceInLines(element, records[i]!, positions);
    else yield* replaceInRecords(element, records[i]!, positions, header.encoding === 'binary_little_endian');
  }
}

function printHeader({ encoding, elements, comments }: PlyHeader, scalar: PlyScalar): string {
  const lines = ['ply', `format ${encoding} 1.0`, ...comments];
  for (const element of elements) {
    lines.push(`element ${element.name} ${element.count}`);
    for (const property of element.properties) {
      const { name, type, countType } = property;
      const own = isVertex(element) && axisOf(property) >= 0 ? scalar : type;
      const list = countType === undefined ? '' : `list ${TYPE_NAMES[countType]} `;
      lines.push(`property ${list}${TYPE_NAMES[own]} ${name}`);
    }
  }
  return `${[...lines, 'end_header'].join('\n')}\n`;
}

function* replaceInLines(
  { properties }: PlyElement,
  blocks: readonly Uint8Array[],
  positions: Positions,
): Generator<Uint8Array> {
  const print = positions instanceof Float32Array ? printFloat32 : printFloat64;
  let vertex = 0;
  for (const block of blocks) {
    // The last line end is not a separator.
    const lines = Buffer.from(block).toString('latin1').slice(0, -1).split('\n');
    const replaced = lines.map((line) => {
      const words = new Words(line);
      const printed: string[] = [];
      for (const property of properties) {
        const axis = axisOf(property);
        const word = words.next();
        printed.push(axis >= 0 ? print(positions[3 * vertex + axis]!) : word);
        if (property.countType !== undefined) for (let i = 0; i < Number(word); i++) printed.push(words.next());
      }
      vertex++;
      return `${printed.join(' ')}\n`;
    });
    yield Buffer.from(replaced.join(''), 'latin1');
  }
}

/** Chunks begin and end with records. */
function* replaceInRecords(
  { properties }: PlyElement,
  chunks: readonly Uint8Array[],
  positions: Positions,
  isLittle: boolean,
): Generator<Uint8Array> {
  const size = positions.BYTES_PER_ELEMENT;
  let vertex = 0;
  for (const chunk of chunks) {
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const pieces: Uint8Array[] = [];
    let copied = 0;
    for (let offset = 0; offset < chunk.length; vertex++) {
      for (const property of properties) {
        const axis = axisOf(property);
        const end = endOf(property, view, offset, isLittle);
        if (axis >= 0) {
          pieces.push(chunk.subarray(copied, offset), numberBytes(positions[3 * vertex + axis]!, size, isLittle));
          copied = end;
        }
        offset = end;
      }
    }
    pieces.push(chunk.subarray(copied));
    yield Buffer.concat(pieces);
  }
}

function numberBytes(value: number, size: number, isLittle: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(size));
  if (size === 4) view.setFloat32(0, value, isLittle);
  else view.setFloat64(0, value, isLittle);
  return new Uint8Array(view.buffer);
}

/** The offset after a property whose bytes the reader has checked. */
function endOf({ type, countType }: PlyProperty, view: DataView, offset: number, isLittle: boolean): number {
  if (countType === undefined) return offset + SCALAR_BYTES[type];
  const size = SCALAR_BYTES[countType];
  const count =
    size === 1
      ? view.getUint8(offset)
      : size === 2
        ? view.getUint16(offset, isLittle)
        : view.getUint32(offset, isLittle);
  return offset + size + count * SCALAR_BYTES[type];
}
