import { IntersticeError } from '../contract/errors.js';
import { describe, refer } from './elements.js';
import { ascendingRows, forEachGroup, joinArrays, sortRows } from './rows.js';

/** Faces of a tetrahedron by local corner; outward where (b − a) · ((c − a) × (d − a)) > 0. */
const FACES = [
  [1, 2, 3],
  [0, 3, 2],
  [0, 1, 3],
  [0, 2, 1],
] as const;

/**
 * The contact triangles: the caller's, then the faces that only one tetrahedron has and that are not among them.
 *
 * @param triangles uint32[3·T], validated
 * @param tetrahedra uint32[4·K], validated
 * @returns uint32[3·(T + boundary)], boundary faces in the order of their tetrahedra
 * @throws IntersticeError INVALID_MESH when more than two tetrahedra share a face
 */
export function addBoundaryFaces(triangles: Uint32Array, tetrahedra: Uint32Array, vertexCount: number): Uint32Array {
  if (tetrahedra.length === 0) return triangles;
  const faces = listFaces(tetrahedra);
  const triangleCount = triangles.length / 3;
  const rows = ascendingRows(joinArrays(triangles, faces), 3);
  const order = sortRows(rows, 3, vertexCount);
  const isBoundary = new Uint8Array(faces.length / 3);
  let boundaryCount = 0;
  forEachGroup(rows, 3, order, (from, to) => {
    // Equal rows come in ascending order, so a triangle of the caller stands first; there is at most one of them.
    const isSent = order[from]! < triangleCount;
    const firstFace = isSent ? from + 1 : from;
    const sharing = to - firstFace;
    if (sharing > 2) refuseSharedFace(tetrahedra, faces, order.subarray(firstFace, to), triangleCount);
    if (sharing === 1 && !isSent) {
      isBoundary[order[from]! - triangleCount] = 1;
      boundaryCount++;
    }
  });
  const all = new Uint32Array(triangles.length + 3 * boundaryCount);
  all.set(triangles);
  let end = triangles.length;
  for (let face = 0; face < isBoundary.length; face++) {
    if (isBoundary[face] === 0) continue;
    for (let corner = 0; corner < 3; corner++) all[end++] = faces[3 * face + corner]!;
  }
  return all;
}

/** uint32[3·4K]: the faces of tetrahedron k are 4k … 4k + 3. */
function listFaces(tetrahedra: Uint32Array): Uint32Array {
  const faces = new Uint32Array(3 * tetrahedra.length);
  let end = 0;
  for (let start = 0; start < tetrahedra.length; start += 4) {
    for (const face of FACES) for (const corner of face) faces[end++] = tetrahedra[start + corner]!;
  }
  return faces;
}

function refuseSharedFace(
  tetrahedra: Uint32Array,
  faces: Uint32Array,
  sharing: Uint32Array,
  triangleCount: number,
): never {
  const owners = Array.from(sharing, (row) => Math.floor((row - triangleCount) / 4));
  const face = Array.from(faces.subarray(3 * (sharing[0]! - triangleCount)).subarray(0, 3));
  const element = refer('tetrahedron', tetrahedra, 4, owners[2]!);
  const named = owners.slice(0, 3).map((owner) => describe(refer('tetrahedron', tetrahedra, 4, owner)));
  throw new IntersticeError(
    'INVALID_MESH',
    `${owners.length} tetrahedra share the face (${face.join(', ')}), two are possible: ${named.join(', ')}${owners.length > 3 ? ', …' : ''}`,
    { element },
  );
}
