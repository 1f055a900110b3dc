import type { Contour, Role } from './contours.js';
import type { Pierce } from './pierces.js';
import { ITEMS_PER_PULSE, type Pulse } from './pulse.js';
import type { Topology } from './topology.js';

/** The side of the (consistently oriented) triangles of the other sheet on which a vertex lies. */
export type Label = 1 | -1;

/** An end of an edge that a contour cuts. */
export interface CutEnd {
  readonly vertex: number;
  readonly label: Label;
  readonly edge: number;
  /** the triangle that the edge pierces nearest to this end, and where on the edge, as in Pierce */
  readonly triangle: number;
  readonly at: number;
}

/** A piece of an edge between two pierces: both ends of the edge lie on one side, and the piece lies on the other. */
export interface Span {
  readonly edge: number;
  /** middle of the piece, 0 to 1 from the first end of the edge */
  readonly at: number;
  /** of the ends of the edge */
  readonly label: Label;
}

/** All contours between two sheets, or of one sheet with itself; together they cut the sheets into patches. */
export interface Crossing {
  /** lowest vertices of the sheets, the lower first */
  readonly sheets: readonly [number, number];
  /** indices of its contours */
  readonly contours: readonly number[];
  /** edges that its contours cut an odd number of times, so that their ends lie on different sides */
  readonly cut: ReadonlySet<number>;
  /** vertices of both sheets at which contours end; they lie on the contour */
  readonly tips: ReadonlySet<number>;
  /** by contour, by role: ends of the edges that it cuts */
  readonly ends: ReadonlyMap<number, readonly [readonly CutEnd[], readonly CutEnd[]]>;
  readonly spans: ReadonlyMap<number, readonly [readonly Span[], readonly Span[]]>;
}

/** Returns the sheet of a role of a contour. */
export function sheetOf({ mesh, sheet }: Topology, { pierces, roles }: Contour, role: Role): number {
  const [first] = pierces as [Pierce];
  return roles[0] === role ? sheet[mesh.edges[2 * first.edge]] : sheet[mesh.triangles[3 * first.triangle]];
}

export function groupCrossings(topology: Topology, contours: readonly Contour[], pulse: Pulse = () => {}): Crossing[] {
  const groups = new Map<string, number[]>();
  contours.forEach((contour, c) => {
    const [a, b] = [sheetOf(topology, contour, 0), sheetOf(topology, contour, 1)];
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    const known = groups.get(key);
    if (known) known.push(c);
    else groups.set(key, [c]);
  });
  return [...groups].map(([key, members]) => {
    const sheets = key.split(' ').map(Number) as [number, number];
    const tips = new Set(members.flatMap((c) => contours[c]!.tips));
    return { sheets, contours: members, tips, ...cutEdges(topology, contours, members, pulse) };
  });
}

interface Hit {
  readonly contour: number;
  readonly role: Role;
  readonly pierce: Pierce;
}

function cutEdges(
  { mesh: { edges } }: Topology,
  contours: readonly Contour[],
  members: readonly number[],
  pulse: Pulse,
) {
  pulse();
  const hits = new Map<number, Hit[]>();
  const ends = new Map<number, [CutEnd[], CutEnd[]]>();
  const spans = new Map<number, [Span[], Span[]]>();
  for (const c of members) {
    ends.set(c, [[], []]);
    spans.set(c, [[], []]);
    const { pierces, roles } = contours[c]!;
    pierces.forEach((pierce, n) => {
      if (n % ITEMS_PER_PULSE === ITEMS_PER_PULSE - 1) pulse();
      const hit = { contour: c, role: roles[n]!, pierce };
      const known = hits.get(pierce.edge);
      if (known) known.push(hit);
      else hits.set(pierce.edge, [hit]);
    });
  }
  const cut = new Set<number>();
  let seen = 0;
  for (const [edge, along] of hits) {
    if (++seen % ITEMS_PER_PULSE === 0) pulse();
    along.sort((a, b) => a.pierce.at - b.pierce.at || a.pierce.triangle - b.pierce.triangle);
    if (along.length % 2 === 1) cut.add(edge);
    // The side of an end is that of the pierce next to it.
    const [first, last] = [along[0]!, along.at(-1)!];
    const add = ({ contour, role, pierce: { side, triangle, at } }: Hit, end: 0 | 1): void => {
      const label = (end === 0 ? side : -side) as Label | 0;
      if (label !== 0) ends.get(contour)![role].push({ vertex: edges[2 * edge + end], label, edge, triangle, at });
    };
    add(first, 0);
    add(last, 1);
    if (along.length % 2 === 1) continue;
    for (let k = 0; k < along.length; k += 2) {
      const { contour, role, pierce } = along[k]!;
      if (pierce.side === 0) continue;
      const at = (pierce.at + along[k + 1]!.pierce.at) / 2;
      spans.get(contour)![role].push({ edge, at, label: pierce.side as Label });
    }
  }
  return { cut, ends, spans };
}
