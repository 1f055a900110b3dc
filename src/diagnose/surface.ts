import { ascendingRows, forEachGroup, sortRows } from '../mesh/rows.js';

/** Which triangles meet at which edge. */
export interface Surface {
  /** uint32[3·T] */
  readonly triangles: Uint32Array;
  /** uint32[2·E] lower id first, ascending */
  readonly edges: Uint32Array;
  /** uint32[3·T] edge of each side; side k goes from corner k to the next */
  readonly edgeOfSide: Uint32Array;
  /** uint32[E + 1] and uint32[3·T]: the sides (3·triangle + k) at each edge */
  readonly offsets: Uint32Array;
  readonly sides: Uint32Array;
  /** the vertex where a side begins, and where it ends */
  from(side: number): number;
  to(side: number): number;
  /** number of triangles at an edge */
  valence(edge: number): number;
}

/** @param triangles uint32[3·T] ids below vertexCount. Linear time. */
export function readSurface(triangles: Uint32Array, vertexCount: number): Surface {
  const from = (side: number): number => triangles[side];
  const to = (side: number): number => triangles[side % 3 === 2 ? side - 2 : side + 1];
  const rows = new Uint32Array(2 * triangles.length);
  for (let side = 0; side < triangles.length; side++) {
    rows[2 * side] = from(side);
    rows[2 * side + 1] = to(side);
  }
  const keys = ascendingRows(rows, 2);
  const sides = sortRows(keys, 2, Math.max(1, vertexCount));
  const edgeOfSide = new Uint32Array(triangles.length);
  const edges: number[] = [];
  const offsets: number[] = [];
  forEachGroup(keys, 2, sides, (first, end) => {
    for (let k = first; k < end; k++) edgeOfSide[sides[k]] = offsets.length;
    offsets.push(first);
    edges.push(keys[2 * sides[first]], keys[2 * sides[first] + 1]);
  });
  offsets.push(triangles.length);
  const starts = Uint32Array.from(offsets);
  return {
    triangles,
    edges: Uint32Array.from(edges),
    edgeOfSide,
    offsets: starts,
    sides,
    from,
    to,
    valence: (edge) => starts[edge + 1] - starts[edge],
  };
}

/** The side at the other triangle of an edge with two; -1 for an edge with more or fewer. */
export function oppositeSide(surface: Surface, side: number): number {
  const edge = surface.edgeOfSide[side];
  if (surface.valence(edge) !== 2) return -1;
  const at = surface.offsets[edge];
  return surface.sides[at] === side ? surface.sides[at + 1] : surface.sides[at];
}
