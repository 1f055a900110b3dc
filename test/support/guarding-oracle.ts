import type { CollisionMesh } from '../../src/mesh/types.js';

/** Two elements that share no vertex, by their vertices: a vertex and a triangle, two edges, or what rods and points have. */
interface Pair {
  readonly a: readonly number[];
  readonly b: readonly number[];
}

/**
 * Whether a pair may be excluded under SKIP, from the contract alone: both elements are kinematic throughout, and so are
 * both elements of every edge-triangle pair that could begin to meet in this one.
 */
export function mayBeSkipped(mesh: CollisionMesh, pair: Pair): boolean {
  const isFixed = (element: readonly number[]): boolean => element.every((v) => mesh.kinematic[v] !== 0);
  return dependents(mesh, pair).every(({ a, b }) => isFixed(a) && isFixed(b));
}

/** The same of ignored parts: it and every edge-triangle pair that could begin to meet in it lie wholly in two of them. */
export function mayBeIgnored(mesh: CollisionMesh, pair: Pair): boolean {
  return dependents(mesh, pair).every((dependent) => isOfIgnoredParts(mesh, dependent));
}

/** One element wholly in a part, the other wholly in another or the same, and the two parts in the list. */
export function isOfIgnoredParts({ partOfVertex, ignoredPartPairs }: CollisionMesh, { a, b }: Pair): boolean {
  const p = partOfVertex[a[0]];
  const q = partOfVertex[b[0]];
  if (a.some((v) => partOfVertex[v] !== p) || b.some((v) => partOfVertex[v] !== q)) return false;
  return rowsOf(ignoredPartPairs, 2).some(([m, n]) => (m === p && n === q) || (m === q && n === p));
}

/** A pair and the edge-triangle pairs that could begin to meet in it. */
function dependents(mesh: CollisionMesh, pair: Pair): Pair[] {
  const { a, b } = pair;
  const guarded: Pair[] = [];
  if (a.length === 1 && b.length === 3) {
    for (const edge of rowsOf(mesh.edges, 2)) if (edge.includes(a[0])) guarded.push({ a: edge, b });
  } else if (a.length === 2) {
    for (const triangle of rowsOf(mesh.triangles, 3)) {
      if (b.every((v) => triangle.includes(v))) guarded.push({ a, b: triangle });
      if (a.every((v) => triangle.includes(v))) guarded.push({ a: b, b: triangle });
    }
  }
  return [pair, ...guarded.filter((other) => !other.a.some((v) => other.b.includes(v)))];
}

/** by the list, which is always split into rows of one size */
const known = new WeakMap<Uint32Array, readonly number[][]>();

function rowsOf(list: Uint32Array, size: number): readonly number[][] {
  let rows = known.get(list);
  if (!rows) {
    rows = Array.from({ length: list.length / size }, (_, k) => [...list.subarray(size * k, size * k + size)]);
    known.set(list, rows);
  }
  return rows;
}
