import { ascendingRows, forEachGroup, joinArrays, sortRows } from './rows.js';

const TRIANGLE_EDGES = [
  [0, 1],
  [1, 2],
  [2, 0],
] as const;
const TETRAHEDRON_EDGES = [
  [0, 1],
  [0, 2],
  [0, 3],
  [1, 2],
  [1, 3],
  [2, 3],
] as const;

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
  const sides = listPairs(triangles, 3, TRIANGLE_EDGES);
  const triangleEdges = uniqueBeyond(new Uint32Array(0), sides, vertexCount);
  const rods = uniqueBeyond(triangleEdges, segments, vertexCount);
  const edges = joinArrays(triangleEdges, rods);
  const innerEdges = uniqueBeyond(edges, listPairs(tetrahedra, 4, TETRAHEDRON_EDGES), vertexCount);
  return { edges, rodStart: triangleEdges.length / 2, innerEdges };
}

/** uint32[2·m]: the given pairs of corners of each element. */
function listPairs(elements: Uint32Array, width: number, corners: readonly (readonly [number, number])[]): Uint32Array {
  const pairs = new Uint32Array((elements.length / width) * corners.length * 2);
  let end = 0;
  for (let start = 0; start < elements.length; start += width) {
    for (const [a, b] of corners) {
      pairs[end++] = elements[start + a]!;
      pairs[end++] = elements[start + b]!;
    }
  }
  return pairs;
}

/** uint32[2·n]: the pairs that are not in `known`, each once, lower id first, ascending. */
function uniqueBeyond(known: Uint32Array, pairs: Uint32Array, vertexCount: number): Uint32Array {
  if (pairs.length === 0) return new Uint32Array(0);
  const rows = ascendingRows(joinArrays(known, pairs), 2);
  const order = sortRows(rows, 2, vertexCount);
  const knownCount = known.length / 2;
  const unique = new Uint32Array(pairs.length);
  let end = 0;
  forEachGroup(rows, 2, order, (from) => {
    const first = order[from]!;
    if (first < knownCount) return;
    unique[end++] = rows[2 * first]!;
    unique[end++] = rows[2 * first + 1]!;
  });
  return unique.slice(0, end);
}
