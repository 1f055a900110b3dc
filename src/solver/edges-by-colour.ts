import { movableEdges } from '../mesh/movable-edges.js';
import type { CollisionMesh } from '../mesh/types.js';
import { colourEdges } from './colouring.js';

/** The edges whose length is constrained, colour by colour, which is the order of a sweep. */
export interface EdgesByColour {
  /** uint32[2·n] */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** float64[n] lengths at rest, the caller's unit (mesh/rest-lengths.ts); undefined = no edge has one */
  readonly rest: Float64Array | undefined;
  /** uint32[colours + 1] first edge of each colour, and an end */
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly colours: number;
}

/** The edges with a dynamic vertex; those of a colour are in the order of the mesh. */
export function edgesByColour(mesh: CollisionMesh): EdgesByColour {
  const { ends: from, rest: lengths } = movableEdges(mesh);
  const { colour, offsets, colours } = colourEdges(from, mesh.inverseMasses);
  const ends = new Uint32Array(from.length);
  const rest = lengths && new Float64Array(lengths.length);
  const next = offsets.slice();
  for (let e = 0; e < colour.length; e++) {
    const n = next[colour[e]]++;
    ends[2 * n] = from[2 * e];
    ends[2 * n + 1] = from[2 * e + 1];
    if (rest) rest[n] = lengths[e];
  }
  return { ends, rest, offsets, colours };
}
