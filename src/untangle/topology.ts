import { labelComponents } from '../mesh/connectivity.js';
import type { CollisionMesh } from '../mesh/types.js';

/** Rows of numbers of different lengths, one after the other. */
export interface Rows {
  /** uint32[n + 1] */
  readonly first: Uint32Array;
  readonly items: Uint32Array;
}

/** The adjacency of a mesh, and its sheets. */
export interface Topology {
  readonly mesh: CollisionMesh;
  /** by contact edge: triangles at it; rods have none */
  readonly trianglesOfEdge: Rows;
  /** by vertex: contact edges at it, and contact triangles */
  readonly edgesAt: Rows;
  readonly trianglesAt: Rows;
  /** uint32[3·T] contact edges of a triangle: of the corners 0 1, 1 2, 2 0 */
  readonly sides: Uint32Array;
  /**
   * int8[T] the factor that orients a triangle consistently within its component: 1, or −1 if its corners must be read
   * backwards. The first triangle of a component has 1. Comments call triangles with this factor applied "consistently
   * oriented".
   */
  readonly turn: Int8Array;
  /** uint32[V] lowest vertex of the sheet, which is a component connected by contact edges */
  readonly sheet: Uint32Array;
  /** by lowest vertex of a sheet */
  readonly sheets: ReadonlyMap<number, SheetKind>;
}

export interface SheetKind {
  /** share of the sides of triangles that have no second triangle, or more than one */
  readonly openShare: number;
  /** the sheet is orientable */
  readonly isOrientable: boolean;
  readonly isKinematic: boolean;
  readonly vertices: number;
  readonly triangles: readonly number[];
}

export function describeTopology(mesh: CollisionMesh): Topology {
  const { vertexCount, edges, triangles } = mesh;
  const edgeCount = edges.length / 2;
  const byEnds = new Map<number, number>();
  for (let e = 0; e < edgeCount; e++) byEnds.set(edges[2 * e] * vertexCount + edges[2 * e + 1], e);
  const sides = new Uint32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    for (let s = 0; s < 3; s++) {
      const [p, q] = [triangles[t + s], triangles[t + ((s + 1) % 3)]];
      sides[t + s] = byEnds.get(Math.min(p, q) * vertexCount + Math.max(p, q))!;
    }
  }
  const trianglesOfEdge = rowsOf(edgeCount, sides, (k) => Math.floor(k / 3));
  const edgesAt = rowsOf(vertexCount, edges, (k) => k >>> 1);
  const trianglesAt = rowsOf(vertexCount, triangles, (k) => Math.floor(k / 3));
  const sheet = labelComponents([[edges, 2]], vertexCount);
  const { turn, conflicts } = turnTriangles(mesh, sides, trianglesOfEdge, sheet);
  const sheets = describeSheets(mesh, trianglesOfEdge, sheet, conflicts);
  return { mesh, trianglesOfEdge, edgesAt, trianglesAt, sides, turn, sheet, sheets };
}

/** Returns the rows k for which keys[k] is n, mapped by `item`. */
function rowsOf(count: number, keys: Uint32Array, item: (k: number) => number): Rows {
  const first = new Uint32Array(count + 1);
  for (const key of keys) first[key + 1]++;
  for (let n = 0; n < count; n++) first[n + 1] += first[n];
  const next = first.slice();
  const items = new Uint32Array(keys.length);
  for (let k = 0; k < keys.length; k++) items[next[keys[k]]++] = item(k);
  return { first, items };
}

/** Row n of the rows. */
export function rowOf({ first, items }: Rows, n: number): Uint32Array {
  return items.subarray(first[n], first[n + 1]);
}

function turnTriangles(
  { triangles }: CollisionMesh,
  sides: Uint32Array,
  trianglesOfEdge: Rows,
  sheet: Uint32Array,
): { turn: Int8Array; conflicts: ReadonlySet<number> } {
  const count = triangles.length / 3;
  const turn = new Int8Array(count);
  const conflicts = new Set<number>();
  const queue: number[] = [];
  for (let seed = 0; seed < count; seed++) {
    if (turn[seed] !== 0) continue;
    turn[seed] = 1;
    queue.push(seed);
    for (let t = queue.pop(); t !== undefined; t = queue.pop()) {
      for (let s = 0; s < 3; s++) {
        const around = rowOf(trianglesOfEdge, sides[3 * t + s]);
        if (around.length !== 2) continue;
        const other = around[0] === t ? around[1] : around[0];
        const wanted =
          runsAlong(triangles, t, s) === runsAlong(triangles, other, sideOf(sides, other, sides[3 * t + s]))
            ? -turn[t]
            : turn[t];
        if (turn[other] === 0) {
          turn[other] = wanted;
          queue.push(other);
        } else if (turn[other] !== wanted) conflicts.add(sheet[triangles[3 * t]]);
      }
    }
  }
  return { turn, conflicts };
}

