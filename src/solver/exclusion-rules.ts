import type { LeftOutPairs } from '../mesh/left-out-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from './pair-kinds.js';

/**
 * The proximity pairs that a mesh excludes from every search: inner pairs of kinematic regions (kinematicPairs SKIP),
 * and pairs of ignored parts.
 *
 * Both rules follow from one fact. The promise is about edges against triangles. An edge and a triangle that come to
 * meet do so first as an end of the edge and the triangle, or as the edge and a side of the triangle. So a pair of
 * vertex v and triangle T guards the pairs of T with the edges at v, and a pair of edges guards either edge with the
 * triangles at the other. A pair may be excluded if and only if it guards nothing that is promised.
 */

/** Whether a pair of these vertex ids, in slot order, is excluded. */
export type PairPredicate = (kind: number, v0: number, v1: number, v2: number, v3: number) => boolean;

/**
 * The border of the kinematic regions: kinematic vertices and edges that are not inner. A vertex is inner if every edge
 * at it is kinematic; a kinematic edge is inner if all its triangles are. Triangles have no border: one with three
 * kinematic vertices is inner, and so are kinematic particles and rods. (A triangle with a dynamic corner has dynamic
 * edges at its other two corners, so edges suffice to classify vertices.)
 *
 * Under SKIP a pair is excluded if and only if both its elements are inner. The promise covers edges against triangles
 * unless both are completely kinematic, so the excluded pairs are exactly those that guard nothing that is promised.
 *
 * A start cannot touch in a pair of kinematic elements that is kept: the pair guards an edge-triangle pair with a
 * dynamic vertex, which the other side cannot have, so these two share no vertex either. The touching point belongs to
 * both, and the start is refused for it.
 */
export interface KinematicBorder {
  /** uint8[C] in the order of CollisionMesh.contactVertices, 1 = kinematic, with an edge that is not */
  readonly contactVertices: Uint8Array;
  /** uint8[E] in the order of CollisionMesh.edges, 1 = kinematic, in a triangle that is not */
  readonly edges: Uint8Array;
}

/** Meshes do not change. */
const borders = new WeakMap<CollisionMesh, KinematicBorder>();

export function findKinematicBorder(mesh: CollisionMesh): KinematicBorder {
  const known = borders.get(mesh);
  if (known) return known;
  const border = computeBorder(mesh);
  borders.set(mesh, border);
  return border;
}

function computeBorder(mesh: CollisionMesh): KinematicBorder {
  const { kinematic, contactVertices, edges, rodStart, vertexCount } = mesh;
  if (!kinematic.includes(1)) {
    return { contactVertices: new Uint8Array(contactVertices.length), edges: new Uint8Array(edges.length / 2) };
  }
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
    // Few edges have two such ends; only those need a look-up.
    if (hasDynamicEdge[a] + hasDynamicEdge[b] === 2 && sides.has(a * vertexCount + b)) border[e] = 1;
  }
  const contacts = new Uint8Array(contactVertices.length);
  for (let n = 0; n < contacts.length; n++) contacts[n] = hasDynamicEdge[contactVertices[n]];
  return { contactVertices: contacts, edges: border };
}

/** Kinematic sides of triangles with one dynamic corner, as (lower id)·V + higher id, which is below 2^53. */
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

/**
 * The seams of the parts: vertices with an edge to a vertex of another part.
 *
 * A pair of parts is ignored element by element: nothing is promised about an edge e and a triangle T if e lies wholly
 * in the one part and T wholly in the other. No rule ignores elements that span parts. If v has edges within its part
 * only, everything that (v, T) guards is ignored with it; if one of its edges leaves the part, (v, T) guards that edge
 * as well and must be kept. The same holds for a pair of edges, one of them with a triangle whose third corner is in
 * another part: the sides to that corner make both its ends seam vertices. So a pair that lies wholly in ignored parts
 * is excluded if and only if neither its vertex nor both ends of one of its edges are on a seam. This keeps more than
 * needed only next to a seam: an edge from seam to seam whose triangles all lie in its part, and pairs whose only
 * promised partner shares a vertex with them.
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

/**
 * Excludes a pair if and only if one side lies wholly in part p, the other wholly in part q, (p, q) is ignored, and no
 * side that is a vertex or an edge lies on a seam.
 *
 * @returns undefined if no parts are ignored
 */
export function ignoredParts(mesh: CollisionMesh): PairPredicate | undefined {
  if (mesh.ignoredPartPairs.length === 0) return undefined;
  const partCount = mesh.parts.length;
  const ignored = new Set<number>();
  for (let n = 0; n < mesh.ignoredPartPairs.length; n += 2) {
    const p = mesh.ignoredPartPairs[n];
    const q = mesh.ignoredPartPairs[n + 1];
    ignored.add(p * partCount + q);
    ignored.add(q * partCount + p);
  }
  const { partOfVertex } = mesh;
  const isOnSeam = findSeams(mesh);
  return (kind, v0, v1, v2, v3) => {
    const corner = [v0, v1, v2, v3];
    const sideA = SIDE_A[kind];
    const corners = CORNERS[kind];
    const a = partOfVertex[v0];
    const b = partOfVertex[corner[sideA]];
    let [seamA, seamB] = [1, corners - sideA < 3 ? 1 : 0];
    for (let s = 0; s < corners; s++) {
      const vertex = corner[s];
      if (partOfVertex[vertex] !== (s < sideA ? a : b)) return false;
      if (s < sideA) seamA &= isOnSeam[vertex];
      else seamB &= isOnSeam[vertex];
    }
    return (seamA | seamB) === 0 && ignored.has(a * partCount + b);
  };
}

/** Excludes the pairs that either predicate excludes; undefined = none. */
export function eitherOf(
  ofIgnoredParts: PairPredicate | undefined,
  excluded: LeftOutPairs | undefined,
): PairPredicate | undefined {
  if (!excluded) return ofIgnoredParts;
  return (kind, v0, v1, v2, v3) =>
    ofIgnoredParts?.(kind, v0, v1, v2, v3) === true || PAIR_KINDS[kind].isExcluded(excluded, v0, v1, v2, v3);
}

/** Whether both exclude the same pairs. */
export function isSameList(a: LeftOutPairs | undefined, b: LeftOutPairs | undefined): boolean {
  return a ? a.isSameAs(b) : b === undefined || b.isSameAs(undefined);
}
