import { IntersticeError } from '../../contract/errors.js';
import { checkPositions } from '../positions.js';
import { printFloat32, printFloat64 } from './numbers.js';
import { replay } from './sources.js';
import type { MeshFile, MeshFormat } from './types.js';

/**
 * Writes a mesh in chunks of about 64 KiB, on demand. Reading it back gives the same vertices in the same order, bit
 * for bit, and the same elements. A file of the same format keeps its content besides the mesh (see `attributesLost`)
 * and its polylines; otherwise polylines are read back as segments.
 *
 * @param format may differ from the file's own
 * @throws IntersticeError SIZE_MISMATCH or NOT_FINITE, before the first chunk
 */
export function writeMesh(file: MeshFile, format: MeshFormat): Iterable<Uint8Array> {
  checkPositions(file.positions, file.vertexCount, 'positions');
  if (file.positions instanceof Float32Array !== (file.scalar === 'FLOAT32')) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `The positions of a ${file.scalar} mesh file are of the other precision.`,
    );
  }
  const whole = replay(file, format);
  if (whole) return 'text' in whole ? encodeText(whole.text) : whole.bytes;
  return format === 'obj' ? printObj(file) : printPly(file);
}

/** Numbers are doubles whatever the precision of the mesh, because every float32 is exactly a double. */
function printObj(file: MeshFile): Iterable<Uint8Array> {
  return encodeText(listStatements(file));
}

function* listStatements(file: MeshFile): Generator<string> {
  const { positions, faceSizes, faceVertices, segments, particles } = file;
  for (let i = 0; i < positions.length; i += 3) {
    const [x, y, z] = [positions[i]!, positions[i + 1]!, positions[i + 2]!];
    yield `v ${printFloat64(x)} ${printFloat64(y)} ${printFloat64(z)}\n`;
  }
  let corner = 0;
  for (let face = 0; face < faceSizes.length; face++) {
    const end = corner + faceSizes[face]!;
    let statement = 'f';
    for (; corner < end; corner++) statement += ` ${faceVertices[corner]! + 1}`;
    yield `${statement}\n`;
  }
  for (let i = 0; i < segments.length; i += 2) yield `l ${segments[i]! + 1} ${segments[i + 1]! + 1}\n`;
  for (let i = 0; i < particles.length; i++) yield `p ${particles[i]! + 1}\n`;
}

/** Polygons with more corners need a longer type for their length. */
const MAX_SHORT_LIST = 255;
/** Other programs expect signed indices; beyond their range only unsigned ones remain. */
const MAX_SIGNED_INDEX = 2 ** 31 - 1;

interface Layout {
  readonly hasLongLists: boolean;
  readonly hasUnsignedIds: boolean;
  /** If a reader would not guess the particles, a separate element lists them; other programs skip it. */
  readonly hasPoints: boolean;
}

function* printPly(file: MeshFile): Generator<Uint8Array> {
  const layout = {
    hasLongLists: file.faceSizes.some((size) => size > MAX_SHORT_LIST),
    hasUnsignedIds: file.vertexCount - 1 > MAX_SIGNED_INDEX,
    hasPoints: !hasEvidentPoints(file),
  };
  yield Buffer.from(printHeader(file, layout), 'latin1');
  if (file.plyEncoding === 'ascii') yield* encodeText(listLines(file));
  else yield* encodeBody(file, layout);
}

/** A file without elements is read as a cloud of all its vertices, one with faces or edges as having no particles. */
function hasEvidentPoints({ faceSizes, segments, particles, vertexCount }: MeshFile): boolean {
  if (faceSizes.length > 0 || segments.length > 0) return particles.length === 0;
  return particles.length === vertexCount && particles.every((vertex, i) => vertex === i);
}

