import type { MeshLimits } from '../../contract/mesh.js';
import type { MeshFile } from '../files/types.js';
import { meshOfGltf } from './mesh.js';
import { openDocument } from './open.js';

/**
 * Reads a local glTF file as one mesh, like {@link meshOfGltf}.
 *
 * @param morph name of a morph target, or its number from 0
 * @throws IntersticeError MALFORMED_BODY, INVALID_MESH, INDEX_OUT_OF_RANGE, NOT_FINITE, TOO_LARGE or UNIMPLEMENTED
 */
export async function readGltf(path: string, morph: string | undefined, limits?: MeshLimits): Promise<MeshFile> {
  return meshOfGltf(path, await openDocument(path), morph, limits);
}
