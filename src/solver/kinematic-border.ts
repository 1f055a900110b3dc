import type { CollisionMesh } from '../mesh/types.js';

/**
 * The border of the kinematic regions: kinematic vertices and edges that are not inner. Inner are a vertex at which every
 * edge is kinematic, and a kinematic edge in kinematic triangles only. Triangles have no border: one with three kinematic
 * vertices is inner; and so are kinematic free points and rods. (A triangle with a dynamic corner has dynamic edges at its
 * other two, so for vertices the edges say all.)
 *
 * Under SKIP a pair is excluded iff both its elements are inner. What is promised are edges against triangles, less those
 * where both are kinematic throughout. An edge and a triangle that come to meet do so first as an end of the edge and the
 * triangle, or as the edge and a side of the triangle; so a pair of vertex v and triangle T guards the pairs of T with the
 * edges at v, and a pair of edges guards either one with the triangles at the other. What is excluded is therefore exactly
 * what guards nothing that is promised.
 *
 * A start cannot touch in a pair of kinematic elements that is kept: the pair guards an edge-triangle pair whose dynamic
 * vertex the other side cannot have, so these two share no vertex either; the touching point is one of both; and the start
 * is refused for it.
 */
export interface KinematicBorder {
  /** uint8[C] in the order of CollisionMesh.contactVertices, 1 = kinematic, with an edge that is not */
  readonly contactVertices: Uint8Array;
  /** uint8[E] in the order of CollisionMesh.edges, 1 = kinematic, in a triangle that is not */
  readonly edges: Uint8Array;
}

export function findKinematicBorder(mesh: CollisionMesh): KinematicBorder {
  const { kinematic, contactVertices, edges, rodStart, vertexCount } = mesh;
  const hasDynamicEdge = new Uint8Array(vertexCount);
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [edges[e], edges[e + 1]];
    if (kinematic[a] === kinematic[b]) continue;
    hasDynamicEdge[kinematic[a] === 0 ? b : a] = 1;
  }
  const sides = sidesOfDynamicCorners(mesh);
  const border = new Uint8Array(edges.length / 2);
  for (let e = 0; sides.size > 0 && e < rodStart; e++) {
    const [a, b] = [edges[2 * e], edges[2 * e + 1]];
    // Few edges have two such ends: the others need not be looked up.
    if (hasDynamicEdge[a] + hasDynamicEdge[b] === 2 && sides.has(a * vertexCount + b)) border[e] = 1;
  }
  return { contactVertices: Uint8Array.from(contactVertices, (v) => hasDynamicEdge[v]), edges: border };
}

/** Kinematic sides of triangles with one dynamic corner, as (lower id)·V + higher id: below 2^53 for every V that there is room for. */
function sidesOfDynamicCorners({ triangles, kinematic, vertexCount }: CollisionMesh): Set<number> {
  const sides = new Set<number>();
  for (let t = 0; t < triangles.length; t += 3) {
    for (let s = 0; s < 3; s++) {
      const a = triangles[t + s];
      const b = triangles[t + ((s + 1) % 3)];
      const apex = triangles[t + ((s + 2) % 3)];
      if (kinematic[a] === 0 || kinematic[b] === 0 || kinematic[apex] !== 0) continue;
      sides.add(Math.min(a, b) * vertexCount + Math.max(a, b));
    }
  }
  return sides;
}
