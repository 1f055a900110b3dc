import { createReadStream } from 'node:fs';
import { IntersticeError } from '../../contract/errors.js';
import type { MeshLimits } from '../../contract/mesh.js';
import { ObjReader } from './obj.js';
import { PlyReader } from './ply.js';
import { formatOf, type MeshFile, type MeshFormat, type MeshReader, splitMorph } from './types.js';

/** Bytes per read from disk. */
const FILE_CHUNK_BYTES = 2 ** 18;

/** A reader to be fed by hand. */
export function openReader(format: MeshFormat, limits?: MeshLimits): MeshReader {
  return format === 'obj' ? new ObjReader(limits) : new PlyReader(limits);
}

/**
 * Reads a mesh while it arrives. Memory follows what has arrived, never what a header claims.
 *
 * @param limits refused as soon as they are passed
 * @throws IntersticeError MALFORMED_BODY, INVALID_MESH, INDEX_OUT_OF_RANGE, NOT_FINITE, TOO_LARGE or UNIMPLEMENTED, with
 *   the line and the element
 */
export async function readMesh(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: MeshFormat,
  limits?: MeshLimits,
): Promise<MeshFile> {
  const reader = openReader(format, limits);
  for await (const chunk of chunks) reader.push(chunk);
  return reader.finish();
}

/**
 * Reads an OBJ, PLY or glTF file; `#NAME` behind the name of a glTF file gives the state of that morph target.
 *
 * @throws IntersticeError as {@link readMesh}, led by the path; UNSUPPORTED_MEDIA_TYPE for other kinds of files. What
 *   the file system says (a missing file, say) passes through as it is.
 */
export async function readMeshFile(path: string, limits?: MeshLimits): Promise<MeshFile> {
  const format = formatOf(path);
  try {
    return format === 'gltf' ? await readGltfFile(path, limits) : await readStream(path, format, limits);
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError)) throw thrown;
    const { code, message, details } = thrown.toPlain();
    throw new IntersticeError(code, `${path}: ${message}`, { ...details, cause: thrown });
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

/** The library of the format is loaded when a file needs it. */
async function readGltfFile(name: string, limits: MeshLimits | undefined): Promise<MeshFile> {
  const { readGltf } = await import('../gltf/read.js');
  const { path, morph } = splitMorph(name);
  return readGltf(path, morph, limits);
}
