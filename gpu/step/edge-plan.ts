import type { CollisionMesh } from '../../src/mesh/types.js';
import { colourEdges } from '../../src/solver/colouring.js';
import { TAIL_EDGES } from '../kernels/constants.js';

/** The edges whose length is constrained, in the order of the sweep; they are coloured once per mesh. */
export interface EdgePlan {
  readonly count: number;
  /** uint32[2·count] */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** uint32[colours + 1] first edge of each colour, and an end */
  readonly colours: Uint32Array<ArrayBuffer>;
  /** colours that whole dispatches sweep; the others form the tail */
  readonly wideColours: number;
}

/** @param hasConstraints false = σ is off: an empty plan */
export function planEdges(mesh: CollisionMesh, hasConstraints: boolean): EdgePlan {
  const corner = hasConstraints ? movableEdges(mesh) : new Uint32Array(0);
  const { order, offsets, colours } = colourEdges(corner, mesh.inverseMasses);
  const ends = new Uint32Array(corner.length);
  for (let n = 0; n < order.length; n++) {
    ends[2 * n] = corner[2 * order[n]];
    ends[2 * n + 1] = corner[2 * order[n] + 1];
  }
  let wideColours = colours;
  while (wideColours > 0 && offsets[wideColours] - offsets[wideColours - 1] <= TAIL_EDGES) wideColours--;
  return { count: order.length, ends, colours: Uint32Array.from(offsets), wideColours };
}

/** uint32[2·E] contact edges, and edges inside solids, with a dynamic vertex. */
function movableEdges(mesh: CollisionMesh): Uint32Array {
  const corner: number[] = [];
  for (const edges of [mesh.edges, mesh.innerEdges]) {
    for (let e = 0; e < edges.length; e += 2) {
      if (mesh.inverseMasses[edges[e]] + mesh.inverseMasses[edges[e + 1]] > 0) corner.push(edges[e], edges[e + 1]);
    }
  }
  return Uint32Array.from(corner);
}
