import type { CollisionMesh } from './types.js';

/**
 * The edges whose lengths in the target limit those in the answer. Edges of elements with strain limits are none of them: their
 * lengths follow from the strains, relative to the rest shape, and a target that is pressed would contradict them.
 *
 * @returns lists of uint32[2·n]; of a mesh with strain limits the rods, otherwise all edges
 */
export function edgesWithLimit(
  mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'rodStart' | 'strain'>,
): readonly Uint32Array[] {
  return mesh.strain ? [mesh.edges.subarray(2 * mesh.rodStart)] : [mesh.edges, mesh.innerEdges];
}

/** Whether an edge is among them, by its ends. @returns undefined = all are */
export function limitOfEdges(
  mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'rodStart' | 'strain' | 'vertexCount'>,
): ((a: number, b: number) => boolean) | undefined {
  if (!mesh.strain) return undefined;
  const rods = edgesWithLimit(mesh)[0]!;
  const known = new Set<number>();
  for (let e = 0; e < rods.length; e += 2) known.add(rods[e]! * mesh.vertexCount + rods[e + 1]!);
  return (a, b) => known.has(Math.min(a, b) * mesh.vertexCount + Math.max(a, b));
}
