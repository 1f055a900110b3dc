import type { Positions } from '../contract/mesh.js';
import { medianLength, nearestDistances } from './lengths.js';
import type { CollisionMesh, Part } from './types.js';

/**
 * The largest activation distance δ, in typical edges (typical-edge.ts; for particles alone the median distance of
 * nearest neighbours).
 *
 * A contact opens its pair to at least a quarter of δ, however near the two were at the start. Elements next to each
 * other in a mesh, or particles in a heap, are about a typical edge apart. So with δ beyond four edges every element
 * pushes its own neighbours from the first step on, even at rest, and no answer is near its target. Eight leaves room
 * for meshes whose edges vary. Up to it, an element of a surface has some 400 others within reach, and so has a
 * particle of a heap, whereas with a δ of a metre in a cloth with edges of 10 mm it has 60,000: pairs grow with the
 * square of δ in surfaces and with its cube in heaps.
 */
const EDGES_PER_DELTA = 8;

/**
 * A mesh with at most this many pairs in all is small: searches do not shorten boxes for them (solver/pair-budget.ts),
 * so any δ is accepted.
 */
const FEW_PAIRS = 65_536;

/** Parts with at most this many vertices are small: a few large bodies among many fine elements. */
const FEW_VERTICES = 256;

/**
 * The largest δ for a mesh, in the unit of its typical edge; Infinity if the mesh is small, or all its edges have
 * length 0.
 */
export function findLargestDelta(mesh: CollisionMesh, typicalEdge: number): number {
  const { edges, triangles, particles, contactVertices } = mesh;
  const [e, t, p, v] = [edges.length / 2, triangles.length / 3, particles.length, contactVertices.length];
  const pairs = v * t + (e * (e - 1)) / 2 + p * e + (p * (p - 1)) / 2;
  return pairs <= FEW_PAIRS || typicalEdge === 0 ? Number.POSITIVE_INFINITY : EDGES_PER_DELTA * typicalEdge;
}

/**
 * The largest δ of each part with its own δ: a part may consist of larger bodies than the rest of the mesh, so the
 * median distance of its vertices to their nearest neighbours is used if it is larger than the typical edge.
 */
export function findLargestDeltas(
  { parts, contactVertices }: CollisionMesh,
  positions: Positions,
  ofMesh: number,
): readonly number[] {
  return parts.map(({ firstVertex, vertexCount, activationDistance }: Part) => {
    if (activationDistance === undefined || activationDistance <= ofMesh || vertexCount <= FEW_VERTICES) {
      return Number.POSITIVE_INFINITY;
    }
    const own = contactVertices.filter((v) => v >= firstVertex && v < firstVertex + vertexCount);
    return Math.max(ofMesh, EDGES_PER_DELTA * medianLength(nearestDistances(positions, own)));
  });
}
