import type { Quality } from '../contract/parameters.js';
import type { CollisionMesh } from './types.js';

/** Some edges of a mesh. */
export interface EdgeList {
  /** uint32[2·n] */
  readonly ends: Uint32Array;
  /** float64[n] their lengths at rest (rest-lengths.ts); undefined = the mesh has none */
  readonly rest: Float64Array | undefined;
}

/** All edges: contact edges, and edges inside solids. */
export function allEdges(mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'restLengths'>): readonly EdgeList[] {
  return [
    { ends: mesh.edges, rest: mesh.restLengths?.edges },
    { ends: mesh.innerEdges, rest: mesh.restLengths?.innerEdges },
  ];
}

/**
 * The edges with a length limit of their own. Edges of elements with strain limits have none: their lengths follow from
 * the strains, relative to the rest shape, and a compressed target would contradict them.
 *
 * @returns the rods of a mesh with strain limits, otherwise all edges
 */
export function edgesWithLimit(
  mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'rodStart' | 'strain' | 'restLengths'>,
): readonly EdgeList[] {
  if (!mesh.strain) return allEdges(mesh);
  return [{ ends: mesh.edges.subarray(2 * mesh.rodStart), rest: mesh.restLengths?.edges.subarray(mesh.rodStart) }];
}

/** The edges of triangles and tetrahedra: all but rods. */
export function edgesOfElements(
  mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'rodStart' | 'restLengths'>,
): readonly EdgeList[] {
  const [{ ends, rest }, inner] = allEdges(mesh) as [EdgeList, EdgeList];
  return [{ ends: ends.subarray(0, 2 * mesh.rodStart), rest: rest?.subarray(0, mesh.rodStart) }, inner];
}

/** The edges whose length `stretchLimit` limits. Under FAST strain limits only measure, so it applies to all edges. */
export const edgesUnder = (quality: Quality, mesh: Parameters<typeof edgesWithLimit>[0]): readonly EdgeList[] =>
  quality === 'FAST' ? allEdges(mesh) : edgesWithLimit(mesh);

/** Returns a test, by the ends of an edge, whether it is among them; undefined = all are. */
export function limitOfEdges(
  mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'rodStart' | 'strain' | 'restLengths' | 'vertexCount'>,
): ((a: number, b: number) => boolean) | undefined {
  if (!mesh.strain) return undefined;
  const rods = edgesWithLimit(mesh)[0]!.ends;
  const known = new Set<number>();
  for (let e = 0; e < rods.length; e += 2) known.add(rods[e]! * mesh.vertexCount + rods[e + 1]!);
  return (a, b) => known.has(Math.min(a, b) * mesh.vertexCount + Math.max(a, b));
}
