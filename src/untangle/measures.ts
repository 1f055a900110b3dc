import type { Positions } from '../contract/mesh.js';
import { distanceOf } from '../mesh/lengths.js';
import type { EdgeList } from '../mesh/limited-edges.js';
import { ownLength } from '../mesh/rest-lengths.js';
import type { Guidance } from './sides.js';
import { outsideOf, type Topology } from './topology.js';

/** float64[n] lengths of edges at rest; where an edge has none, that in the start. */
export function lengthsAtRest({ ends, rest }: EdgeList, start: Positions): Float64Array {
  const lengths = new Float64Array(ends.length / 2);
  for (let e = 0; e < lengths.length; e++)
    lengths[e] = ownLength(rest?.[e]) ?? distanceOf(start, ends[2 * e], ends[2 * e + 1]);
  return lengths;
}

/** Returns the share of the surface of every vertex, the edges of every sheet, and the outside of every body. */
export function surfaceOf(topology: Topology, positions: Positions): Pick<Guidance, 'areas' | 'edgesOf' | 'outsides'> {
  const { mesh, sheet, sheets } = topology;
  const { triangles, edges, vertexCount } = mesh;
  const areas = new Float64Array(vertexCount);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t], triangles[t + 1], triangles[t + 2]];
    const [p, q, r] = [distanceOf(positions, a, b), distanceOf(positions, b, c), distanceOf(positions, c, a)];
    const s = (p + q + r) / 2;
    const share = Math.sqrt(Math.max(0, s * (s - p) * (s - q) * (s - r))) / 3;
    for (const v of [a, b, c]) areas[v] += share;
  }
  const bySheet = new Map<number, number[]>();
  for (let e = 0; e < edges.length / 2; e++) {
    const root = sheet[edges[2 * e]];
    const known = bySheet.get(root);
    if (known) known.push(e);
    else bySheet.set(root, [e]);
  }
  const x = Float64Array.from(positions);
  const outsides = new Map([...sheets].map(([root, kind]) => [root, outsideOf(topology, kind, x)]));
  return { areas, edgesOf: (root) => bySheet.get(root) ?? [], outsides };
}
