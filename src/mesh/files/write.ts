import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { IntersticeError } from '../../contract/errors.js';
import { checkPositions } from '../positions.js';
import { formatOf } from './format.js';
import { printObj } from './obj-write.js';
import { printPly } from './ply-write.js';
import type { MeshFile, MeshFormat } from './types.js';

/**
 * Writes a mesh in chunks of about 64 KiB, as they are asked for. What is read back has the same vertices in the same
 * order, bit for bit, and the same elements; polylines come back as segments.
 *
 * @param format may differ from the file's own
 * @throws IntersticeError SIZE_MISMATCH or NOT_FINITE, before the first chunk
 */
export function writeMesh(file: MeshFile, format: MeshFormat): Iterable<Uint8Array> {
  checkPositions(file.positions, file.vertexCount, 'positions');
  if (file.positions instanceof Float32Array !== (file.scalar === 'FLOAT32')) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `the positions of a ${file.scalar} mesh file are of the other precision`,
    );
  }
  return format === 'obj' ? printObj(file) : printPly(file);
}

/**
 * Writes to the format that the path's ending names.
 *
 * @throws IntersticeError as {@link writeMesh}, UNSUPPORTED_MEDIA_TYPE for other endings; the file system's own errors
 *   pass through, and may leave a part of the file behind
 */
export async function writeMeshFile(path: string, file: MeshFile): Promise<void> {
  const chunks = writeMesh(file, formatOf(path));
  await pipeline(Readable.from(chunks, { objectMode: false }), createWriteStream(path));
}