function printHeader(file: MeshFile, { hasLongLists, hasUnsignedIds, hasPoints }: Layout): string {
  const scalar = file.scalar === 'FLOAT32' ? 'float' : 'double';
  const id = hasUnsignedIds ? 'uint' : 'int';
  const lines = ['ply', `format ${file.plyEncoding ?? 'binary_little_endian'} 1.0`];
  lines.push(`element vertex ${file.vertexCount}`, ...['x', 'y', 'z'].map((axis) => `property ${scalar} ${axis}`));
  if (file.faceSizes.length > 0) {
    lines.push(`element face ${file.faceSizes.length}`);
    lines.push(`property list ${hasLongLists ? 'uint' : 'uchar'} ${id} vertex_indices`);
  }
  if (file.segments.length > 0) {
    lines.push(`element edge ${file.segments.length / 2}`, `property ${id} vertex1`, `property ${id} vertex2`);
  }
  if (hasPoints) lines.push(`element point ${file.particles.length}`, `property ${id} vertex_index`);
  return `${[...lines, 'end_header'].join('\n')}\n`;
}

function* listLines(file: MeshFile): Generator<string> {
  const { positions, faceSizes, faceVertices, segments, particles } = file;
  const print = file.scalar === 'FLOAT32' ? printFloat32 : printFloat64;
  for (let i = 0; i < positions.length; i += 3) {
    yield `${print(positions[i]!)} ${print(positions[i + 1]!)} ${print(positions[i + 2]!)}\n`;
  }
  let corner = 0;
  for (let face = 0; face < faceSizes.length; face++) {
    const size = faceSizes[face]!;
    yield `${size} ${faceVertices.subarray(corner, corner + size).join(' ')}\n`;
    corner += size;
  }
  for (let i = 0; i < segments.length; i += 2) yield `${segments[i]!} ${segments[i + 1]!}\n`;
  if (hasEvidentPoints(file)) return;
  for (let i = 0; i < particles.length; i++) yield `${particles[i]!}\n`;
}

function* encodeBody(file: MeshFile, { hasLongLists, hasPoints }: Layout): Generator<Uint8Array> {
  const isLittle = file.plyEncoding !== 'binary_big_endian';
  const { faceSizes, faceVertices, segments, particles } = file;
  yield* encodePositions(file, isLittle);

  const countBytes = hasLongLists ? 4 : 1;
  let corner = 0;
  yield* encodeRecords(
    faceSizes.length,
    (face) => countBytes + 4 * faceSizes[face]!,
    (view, offset, face) => {
      const size = faceSizes[face]!;
      if (hasLongLists) view.setUint32(offset, size, isLittle);
      else view.setUint8(offset, size);
      for (let i = 0; i < size; i++) view.setUint32(offset + countBytes + 4 * i, faceVertices[corner++]!, isLittle);
    },
  );
  const ids = hasPoints ? [segments, particles] : [segments];
  for (const array of ids) {
    const write = (view: DataView, offset: number, i: number): void => view.setUint32(offset, array[i]!, isLittle);
    yield* encodeRecords(array.length, () => 4, write);
  }
}

function encodePositions({ positions, scalar }: MeshFile, isLittle: boolean): Iterable<Uint8Array> {
  return scalar === 'FLOAT32'
    ? encodeRecords(
        positions.length,
        () => 4,
        (view, offset, i) => view.setFloat32(offset, positions[i]!, isLittle),
      )
    : encodeRecords(
        positions.length,
        () => 8,
        (view, offset, i) => view.setFloat64(offset, positions[i]!, isLittle),
      );
}

/** Approximate size of a chunk that a writer yields. */
const CHUNK_BYTES = 2 ** 16;

/** Joins pieces of ASCII text to chunks. */
function* encodeText(pieces: Iterable<string>): Generator<Uint8Array> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length >= CHUNK_BYTES) {
      yield Buffer.from(text, 'latin1');
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text, 'latin1');
}

/**
 * Joins binary records to chunks; the receiver owns the chunks that it gets.
 *
 * @param sizeOf bytes of record i
 * @param write puts record i at the offset
 */
function* encodeRecords(
  count: number,
  sizeOf: (index: number) => number,
  write: (view: DataView, offset: number, index: number) => void,
): Generator<Uint8Array> {
  let view = new DataView(new ArrayBuffer(CHUNK_BYTES));
  let length = 0;
  for (let index = 0; index < count; index++) {
    const size = sizeOf(index);
    if (length + size > view.byteLength) {
      if (length > 0) yield new Uint8Array(view.buffer, 0, length);
      view = new DataView(new ArrayBuffer(Math.max(CHUNK_BYTES, size)));
      length = 0;
    }
    write(view, length, index);
    length += size;
  }
  if (length > 0) yield new Uint8Array(view.buffer, 0, length);
}
