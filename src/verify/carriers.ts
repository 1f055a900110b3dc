import type { CollisionMesh } from '../mesh/types.js';

/**
 * What a tree is made of: the triangles of a mesh, then its edges without a triangle, then its points without either.
 * Every edge and every vertex belongs to one carrier that contains it, so one tree over the carriers finds the pairs of
 * all three sorts of elements.
 */
export interface Carriers {
  readonly count: number;
  /** uint32[3·count] vertices; those with fewer than three repeat the last one */
  readonly corners: Uint32Array;
  /** uint32[E] carrier of an edge */
  readonly ofEdge: Uint32Array;
  /** uint32[V] carrier of a vertex; NO_CARRIER = it can touch nothing */
  readonly ofVertex: Uint32Array;
}

export const NO_CARRIER = 0xffffffff;

export function collectCarriers({ vertexCount, triangles, edges, contactVertices }: CollisionMesh): Carriers {
  const ofVertex = new Uint32Array(vertexCount).fill(NO_CARRIER);
  for (let k = 0; k < triangles.length; k++) {
    if (ofVertex[triangles[k]] === NO_CARRIER) ofVertex[triangles[k]] = Math.floor(k / 3);
  }
  const ofEdge = findTriangleOfEdges(vertexCount, triangles, edges);
  const loose: number[] = [];
  let count = triangles.length / 3;
  for (let e = 0; e < ofEdge.length; e++) {
    if (ofEdge[e] !== NO_CARRIER) continue;
    const [p, q] = [edges[2 * e], edges[2 * e + 1]];
    loose.push(p, q, q);
    if (ofVertex[p] === NO_CARRIER) ofVertex[p] = count;
    if (ofVertex[q] === NO_CARRIER) ofVertex[q] = count;
    ofEdge[e] = count++;
  }
  for (const vertex of contactVertices) {
    if (ofVertex[vertex] !== NO_CARRIER) continue;
    loose.push(vertex, vertex, vertex);
    ofVertex[vertex] = count++;
  }
  const corners = new Uint32Array(3 * count);
  corners.set(triangles);
  corners.set(loose, triangles.length);
  return { count, corners, ofEdge, ofVertex };
}

/** The first triangle with this edge as a side, or NO_CARRIER. */
function findTriangleOfEdges(vertexCount: number, triangles: Uint32Array, edges: Uint32Array): Uint32Array {
  const edgeCount = edges.length / 2;
  // Edges by their lower vertex: hardly more than three each, so a side is found by looking through them.
  const start = new Uint32Array(vertexCount + 1);
  for (let e = 0; e < edgeCount; e++) start[Math.min(edges[2 * e], edges[2 * e + 1]) + 1]++;
  for (let v = 0; v < vertexCount; v++) start[v + 1] += start[v];
  const next = start.slice();
  const byLower = new Uint32Array(edgeCount);
  for (let e = 0; e < edgeCount; e++) byLower[next[Math.min(edges[2 * e], edges[2 * e + 1])]++] = e;
  const found = new Uint32Array(edgeCount).fill(NO_CARRIER);
  for (let k = 0; k < triangles.length; k++) {
    const p = triangles[k];
    const q = triangles[k % 3 === 2 ? k - 2 : k + 1];
    const low = Math.min(p, q);
    const high = Math.max(p, q);
    for (let n = start[low]; n < start[low + 1]; n++) {
      const e = byLower[n];
      if (found[e] === NO_CARRIER && Math.max(edges[2 * e], edges[2 * e + 1]) === high) found[e] = Math.floor(k / 3);
    }
  }
  return found;
}
