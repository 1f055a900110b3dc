import { allEdges } from './limited-edges.js';
import type { CollisionMesh } from './types.js';

/** Edges whose length a solver can change, in the order of the mesh: contact edges, then those inside solids. */
export interface MovableEdges {
  /** uint32[2·n] */
  readonly ends: Uint32Array;
  /** float64[n] as in RestLengths, the caller's unit; undefined = no edge has a length at rest */
  readonly rest: Float64Array | undefined;
}

/** The edges with a dynamic vertex. If these are all contact edges, the arrays are those of the mesh. */
export function movableEdges(
  mesh: Pick<CollisionMesh, 'edges' | 'innerEdges' | 'inverseMasses' | 'restLengths'>,
): MovableEdges {
  const { edges: contactEdges, innerEdges, inverseMasses: masses, restLengths } = mesh;
  if (innerEdges.length === 0 && !masses.includes(0)) return { ends: contactEdges, rest: restLengths?.edges };
  const most = (contactEdges.length + innerEdges.length) / 2;
  const ends = new Uint32Array(2 * most);
  const rest = restLengths && new Float64Array(most);
  let n = 0;
  for (const { ends: edges, rest: lengths } of allEdges(mesh)) {
    for (let e = 0; e < edges.length / 2; e++) {
      const a = edges[2 * e]!;
      const b = edges[2 * e + 1]!;
      if (masses[a]! + masses[b]! === 0) continue;
      ends[2 * n] = a;
      ends[2 * n + 1] = b;
      if (rest) rest[n] = lengths![e]!;
      n++;
    }
  }
  return { ends: ends.subarray(0, 2 * n), rest: rest?.subarray(0, n) };
}
