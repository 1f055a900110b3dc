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
 * @throws IntersticeError INVALID_MESH if more than two tetrahedra share a face
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
    // Equal rows are in ascending order, so a triangle of the caller comes first; there is at most one.
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
    `${owners.length} tetrahedra share the face (${face.join(', ')}); at most two can: ${named.join(', ')}${owners.length > 3 ? ', …' : ''}.`,
    { element },
  );
}

/** Ends of an element's edges by local corner, two for each. */
const TRIANGLE_EDGES = [0, 1, 1, 2, 2, 0];
const SEGMENT_EDGES = [0, 1];
const TETRAHEDRON_EDGES = [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3];

export interface MeshEdges {
  /** uint32[2·E] unique, lower id first: edges of triangles, then rods; each part ascending */
  readonly edges: Uint32Array;
  /** edges from this index on are rods */
  readonly rodStart: number;
  /** uint32[2·I] edges of tetrahedra that are not in `edges`, unique, lower id first, ascending */
  readonly innerEdges: Uint32Array;
}

/**
 * Collects every edge of a mesh once.
 *
 * @param triangles uint32[3·T] contact triangles
 * @param segments uint32[2·S]
 * @param tetrahedra uint32[4·K]
 */
export function collectEdges(
  triangles: Uint32Array,
  segments: Uint32Array,
  tetrahedra: Uint32Array,
  vertexCount: number,
): MeshEdges {
  const none = new Uint32Array(0);
  const triangleEdges = uniqueBeyond(none, { elements: triangles, width: 3, ends: TRIANGLE_EDGES }, vertexCount);
  const rods = uniqueBeyond(triangleEdges, { elements: segments, width: 2, ends: SEGMENT_EDGES }, vertexCount);
  const edges = joinArrays(triangleEdges, rods);
  const innerEdges = uniqueBeyond(edges, { elements: tetrahedra, width: 4, ends: TETRAHEDRON_EDGES }, vertexCount);
  return { edges, rodStart: triangleEdges.length / 2, innerEdges };
}

interface EdgeSource {
  /** uint32[width·n] */
  readonly elements: Uint32Array;
  readonly width: number;
  readonly ends: readonly number[];
}

/** Up to this many edges at their lower vertex are sorted by insertion; more by a sort that is fast for any order. */
const FEW_EDGES = 32;

/**
 * uint32[2·n]: the edges of the elements that are not in `known`, without duplicates, lower id first, ascending. The
 * edges are grouped by their lower end, which is one pass over them, and each group is sorted by the other end.
 */
function uniqueBeyond(known: Uint32Array, { elements, width, ends }: EdgeSource, vertexCount: number): Uint32Array {
  if (elements.length === 0) return new Uint32Array(0);
  const starts = new Uint32Array(vertexCount + 1);
  for (let e = 0; e < known.length; e += 2) starts[known[e]! + 1]!++;
  for (let n = 0; n < ends.length; n += 2) {
    const p = ends[n]!;
    const q = ends[n + 1]!;
    for (let at = 0; at < elements.length; at += width) {
      const a = elements[at + p]!;
      const b = elements[at + q]!;
      starts[(a < b ? a : b) + 1]!++;
    }
  }
  for (let v = 0; v < vertexCount; v++) starts[v + 1]! += starts[v]!;
  // Twice the upper end, plus one if it is not known: a known edge then precedes its repetitions. Ids are below 2^27.
  const keys = new Uint32Array(starts[vertexCount]!);
  const next = starts.slice();
  for (let e = 0; e < known.length; e += 2) keys[next[known[e]!]!++] = 2 * known[e + 1]!;
  for (let n = 0; n < ends.length; n += 2) {
    const p = ends[n]!;
    const q = ends[n + 1]!;
    for (let at = 0; at < elements.length; at += width) {
      const a = elements[at + p]!;
      const b = elements[at + q]!;
      keys[next[a < b ? a : b]!++] = 2 * (a < b ? b : a) + 1;
    }
  }
  const unique = new Uint32Array(2 * (keys.length - known.length / 2));
  let end = 0;
  for (let v = 0; v < vertexCount; v++) {
    const from = starts[v]!;
    const to = starts[v + 1]!;
    sortRange(keys, from, to);
    let last = -1;
    for (let k = from; k < to; k++) {
      const upper = keys[k]! >>> 1;
      if (upper === last) continue;
      last = upper;
      if ((keys[k]! & 1) === 0) continue;
      unique[end++] = v;
      unique[end++] = upper;
    }
  }
  return unique.slice(0, end);
}

function sortRange(keys: Uint32Array, from: number, to: number): void {
  if (to - from > FEW_EDGES) {
    keys.subarray(from, to).sort();
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const key = keys[i]!;
    let j = i;
    for (; j > from && keys[j - 1]! > key; j--) keys[j] = keys[j - 1]!;
    keys[j] = key;
  }
}

/**
 * Counts connected components over all elements; vertices without elements do not count.
 *
 * @param kinds arrays of elements (uint32[width·n]) with their widths
 * @param isUsed uint8[V], 1 = the vertex is in an element
 */
export function countComponents(kinds: ElementKinds, isUsed: Uint8Array): number {
  const labels = labelComponents(kinds, isUsed.length);
  let components = 0;
  for (let vertex = 0; vertex < labels.length; vertex++) if (labels[vertex] === vertex) components += isUsed[vertex]!;
  return components;
}

/** Arrays of elements (uint32[width·n]) with their widths. */
type ElementKinds = readonly (readonly [elements: Uint32Array, width: number])[];

/** Returns uint32[V]: the lowest vertex of each vertex's connected component; a vertex without elements is alone. */
export function labelComponents(kinds: ElementKinds, vertexCount: number): Uint32Array {
  const parent = new Uint32Array(vertexCount);
  for (let vertex = 0; vertex < vertexCount; vertex++) parent[vertex] = vertex;
  const find = (vertex: number): number => {
    let root = vertex;
    while (parent[root] !== root) root = parent[root] = parent[parent[root]!]!;
    return root;
  };
  for (const [elements, width] of kinds) {
    for (let start = 0; start < elements.length; start += width) {
      let root = find(elements[start]!);
      for (let i = start + 1; i < start + width; i++) {
        const other = find(elements[i]!);
        if (other === root) continue;
        // The lower id becomes the root; with path halving this is nearly linear without ranks.
        const low = Math.min(root, other);
        parent[Math.max(root, other)] = low;
        root = low;
      }
    }
  }
  for (let vertex = 0; vertex < vertexCount; vertex++) parent[vertex] = find(vertex);
  return parent;
}
