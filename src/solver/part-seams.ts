import type { CollisionMesh } from '../mesh/types.js';

/**
 * The seams of the parts: vertices with an edge to a vertex of another part.
 *
 * A pair of parts is ignored element by element: an edge e and a triangle T are not promised to stay apart if e lies wholly in
 * the one and T wholly in the other. Elements that span parts are ignored by none. An edge and a triangle that come to meet
 * do so first as an end of the edge and the triangle, or as the edge and a side of the triangle; so a pair of vertex v
 * and triangle T guards the pairs of T with the edges at v, and a pair of edges guards either one with the triangles at the
 * other. If v has edges within its part only, all that (v, T) guards is ignored with it; if one of them leaves the part, (v, T)
 * guards that edge as well and has to be kept. The same goes for a pair of edges, one of them with a triangle whose third
 * corner is in another part: the sides to that corner make both its ends seam vertices. So a pair that lies wholly in ignored
 * parts is excluded iff neither its vertex nor both ends of one of its edges are on a seam, and then it guards nothing that is
 * promised. What this keeps too much is next to a seam: an edge from seam to seam whose triangles all lie in its part, and
 * pairs whose only promised partner shares a vertex with them.
 *
 * @returns uint8[V] 1 = on a seam; all 0 when no parts are ignored
 */
export function findSeams({ vertexCount, edges, partOfVertex, ignoredPartPairs }: CollisionMesh): Uint8Array {
  const isOnSeam = new Uint8Array(vertexCount);
  if (ignoredPartPairs.length === 0) return isOnSeam;
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [edges[e], edges[e + 1]];
    if (partOfVertex[a] === partOfVertex[b]) continue;
    isOnSeam[a] = 1;
    isOnSeam[b] = 1;
  }
  return isOnSeam;
}
