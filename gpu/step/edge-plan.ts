import type { CollisionMesh } from '../../src/mesh/types.js';
import { colourEdges } from '../../src/solver/colouring.js';

/** Colours from the first that is no larger than this, and with no larger one behind it, are swept by one workgroup. */
const TAIL_EDGES = 2048;

/** The edges whose length is constrained, in the order of the sweep: coloured once per mesh. */
export interface EdgePlan {
  readonly count: number;
  /** uint32[2·count] */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** uint32[colours + 1] first edge of each colour */
  readonly colours: Uint32Array<ArrayBuffer>;
  /** colours swept by whole dispatches; the others are the tail */
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

/** Contact edges and those inside solids that have a dynamic vertex. */
function movableEdges(mesh: CollisionMesh): Uint32Array {
  const corner: number[] = [];
  for (const edges of [mesh.edges, mesh.innerEdges]) {
    for (let e = 0; e < edges.length; e += 2) {
      if (mesh.inverseMasses[edges[e]] + mesh.inverseMasses[edges[e + 1]] > 0) corner.push(edges[e], edges[e + 1]);
    }
  }
  return Uint32Array.from(corner);
}
