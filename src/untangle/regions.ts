import type { ContourKind } from '../contract/untangle.js';
import { TriangleTree } from '../diagnose/triangle-tree.js';
import type { Contour, Role } from './contours.js';
import { type Crossing, type CutEnd, type Label, type Span, sheetOf } from './crossings.js';
import { heightOver, NEAREST_PER_PULSE } from './heights.js';
import type { Decision, KeptDecision } from './sides.js';
import { rowOf, type Topology } from './topology.js';

/** Vertices of a sheet that are on the wrong side of another sheet. */
export interface Region {
  readonly contour: number;
  readonly role: Role;
  readonly vertices: readonly number[];
  /** edges with both ends on the right side and a piece between them on the wrong one */
  readonly spans: readonly Span[];
  /** the wrong ends of edges that the contour cuts */
  readonly cuts: readonly CutEnd[];
  /** the side of the (consistently oriented) triangles of the partner to which they move */
  readonly right: Label;
  /** triangles of the other sheet, near the region */
  readonly partner: readonly number[];
  /** vertices deeper than this are not moved; Infinity = all are */
  readonly deepest: number;
  /** the region or its partner patch extends beyond the vertices that were visited */
  readonly isLimited: boolean;
}

export interface RegionTools {
  readonly topology: Topology;
  readonly x: Float64Array;
  /** typical length of an edge */
  readonly edge: number;
  /** rings by which floods extend beyond what they need */
  readonly rings: number;
  /** called at short intervals; may throw */
  readonly pulse: () => void;
}

const ROLES = [0, 1] as const;

/** The most triangles of a partner patch, and vertices of one flood; a region that reaches either number is limited. */
const MOST_PARTNERS = 60_000;
const MOST_FLOODED = 20_000;

/**
 * A patch that a contour cuts off may have this many times the number of vertices that fit into the square of the
 * contour's extent; a larger patch is flooded from the ends of cut edges instead.
 */
const SPREAD = 4;

/**
 * A patch of a sheet that crosses itself or a body can be wrong as a whole only if it has at most this share of the
 * vertices of the sheet.
 */
const MOST_OF_SHEET = 0.6;

export function kindOf(contour: Contour, { separations }: KeptDecision): ContourKind {
  if (contour.tips.length > 0) return 'LOOP';
  if (contour.isClosed) return 'CLOSED';
  return separations[0].isWhole || separations[1].isWhole ? 'BORDER' : 'OPEN';
}

/** Returns the regions of a contour: none, one or two. */
export function regionsOf(
  tools: RegionTools,
  contours: readonly Contour[],
  c: number,
  crossing: Crossing,
  decision: Decision,
): Region[] {
  const contour = contours[c]!;
  const { topology } = tools;
  const { right, separations, patches, why } = decision;
  const found: Region[] = [];
  const isOneSheet = crossing.sheets[0] === crossing.sheets[1];
  const within = SPREAD * (2 + extentOf(topology, contour, tools.x) / tools.edge) ** 2;
  for (const role of ROLES) {
    const label = right[role];
    if (label === 0) continue;
    const ends = crossing.ends.get(c)![role];
    const sheet = topology.sheets.get(sheetOf(topology, contour, role));
    const whole = separations[role].isWhole
      ? separations[role].patches.get(-label as Label)!.flatMap((patch) => patches.vertices(patch))
      : undefined;
    const isMostOfSheet =
      (isOneSheet || why === 'BODY') && (whole?.length ?? 0) > MOST_OF_SHEET * (sheet?.vertices ?? 0);
    const isTooLarge = isMostOfSheet || (whole?.length ?? 0) > within;
    const { vertices, isLimited } =
      whole && !isTooLarge
        ? { vertices: whole, isLimited: false }
        : floodBelow(tools, contour, role, crossing, ends, -label as Label);
    const spans = crossing.spans.get(c)![role].filter((span) => span.label === label);
    if (vertices.length + spans.length === 0) continue;
    const cuts = ends.filter((end) => end.label === -label && crossing.cut.has(end.edge));
    const members = { vertices, isLimited, spans, cuts };
    found.push(regionOf(tools, contour, c, role, label, members, sheet?.isKinematic === true));
  }
  const { isTurned } = decision;
  if (found.length > 0 || why === 'BODY' || (why === 'HINT' && !isTurned)) return found;
  const options = ROLES.flatMap((role) =>
    ([1, -1] as const).map((label) => ({
      role,
      label,
      ...floodBelow(tools, contour, role, crossing, crossing.ends.get(c)![role], -label as Label),
    })),
  ).filter(({ vertices }) => vertices.length > 0);
  if (options.length === 0) return [];
  const least = options.reduce((best, option) => (option.cost < best.cost ? option : best));
  // The choice is between both sides of one sheet: the same sheet on its other side is the reverse.
  const isReverse = ({ role, label }: (typeof options)[number]) => role === least.role && label !== least.label;
  const best = (isTurned && options.find(isReverse)) || least;
  return [regionOf(tools, contour, c, best.role, best.label, { ...best, spans: [], cuts: [] }, false)];
}

