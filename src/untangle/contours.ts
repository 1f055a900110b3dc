import type { Pierce } from './pierces.js';
import { ITEMS_PER_PULSE, type Pulse } from './pulse.js';
import { rowOf, type Topology } from './topology.js';

/** One of the two sheets of a contour; 0 is the sheet of the edge of its first pierce. */
export type Role = 0 | 1;

export interface Contour {
  /** in the order along the curve, where the contour is a single curve */
  readonly pierces: readonly Pierce[];
  /** by pierce: the role of the sheet of its edge */
  readonly roles: readonly Role[];
  /** it has no ends */
  readonly isClosed: boolean;
  /** vertices of both sheets at which it ends */
  readonly tips: readonly number[];
  /** ends at borders of the sheet of a role */
  readonly borderEnds: readonly [number, number];
}

interface Link {
  readonly to: number;
  /** the sheet of the edge of one pierce is the sheet of the triangle of the other */
  readonly flips: boolean;
}

/** Where a pierce is an end of its curve. */
interface End {
  border: number;
  readonly tips: number[];
}

/**
 * Joins pierces to the curves along which sheets cross. If edge e pierces triangle t, then for each triangle f at e the
 * triangles f and t have a common segment that begins at this pierce. It ends at a pierce of another side of f through
 * t, at a pierce of a side of t through f, or at a vertex of both f and t. Two pierces of the same pair of triangles
 * are therefore neighbours on the curve. The pierces of a contour have a fixed order, and contours are in the order of
 * their first pierces.
 *
 * Linear in the number of pierces.
 */
export function findContours(topology: Topology, pierces: readonly Pierce[], pulse: Pulse = () => {}): Contour[] {
  const { trianglesOfEdge, mesh } = topology;
  const count = mesh.triangles.length / 3;
  const meetings = new Map<number, number[]>();
  const ends: End[] = pierces.map(() => ({ border: 0, tips: [] }));
  pierces.forEach(({ edge, triangle }, n) => {
    if (n % ITEMS_PER_PULSE === 0) pulse();
    const around = rowOf(trianglesOfEdge, edge);
    if (around.length < 2) ends[n]!.border++;
    for (const f of around) {
      const tip = sharedVertex(mesh.triangles, f, triangle);
      if (tip !== undefined) {
        ends[n]!.tips.push(tip);
        continue;
      }
      const key = Math.min(f, triangle) * count + Math.max(f, triangle);
      const known = meetings.get(key);
      if (known) known.push(n);
      else meetings.set(key, [n]);
    }
  });
  pulse();
  const links: Link[][] = pierces.map(() => []);
  let seen = 0;
  for (const met of meetings.values()) {
    if (seen++ % ITEMS_PER_PULSE === 0) pulse();
    for (let k = 1; k < met.length; k++) {
      const [a, b] = [met[k - 1]!, met[k]!];
      const flips = pierces[a]!.triangle !== pierces[b]!.triangle;
      links[a]!.push({ to: b, flips });
      links[b]!.push({ to: a, flips });
    }
  }
  const role = new Int8Array(pierces.length).fill(-1);
  const contours: Contour[] = [];
  for (let seed = 0; seed < pierces.length; seed++) {
    if (seed % ITEMS_PER_PULSE === 0) pulse();
    if (role[seed] === -1) contours.push(walk(seed, pierces, links, ends, role));
  }
  return contours;
}

function walk(
  seed: number,
  pierces: readonly Pierce[],
  links: readonly (readonly Link[])[],
  ends: readonly End[],
  role: Int8Array,
): Contour {
  const members = reach(seed, links, role);
  // An open curve is listed from one of its ends; its roles remain those of the seed.
  const start = members.find((n) => links[n]!.length < 2) ?? seed;
  const seen = new Set<number>();
  const order: number[] = [];
  const stack = [start];
  for (let n = stack.pop(); n !== undefined; n = stack.pop()) {
    if (seen.has(n)) continue;
    seen.add(n);
    order.push(n);
    for (const { to } of links[n]!) if (!seen.has(to)) stack.push(to);
  }
  const borderEnds: [number, number] = [0, 0];
  const tips: number[] = [];
  let isClosed = true;
  for (const n of order) {
    borderEnds[role[n] as Role] += ends[n]!.border;
    tips.push(...ends[n]!.tips);
    if (links[n]!.length !== 2) isClosed = false;
  }
  return {
    pierces: order.map((n) => pierces[n]!),
    roles: order.map((n) => role[n] as Role),
    isClosed,
    tips,
    borderEnds,
  };
}

/** Returns all pierces that are connected with a pierce; sets their roles. */
function reach(seed: number, links: readonly (readonly Link[])[], role: Int8Array): number[] {
  const members = [seed];
  role[seed] = 0;
  for (let k = 0; k < members.length; k++) {
    const n = members[k]!;
    for (const { to, flips } of links[n]!) {
      if (role[to] !== -1) continue;
      role[to] = flips ? 1 - role[n] : role[n];
      members.push(to);
    }
  }
  return members;
}

function sharedVertex(triangles: Uint32Array, f: number, t: number): number | undefined {
  for (let k = 3 * f; k < 3 * f + 3; k++) {
    const v = triangles[k];
    if (v === triangles[3 * t] || v === triangles[3 * t + 1] || v === triangles[3 * t + 2]) return v;
  }
  return undefined;
}
