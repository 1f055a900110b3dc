import { TriangleTree } from '../diagnose/triangle-tree.js';
import { NEAREST_PER_PULSE } from './heights.js';
import type { Region } from './regions.js';
import { normalOf } from './sides.js';
import type { Topology } from './topology.js';

type Vector = readonly [number, number, number];

/** A point of an edge must have a least height above a point of a triangle: n · (Σ s_i y_i − Σ w_i y_i) ≥ least. */
export interface HeightRow {
  /** a vertex is written as an edge whose second end has the share 0 */
  readonly ends: readonly [number, number];
  readonly shares: readonly [number, number];
  readonly corners: readonly [number, number, number];
  readonly weights: readonly [number, number, number];
  readonly n: Vector;
  readonly least: number;
}

/** Lengths in the unit of the positions. */
export interface RowLengths {
  /** the gap that remains between sheets */
  readonly gap: number;
  /** the largest height by which a row lifts */
  readonly longest: number;
}

/**
 * Returns the rows that bring a region to its right side. A vertex must come to lie above the nearest triangle of the
 * partner sheet. A wrong end of a cut edge must also come to lie above the triangle that the edge pierces. Of an edge
 * with both ends on the right side, the middle of the wrong piece must.
 *
 * @param pulse called at short intervals; may throw
 */
export function heightRowsOf(
  topology: Topology,
  x: Float64Array,
  region: Region,
  lengths: RowLengths,
  pulse: () => void,
): HeightRow[] {
  const { edges, triangles } = topology.mesh;
  const tree = new TriangleTree(x, triangles, Uint32Array.from(region.partner), pulse);
  const rows: HeightRow[] = [];
  const add = (ends: readonly [number, number], at: number, triangle: number, n: Vector, q: Vector): void => {
    const p = alongEdge(x, ends, at);
    const height = n[0] * (p[0] - q[0]) + n[1] * (p[1] - q[1]) + n[2] * (p[2] - q[2]);
    if (-height > region.deepest) return;
    const corners = [triangles[3 * triangle], triangles[3 * triangle + 1], triangles[3 * triangle + 2]] as const;
    const least = Math.min(lengths.gap, height + lengths.longest);
    rows.push({ ends, shares: [1 - at, at], corners, weights: weightsOf(x, corners, q), n, least });
  };
  const addNearest = (ends: readonly [number, number], at: number): void => {
    const p = alongEdge(x, ends, at);
    const { triangle, distance, ...q } = tree.nearest(...p);
    if (triangle < 0) return;
    const n = towards(topology, x, triangle, region);
    if (n[0] * (p[0] - q.x) + n[1] * (p[1] - q.y) + n[2] * (p[2] - q.z) <= 0)
      add(ends, at, triangle, n, [q.x, q.y, q.z]);
    // Beyond the rim of a fold the plane has no meaning; the direction to the nearest point is used.
    else if (distance > lengths.gap) {
      const back: Vector = [(q.x - p[0]) / distance, (q.y - p[1]) / distance, (q.z - p[2]) / distance];
      add(ends, at, triangle, back, [q.x, q.y, q.z]);
    }
  };
  for (const [n, v] of region.vertices.entries()) {
    if (n % NEAREST_PER_PULSE === 0) pulse();
    addNearest([v, v], 0);
  }
  for (const { edge, at } of region.spans) addNearest([edges[2 * edge], edges[2 * edge + 1]], at);
  for (const { vertex, edge, triangle, at } of region.cuts) {
    const q = alongEdge(x, [edges[2 * edge], edges[2 * edge + 1]], at);
    add([vertex, vertex], 0, triangle, towards(topology, x, triangle, region), q);
  }
  return rows;
}

/** Normal of a triangle, towards the side on which the region belongs. */
function towards(topology: Topology, x: Float64Array, triangle: number, { right }: Region): Vector {
  const n = normalOf(topology, x, triangle);
  return [right * n[0], right * n[1], right * n[2]];
}

function alongEdge(x: Float64Array, [a, b]: readonly [number, number], at: number): [number, number, number] {
  const along = (axis: number): number => (1 - at) * x[3 * a + axis] + at * x[3 * b + axis];
  return [along(0), along(1), along(2)];
}

/** Barycentric coordinates of a point of a triangle; those of a corner where it has no area. */
export function weightsOf(x: Float64Array, [a, b, c]: Vector, q: Vector): Vector {
  const [ux, uy, uz] = [x[3 * b] - x[3 * a], x[3 * b + 1] - x[3 * a + 1], x[3 * b + 2] - x[3 * a + 2]];
  const [vx, vy, vz] = [x[3 * c] - x[3 * a], x[3 * c + 1] - x[3 * a + 1], x[3 * c + 2] - x[3 * a + 2]];
  const [wx, wy, wz] = [q[0] - x[3 * a], q[1] - x[3 * a + 1], q[2] - x[3 * a + 2]];
  const [uu, uv, vv] = [ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz];
  const [uw, vw] = [ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz];
  const area = uu * vv - uv * uv;
  if (!(area > 0)) return [1, 0, 0];
  const [s, t] = [(vv * uw - uv * vw) / area, (uu * vw - uv * uw) / area];
  return [1 - s - t, s, t];
}
