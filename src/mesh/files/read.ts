import { createReadStream } from 'node:fs';
import { IntersticeError } from '../../contract/errors.js';
import type { MeshLimits } from '../../contract/mesh.js';
import { errorOfFile } from './file-error.js';
import { ObjReader } from './obj.js';
import { PlyReader } from './ply.js';
import { formatOf, type MeshFile, type MeshFormat, type MeshReader, splitMorph } from './types.js';

/** Bytes per read from disk. */
const FILE_CHUNK_BYTES = 2 ** 18;

/** Opens a reader that the caller feeds. */
export function openReader(format: MeshFormat, limits?: MeshLimits): MeshReader {
  return format === 'obj' ? new ObjReader(limits) : new PlyReader(limits);
}

/**
 * Reads a mesh while it arrives. Memory depends on the data that have arrived, never on the claims of a header.
 *
 * @param limits a mesh is refused as soon as it exceeds them
 * @param onGrown called after each chunk with the bytes that the reader keeps so far; what it throws ends the reading
 * @throws IntersticeError MALFORMED_BODY, INVALID_MESH, INDEX_OUT_OF_RANGE, NOT_FINITE, TOO_LARGE or UNIMPLEMENTED,
 *   with the line and the element
 */
export async function readMesh(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: MeshFormat,
  limits?: MeshLimits,
  onGrown: (bytes: number) => void = () => {},
): Promise<MeshFile> {
  const reader = openReader(format, limits);
  for await (const chunk of chunks) {
    reader.push(chunk);
    onGrown(reader.bytes);
  }
  return reader.finish();
}

/**
 * Reads an OBJ, PLY or glTF file; `#NAME` after the name of a glTF file selects the state of that morph target.
 *
 * @throws IntersticeError like {@link readMesh}, beginning with the path; UNSUPPORTED_MEDIA_TYPE for other kinds of
 *   files. Errors of the file system (e.g. a missing file) pass through unchanged.
 */
export async function readMeshFile(path: string, limits?: MeshLimits): Promise<MeshFile> {
  const format = formatOf(path);
  try {
    return format === 'gltf' ? await readGltfFile(path, limits) : await readStream(path, format, limits);
  } catch (thrown) {
    throw thrown instanceof IntersticeError ? errorOfFile(path, thrown) : thrown;
  }
}

async function readStream(path: string, format: MeshFormat, limits: MeshLimits | undefined): Promise<MeshFile> {
  const chunks = createReadStream(path, { highWaterMark: FILE_CHUNK_BYTES });
  try {
    return await readMesh(chunks, format, limits);
  } finally {
    chunks.destroy();
  }
}

/** Loads the library of the format only when a file needs it. */
async function readGltfFile(name: string, limits: MeshLimits | undefined): Promise<MeshFile> {
  const { readGltf } = await import('../gltf/read.js');
  const { path, morph } = splitMorph(name);
  return readGltf(path, morph, limits);
}
