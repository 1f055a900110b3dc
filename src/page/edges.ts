import type { MeshInput } from '../contract/mesh.js';

/** Returns uint32[2·E]: every edge of the triangles once, then the segments; the smaller id first. */
export function listEdges({ vertexCount, triangles, segments }: MeshInput): Uint32Array<ArrayBuffer> {
  const corners = triangles?.length ?? 0;
  const sides = new Float64Array(corners + (segments?.length ?? 0) / 2);
  let count = 0;
  // A pair of ids as one double, exact up to 2^53: for meshes of up to 94 million vertices, more than a page can hold.
  const add = (a: number, b: number) => {
    sides[count++] = Math.min(a, b) * vertexCount + Math.max(a, b);
  };
  for (let i = 0; i < corners; i += 3) {
    const [a, b, c] = [triangles![i]!, triangles![i + 1]!, triangles![i + 2]!];
    add(a, b);
    add(b, c);
    add(c, a);
  }
  for (let i = 0; i < (segments?.length ?? 0); i += 2) add(segments![i]!, segments![i + 1]!);
  sides.sort();
  const edges = new Uint32Array(2 * count);
  let end = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0 && sides[i] === sides[i - 1]) continue;
    edges[end++] = Math.floor(sides[i]! / vertexCount);
    edges[end++] = sides[i]! % vertexCount;
  }
  return edges.slice(0, end);
}

/** The median length of edges, in the unit of the positions; 0 without edges. Of many edges it uses a sample. */
export function medianLength(edges: Uint32Array, positions: ArrayLike<number>): number {
  const count = edges.length / 2;
  const stride = Math.max(1, Math.floor(count / SAMPLES));
  const lengths: number[] = [];
  for (let i = 0; i < count; i += stride) lengths.push(edgeLength(edges, i, positions));
  lengths.sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length / 2)] ?? 0;
}

const SAMPLES = 4096;

export function edgeLength(edges: Uint32Array, edge: number, positions: ArrayLike<number>): number {
  const a = 3 * edges[2 * edge]!;
  const b = 3 * edges[2 * edge + 1]!;
  const x = positions[b]! - positions[a]!;
  const y = positions[b + 1]! - positions[a + 1]!;
  const z = positions[b + 2]! - positions[a + 2]!;
  return Math.sqrt(x * x + y * y + z * z);
}

/** float64[E] */
export function edgeLengths(edges: Uint32Array, positions: ArrayLike<number>): Float64Array {
  const lengths = new Float64Array(edges.length / 2);
  for (let edge = 0; edge < lengths.length; edge++) lengths[edge] = edgeLength(edges, edge, positions);
  return lengths;
}