const sideOf = (sides: Uint32Array, t: number, edge: number): number =>
  sides[3 * t] === edge ? 0 : sides[3 * t + 1] === edge ? 1 : 2;

/** Whether side s of triangle t runs from its lower vertex to its higher one. */
const runsAlong = (triangles: Uint32Array, t: number, s: number): boolean =>
  triangles[3 * t + s] < triangles[3 * t + ((s + 1) % 3)];

function describeSheets(
  { edges, triangles, kinematic, rodStart }: CollisionMesh,
  trianglesOfEdge: Rows,
  sheet: Uint32Array,
  conflicts: ReadonlySet<number>,
): Map<number, SheetKind> {
  const open = new Map<number, number>();
  for (let e = 0; e < edges.length / 2; e++) {
    const { first } = trianglesOfEdge;
    const count = first[e + 1] - first[e];
    const root = sheet[edges[2 * e]];
    if (e >= rodStart || count !== 2) open.set(root, (open.get(root) ?? 0) + Math.max(1, count));
  }
  const members = new Map<number, { triangles: number[]; vertices: number; isKinematic: boolean }>();
  for (let t = 0; t < triangles.length / 3; t++) {
    const root = sheet[triangles[3 * t]];
    const known = members.get(root);
    if (known) known.triangles.push(t);
    else members.set(root, { triangles: [t], vertices: 0, isKinematic: true });
  }
  for (let v = 0; v < sheet.length; v++) {
    const member = members.get(sheet[v]);
    if (!member) continue;
    member.vertices++;
    if (kinematic[v] === 0) member.isKinematic = false;
  }
  const sheets = new Map<number, SheetKind>();
  for (const [root, member] of members) {
    const isOrientable = !conflicts.has(root);
    const openShare = (open.get(root) ?? 0) / (3 * member.triangles.length);
    sheets.set(root, { ...member, isOrientable, openShare });
  }
  return sheets;
}

/** A kinematic sheet is a body if it has at most this share of open sides */
const MOST_OPEN = 0.05;
/**
 * and its volume is at least this share of its area to the power of 3/2; 0.094 for a sphere, some 0.02 for a person.
 */
const LEAST_VOLUME = 0.01;

/**
 * Returns the side of the consistently oriented triangles of a body on which its outside lies: 1 along their normals,
 * −1 against them. 0 = the sheet is not a body: it is not kinematic, not orientable, too open or too flat. Holes are
 * closed by triangles to the mean of the vertices.
 */
export function outsideOf(topology: Topology, sheet: SheetKind, x: Float64Array): -1 | 0 | 1 {
  if (!sheet.isKinematic || !sheet.isOrientable || sheet.openShare > MOST_OPEN) return 0;
  const { volume, area } = measureSheet(topology, sheet, x);
  return Math.abs(volume) < LEAST_VOLUME * area ** 1.5 ? 0 : (Math.sign(volume) as -1 | 0 | 1);
}

/**
 * Returns the area, and the signed volume, which is positive if the consistently oriented triangles are
 * counter-clockwise seen from outside.
 */
function measureSheet(
  { mesh: { triangles }, turn }: Topology,
  { triangles: members }: SheetKind,
  x: Float64Array,
): { volume: number; area: number } {
  const o = [0, 0, 0];
  for (const t of members)
    for (let k = 0; k < 9; k++)
      o[k % 3]! += x[3 * triangles[3 * t + Math.floor(k / 3)] + (k % 3)] / (3 * members.length);
  let [volume, area] = [0, 0];
  for (const t of members) {
    const [a, b, c] = [3 * triangles[3 * t], 3 * triangles[3 * t + 1], 3 * triangles[3 * t + 2]];
    const [ax, ay, az] = [x[a] - o[0]!, x[a + 1] - o[1]!, x[a + 2] - o[2]!];
    const [bx, by, bz] = [x[b] - o[0]!, x[b + 1] - o[1]!, x[b + 2] - o[2]!];
    const [cx, cy, cz] = [x[c] - o[0]!, x[c + 1] - o[1]!, x[c + 2] - o[2]!];
    volume += (turn[t] * (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))) / 6;
    const [ux, uy, uz, vx, vy, vz] = [bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az];
    area += Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx) / 2;
  }
  return { volume, area };
}
