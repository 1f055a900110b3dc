import { limitOfEdges } from '../../src/mesh/limited-edges.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { type EdgesByColour, edgesByColour } from '../../src/solver/edges-by-colour.js';
import { TAIL_EDGES } from '../kernels/constants.js';

/** The edges whose length is constrained, in the order of the sweep; they are coloured once per mesh. */
export interface EdgePlan {
  readonly count: number;
  /** uint32[2·count] */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** float64[count] lengths at rest, the caller's unit (mesh/rest-lengths.ts); undefined = lengths of the target */
  readonly rest: Float64Array | undefined;
  /** uint32[colours + 1] first edge of each colour, and an end */
  readonly colours: Uint32Array<ArrayBuffer>;
  /** colours that whole dispatches sweep; the others form the tail */
  readonly wideColours: number;
  /** the edges that the pull-back does not limit: those of elements with strain limits */
  readonly unlimited: readonly number[];
}

/** Most edges of a mesh whose sweeps list acting edges: if all acted, one workgroup would take only milliseconds. */
const MOST_LISTED = 1 << 18;

/** Whether one workgroup may sweep the edges that act. */
export const canListEdges = ({ count }: EdgePlan): boolean => count > 0 && count <= MOST_LISTED;

const NO_EDGES: EdgesByColour = { ends: new Uint32Array(0), rest: undefined, offsets: new Uint32Array(1), colours: 0 };

/** @param hasConstraints false = σ is off: an empty plan */
export function planEdges(mesh: CollisionMesh, hasConstraints: boolean): EdgePlan {
  const { ends, rest, offsets, colours } = hasConstraints ? edgesByColour(mesh) : NO_EDGES;
  const count = ends.length / 2;
  let wideColours = colours;
  while (wideColours > 0 && offsets[wideColours] - offsets[wideColours - 1] <= TAIL_EDGES) wideColours--;
  const hasLimit = limitOfEdges(mesh);
  const unlimited: number[] = [];
  if (hasLimit) {
    for (let n = 0; n < count; n++) if (!hasLimit(ends[2 * n], ends[2 * n + 1])) unlimited.push(n);
  }
  return { count, ends, rest, colours: offsets, wideColours, unlimited };
}
