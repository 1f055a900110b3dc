import type { CollisionMesh } from '../../src/mesh/types.js';

/** Two elements that share no vertex, by their vertices: a vertex and a triangle, two edges, or what rods and points have. */
interface Pair {
  readonly a: readonly number[];
  readonly b: readonly number[];
}

/**
 * Whether a pair may be left out under SKIP, from the contract alone: both elements are kinematic throughout, and so are
 * both elements of every edge-triangle pair that could begin to meet in this one.
 */
export function mayBeSkipped(mesh: CollisionMesh, { a, b }: Pair): boolean {
  const isFixed = (element: readonly number[]): boolean => element.every((v) => mesh.kinematic[v] !== 0);
  if (!isFixed(a) || !isFixed(b)) return false;
  const guarded: Pair[] = [];
  if (a.length === 1 && b.length === 3) {
    for (const edge of rowsOf(mesh.edges, 2)) if (edge.includes(a[0])) guarded.push({ a: edge, b });
  } else if (a.length === 2) {
    for (const triangle of rowsOf(mesh.triangles, 3)) {
      if (b.every((v) => triangle.includes(v))) guarded.push({ a, b: triangle });
      if (a.every((v) => triangle.includes(v))) guarded.push({ a: b, b: triangle });
    }
  }
  return guarded
    .filter((pair) => !pair.a.some((v) => pair.b.includes(v)))
    .every((pair) => isFixed(pair.a) && isFixed(pair.b));
}

function rowsOf(list: Uint32Array, size: number): number[][] {
  return Array.from({ length: list.length / size }, (_, k) => [...list.subarray(size * k, size * k + size)]);
}
