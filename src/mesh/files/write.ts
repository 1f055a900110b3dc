import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeMesh } from './print.js';
import { type FileFormat, formatOf, type MeshFile } from './types.js';

/**
 * Writes to the format that the path's ending names.
 *
 * @throws IntersticeError as {@link writeMesh}, UNSUPPORTED_MEDIA_TYPE for other endings; the file system's own errors
 *   pass through, and may leave a part of the file behind
 */
export async function writeMeshFile(path: string, file: MeshFile): Promise<void> {
  const chunks = await writeMeshBytes(file, formatOf(path));
  await pipeline(Readable.from(chunks, { objectMode: false }), createWriteStream(path));
}

/**
 * As {@link writeMesh}, for every format: glTF comes in one piece, as a .glb file.
 *
 * @throws IntersticeError as {@link writeMesh}; SIZE_MISMATCH for glTF in double precision, which it does not have
 */
export async function writeMeshBytes(file: MeshFile, format: FileFormat): Promise<Iterable<Uint8Array>> {
  if (format !== 'gltf') return writeMesh(file, format);
  const { writeGlb } = await import('../gltf/write.js');
  return [await writeGlb(file)];
}
