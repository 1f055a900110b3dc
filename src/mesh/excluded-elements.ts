import { type ExcludedPairs, SIDES } from './excluded-pairs.js';
import type { CollisionMesh } from './types.js';

/**
 * How many pairs the exact test of a state excludes: every edge–triangle pair that has lost one of its five proximity
 * pairs (excluded-pairs.ts), and of the proximity pairs those that serve no edge–triangle pair. Pairs of elements that
 * share a vertex are no pairs. Linear in the mesh, once, and in what is counted.
 */
export function countExcluded(mesh: CollisionMesh, excluded: ExcludedPairs): number {
  const near = neighboursOf(mesh, excluded);
  const found = new Set<string>();
  let alone = 0;
  const add = (e: readonly number[], t: readonly number[]): boolean => {
    if (e.some((vertex) => t.includes(vertex))) return false;
    found.add(`${e.join()}:${t.join()}`);
    return true;
  };
  for (const { a, b } of excluded.proximityPairs()) {
    const dependents =
      a.length === 1 && b.length === 3
        ? (near.edgesAt.get(a[0]!) ?? []).map((edge) => add(edge, b))
        : [
            ...(near.trianglesAt.get(b.join()) ?? []).map((triangle) => add(a, triangle)),
            ...(near.trianglesAt.get(a.join()) ?? []).map((triangle) => add(b, triangle)),
          ];
    if (!dependents.includes(true)) alone++;
  }
  return found.size + alone;
}

interface Neighbours {
  /** by vertex: its contact edges, lower id first */
  readonly edgesAt: ReadonlyMap<number, readonly (readonly number[])[]>;
  /** by edge, "low,high": the contact triangles at it, ids ascending */
  readonly trianglesAt: ReadonlyMap<string, readonly (readonly number[])[]>;
}

function neighboursOf({ edges, triangles }: CollisionMesh, excluded: ExcludedPairs): Neighbours {
  const edgesAt = new Map<number, number[][]>();
  const trianglesAt = new Map<string, number[][]>();
  for (const { a, b } of excluded.proximityPairs()) {
    if (a.length === 1 && b.length === 3) edgesAt.set(a[0]!, []);
    for (const side of [a, b]) if (side.length === 2) trianglesAt.set(side.join(), []);
  }
  for (let e = 0; e < edges.length; e += 2) {
    const edge = [edges[e]!, edges[e + 1]!];
    for (const end of edge) edgesAt.get(end)?.push(edge);
  }
  if (trianglesAt.size === 0) return { edgesAt, trianglesAt };
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    for (const [m, n] of SIDES) {
      const [p, q] = [corners[m]!, corners[n]!];
      trianglesAt.get(p < q ? `${p},${q}` : `${q},${p}`)?.push(corners.toSorted((v, w) => v - w));
    }
  }
  return { edgesAt, trianglesAt };
}