function regionOf(
  tools: RegionTools,
  contour: Contour,
  c: number,
  role: Role,
  right: Label,
  { vertices, spans, cuts, isLimited }: Pick<Region, 'vertices' | 'spans' | 'cuts' | 'isLimited'>,
  isKinematic: boolean,
): Region {
  const { edges } = tools.topology.mesh;
  const around = vertices.length > 0 ? vertices : spans.flatMap(({ edge }) => [edges[2 * edge], edges[2 * edge + 1]]);
  const partner = partnerOf(tools, contour, role, around);
  return {
    contour: c,
    role,
    vertices,
    spans,
    cuts,
    right,
    partner,
    deepest: isKinematic ? tools.edge : Number.POSITIVE_INFINITY,
    isLimited: isLimited || partner.length >= MOST_PARTNERS,
  };
}

/**
 * Returns the vertices around the ends with a label that lie over that side of the other sheet, and the sum of their
 * heights.
 */
function floodBelow(
  tools: RegionTools,
  contour: Contour,
  role: Role,
  { cut }: Crossing,
  ends: readonly CutEnd[],
  label: Label,
): { vertices: number[]; cost: number; isLimited: boolean } {
  const { topology, x, edge, rings, pulse } = tools;
  const { mesh } = topology;
  const seeds = [...new Set(ends.filter((end) => end.label === label).map(({ vertex }) => vertex))];
  if (seeds.length === 0) return { vertices: [], cost: 0, isLimited: false };
  const others = partnerOf(tools, contour, role, seeds);
  const tree = new TriangleTree(x, mesh.triangles, Uint32Array.from(others), pulse);
  const most = 2 + rings + Math.ceil(extentOf(topology, contour, x) / edge);
  const reach = (most + 2) * edge;
  const depth = new Map(seeds.map((v) => [v, 0]));
  const vertices: number[] = [];
  let cost = 0;
  const queue = [...seeds];
  for (let k = 0; k < queue.length && queue.length < MOST_FLOODED; k++) {
    if (k % NEAREST_PER_PULSE === 0) pulse();
    const v = queue[k]!;
    const height = heightOver(topology, x, tree, v, reach);
    const isSeed = depth.get(v) === 0;
    if (!isSeed && (height === undefined || Math.sign(height) !== label)) continue;
    vertices.push(v);
    cost += Math.abs(height ?? 0);
    if (depth.get(v)! >= most) continue;
    for (const e of rowOf(topology.edgesAt, v)) {
      if (cut.has(e)) continue;
      const w = mesh.edges[2 * e] === v ? mesh.edges[2 * e + 1] : mesh.edges[2 * e];
      if (depth.has(w)) continue;
      depth.set(w, depth.get(v)! + 1);
      queue.push(w);
    }
  }
  return { vertices, cost, isLimited: queue.length >= MOST_FLOODED };
}

function extentOf({ mesh: { edges } }: Topology, { pierces }: Contour, x: Float64Array): number {
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    let [low, high] = [Infinity, -Infinity];
    for (const { edge } of pierces) {
      low = Math.min(low, x[3 * edges[2 * edge] + axis]);
      high = Math.max(high, x[3 * edges[2 * edge] + axis]);
    }
    sum += (high - low) ** 2;
  }
  return Math.sqrt(sum);
}

/**
 * Triangles of the other sheet that are connected with the contour and lie in the box of the region, grown by some
 * edges.
 */
function partnerOf(
  { topology, x, edge, rings }: RegionTools,
  contour: Contour,
  role: Role,
  region: readonly number[],
): number[] {
  const { mesh, trianglesOfEdge, sides } = topology;
  const grown = (2 + rings) * edge;
  const [low, high] = [
    [Infinity, Infinity, Infinity],
    [-Infinity, -Infinity, -Infinity],
  ];
  for (const v of region) {
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis]!, x[3 * v + axis] - grown);
      high[axis] = Math.max(high[axis]!, x[3 * v + axis] + grown);
    }
  }
  const own = new Set(region);
  const isInside = (t: number): boolean =>
    isInBox(x, mesh.triangles, t, low, high) &&
    !own.has(mesh.triangles[3 * t]) &&
    !own.has(mesh.triangles[3 * t + 1]) &&
    !own.has(mesh.triangles[3 * t + 2]);
  const found = new Set<number>();
  const queue: number[] = [];
  const offer = (t: number): void => {
    if (found.has(t) || !isInside(t)) return;
    found.add(t);
    queue.push(t);
  };
  contour.pierces.forEach(({ edge: e, triangle }, n) => {
    if (contour.roles[n] === role) offer(triangle);
    else for (const t of rowOf(trianglesOfEdge, e)) offer(t);
  });
  for (let k = 0; k < queue.length && queue.length < MOST_PARTNERS; k++) {
    for (let s = 0; s < 3; s++) for (const t of rowOf(trianglesOfEdge, sides[3 * queue[k]! + s])) offer(t);
  }
  return queue;
}

/** Whether the box of a triangle meets another box. */
function isInBox(
  x: Float64Array,
  triangles: Uint32Array,
  t: number,
  low: readonly number[],
  high: readonly number[],
): boolean {
  const [a, b, c] = [3 * triangles[3 * t], 3 * triangles[3 * t + 1], 3 * triangles[3 * t + 2]];
  for (let axis = 0; axis < 3; axis++) {
    if (Math.min(x[a + axis], x[b + axis], x[c + axis]) > high[axis]!) return false;
    if (Math.max(x[a + axis], x[b + axis], x[c + axis]) < low[axis]!) return false;
  }
  return true;
}
