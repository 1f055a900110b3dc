import { IntersticeError } from '../../contract/errors.js';
import type { MeshFile } from '../files/types.js';
import { checkPositions } from '../positions.js';
import { newDocument, replacePositions, toGlb } from './glb.js';
import { openDocument } from './open.js';

/**
 * Returns a mesh as the bytes of a .glb file. A mesh from glTF keeps its nodes, materials, textures and further
 * attributes; only positions are new, see {@link replacePositions}.
 *
 * @param file positions are float32: the format has no others
 * @throws IntersticeError SIZE_MISMATCH for other positions, or if the file of the start has changed
 */
export async function writeGlb(file: MeshFile): Promise<Uint8Array> {
  const { positions, vertexCount, gltf } = file;
  checkPositions(positions, vertexCount, 'positions');
  if (!(positions instanceof Float32Array)) {
    throw new IntersticeError('SIZE_MISMATCH', 'glTF holds positions of single precision only.');
  }
  const document = gltf ? (await openDocument(gltf.path)).document : newDocument(file);
  if (gltf) replacePositions(document, positions, gltf.path);
  return toGlb(document);
}
