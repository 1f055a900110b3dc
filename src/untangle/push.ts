import type { Contour } from './contours.js';
import { gradientRowsOf } from './gradient-rows.js';
import { type HeightRow, heightRowsOf } from './height-rows.js';
import type { Region } from './regions.js';
import { rowOf, type Topology } from './topology.js';

export interface PushOptions {
  /** typical edge, and the gap that remains; in the unit of x */
  readonly edge: number;
  readonly gap: number;
  /** float64[E] lengths at rest of the contact edges */
  readonly lengths: Float64Array;
  /** called at short intervals; may throw */
  readonly pulse: () => void;
}

const SWEEPS = 12;
/** Rings around pushed vertices whose vertices may follow. */
const FOLLOWING_RINGS = 3;
/** Edges keep their length at rest within this share. */
const LENGTH_SLACK = 0.1;
/** Sweeps after which motions are smoothed. */
const SMOOTHED_AFTER = [4, 8];
/** The longest motion of one iteration, in edges. */
const LONGEST = 0.5;
/**
 * The longest motion of an edge relative to a triangle that shortens a contour, in edges: small compared with the
 * elements.
 */
const SHORTENED_BY = 0.25;

export interface Push {
  /** float64[3·V] equal to x for vertices that are not pushed */
  readonly targets: Float64Array;
  /** the vertices that are pushed or may follow */
  readonly zone: ReadonlySet<number>;
}

/** Targets that bring regions to their right side and shorten contours. */
export function pushThrough(
  topology: Topology,
  x: Float64Array,
  regions: readonly Region[],
  shortened: readonly Contour[],
  options: PushOptions,
): Push {
  const lengths = { gap: options.gap, longest: LONGEST * options.edge };
  const rows = regions.flatMap((region) => {
    options.pulse();
    return heightRowsOf(topology, x, region, lengths, options.pulse);
  });
  // One by one: a contour may have more rows than a call has arguments.
  for (const contour of shortened) {
    options.pulse();
    for (const row of gradientRowsOf(topology, x, contour, SHORTENED_BY * options.edge)) rows.push(row);
  }
  options.pulse();
  const y = x.slice();
  const zone = zoneOf(topology, rows);
  const edges = edgesIn(topology, zone);
  const { inverseMasses } = topology.mesh;
  for (let sweep = 1; sweep <= SWEEPS; sweep++) {
    options.pulse();
    for (const e of edges) keepLength(topology, y, e, options.lengths[e]);
    for (const row of rows) lift(y, row, inverseMasses);
    if (SMOOTHED_AFTER.includes(sweep)) smooth(topology, x, y, zone);
  }
  const longest = LONGEST * options.edge;
  for (const v of zone) {
    const [dx, dy, dz] = [y[3 * v] - x[3 * v], y[3 * v + 1] - x[3 * v + 1], y[3 * v + 2] - x[3 * v + 2]];
    const size = Math.hypot(dx, dy, dz);
    const share = size > longest ? longest / size : 1;
    y[3 * v] = x[3 * v] + share * dx;
    y[3 * v + 1] = x[3 * v + 1] + share * dy;
    y[3 * v + 2] = x[3 * v + 2] + share * dz;
  }
  return { targets: y, zone };
}

function lift(
  y: Float64Array,
  { ends, shares, corners, weights, n, least }: HeightRow,
  inverseMasses: Float32Array,
): void {
  let height = 0;
  for (let axis = 0; axis < 3; axis++) {
    let at = shares[0] * y[3 * ends[0] + axis] + shares[1] * y[3 * ends[1] + axis];
    for (let k = 0; k < 3; k++) at -= weights[k] * y[3 * corners[k] + axis];
    height += n[axis] * at;
  }
  if (height >= least) return;
  let weight = 0;
  for (let k = 0; k < 2; k++) weight += inverseMasses[ends[k]] * shares[k] ** 2;
  for (let k = 0; k < 3; k++) weight += inverseMasses[corners[k]] * weights[k] ** 2;
  if (weight === 0) return;
  const impulse = (least - height) / weight;
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < 2; k++) y[3 * ends[k] + axis] += inverseMasses[ends[k]] * shares[k] * impulse * n[axis];
    for (let k = 0; k < 3; k++) y[3 * corners[k] + axis] -= inverseMasses[corners[k]] * weights[k] * impulse * n[axis];
  }
}

function keepLength({ mesh: { edges, inverseMasses } }: Topology, y: Float64Array, e: number, rest: number): void {
  const [a, b] = [edges[2 * e], edges[2 * e + 1]];
  const weight = inverseMasses[a] + inverseMasses[b];
  // An edge of length 0 at rest has no limit.
  if (weight === 0 || rest === 0) return;
  const [dx, dy, dz] = [y[3 * b] - y[3 * a], y[3 * b + 1] - y[3 * a + 1], y[3 * b + 2] - y[3 * a + 2]];
  const length = Math.hypot(dx, dy, dz);
  const wanted = Math.min(Math.max(length, (1 - LENGTH_SLACK) * rest), (1 + LENGTH_SLACK) * rest);
  if (length === 0 || wanted === length) return;
  const share = (wanted - length) / (length * weight);
  for (let axis = 0; axis < 3; axis++) {
    const d = share * (axis === 0 ? dx : axis === 1 ? dy : dz);
    y[3 * a + axis] -= inverseMasses[a] * d;
    y[3 * b + axis] += inverseMasses[b] * d;
  }
}

/** Draws the motion of each vertex halfway to the mean motion of its neighbours. */
function smooth({ mesh, edgesAt }: Topology, x: Float64Array, y: Float64Array, zone: ReadonlySet<number>): void {
  const moved = new Map<number, readonly [number, number, number]>();
  for (const v of zone) {
    if (mesh.inverseMasses[v] === 0) continue;
    const sum: [number, number, number] = [0, 0, 0];
    const around = rowOf(edgesAt, v);
    for (const e of around) {
      const w = mesh.edges[2 * e] === v ? mesh.edges[2 * e + 1] : mesh.edges[2 * e];
      for (let axis = 0; axis < 3; axis++) sum[axis] += (y[3 * w + axis] - x[3 * w + axis]) / around.length;
    }
    moved.set(v, sum);
  }
  for (const [v, mean] of moved) {
    for (let axis = 0; axis < 3; axis++) y[3 * v + axis] = (y[3 * v + axis] + x[3 * v + axis] + mean[axis]!) / 2;
  }
}

function zoneOf({ mesh, edgesAt }: Topology, rows: readonly HeightRow[]): Set<number> {
  const zone = new Set<number>();
  for (const { ends, corners } of rows) for (const w of [...ends, ...corners]) zone.add(w);
  let rim = [...zone];
  for (let ring = 0; ring < FOLLOWING_RINGS; ring++) {
    const next: number[] = [];
    for (const v of rim) {
      for (const e of rowOf(edgesAt, v)) {
        const w = mesh.edges[2 * e] === v ? mesh.edges[2 * e + 1] : mesh.edges[2 * e];
        if (zone.has(w)) continue;
        zone.add(w);
        next.push(w);
      }
    }
    rim = next;
  }
  return zone;
}

function edgesIn({ mesh, edgesAt }: Topology, zone: ReadonlySet<number>): number[] {
  const found: number[] = [];
  for (const v of zone) {
    for (const e of rowOf(edgesAt, v)) if (mesh.edges[2 * e] === v && zone.has(mesh.edges[2 * e + 1])) found.push(e);
  }
  return found;
}
