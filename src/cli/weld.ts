import { IntersticeError } from '../contract/errors.js';
import type { MeshFile } from '../mesh/files/index.js';
import { assertStaysWelded, countCoincident, findCoincident, weldMarks } from '../mesh/weld.js';

/**
 * The requested weld of a mesh, as the first vertex at each place; `undefined` if none was requested.
 *
 * Without it a mesh from glTF must have no seams: the format keeps normals and texture coordinates per vertex, so
 * exporters store a vertex at a seam several times, and the elements on both sides would touch without being joined.
 *
 * @param marks uint8[V], kinematic vertices. Copies follow the first vertex at their place, so they are marked; so are
 *   all copies of a marked one
 * @throws IntersticeError INVALID_MESH for seams of glTF that are not welded, or a target that separates welded
 *   vertices
 */
export function weldOf(
  file: MeshFile,
  target: MeshFile | undefined,
  isWanted: boolean,
  marks: Uint8Array,
): Uint32Array | undefined {
  if (!isWanted && !file.gltf) return undefined;
  const firstOf = findCoincident(file);
  if (isWanted) {
    if (target) assertStaysWelded(target.positions, firstOf);
    weldMarks(marks, firstOf);
    return firstOf;
  }
  const free = (ids: Uint32Array): Uint32Array => ids.filter((vertex) => marks[vertex] !== 1);
  const { triangles, segments, particles } = file;
  const moving = { ...file, triangles: free(triangles), segments: free(segments), particles: free(particles) };
  const copies = countCoincident(moving, firstOf);
  if (copies === 0) return undefined;
  throw new IntersticeError(
    'INVALID_MESH',
    `${copies === 1 ? '1 vertex of elements lies' : `${copies} vertices of elements lie`} exactly where another one lies, as glTF stores the vertices of a seam.`,
    { hint: 'Pass --weld to join the elements there. Ids of vertices stay those of the file.' },
  );
}
