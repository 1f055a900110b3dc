import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeMesh } from './print.js';
import { type FileFormat, formatOf, type MeshFile } from './types.js';

/**
 * Writes in the format that the path's ending selects.
 *
 * @throws IntersticeError like {@link writeMesh}, UNSUPPORTED_MEDIA_TYPE for other endings; errors of the file system
 *   pass through, and may leave an incomplete file
 */
export async function writeMeshFile(path: string, file: MeshFile): Promise<void> {
  const chunks = await writeMeshBytes(file, formatOf(path));
  await pipeline(Readable.from(chunks, { objectMode: false }), createWriteStream(path));
}

/**
 * Like {@link writeMesh}, for every format: glTF is written in one piece, as a .glb file.
 *
 * @throws IntersticeError like {@link writeMesh}; SIZE_MISMATCH for glTF in double precision, which it does not have
 */
export async function writeMeshBytes(file: MeshFile, format: FileFormat): Promise<Iterable<Uint8Array>> {
  if (format !== 'gltf') return writeMesh(file, format);
  const { writeGlb } = await import('../gltf/write.js');
  return [await writeGlb(file)];
}
