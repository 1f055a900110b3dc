import type { ElementPair } from '../contract/elements.js';
import type { LeftOutPairs } from './left-out-pairs.js';
import type { CollisionMesh } from './types.js';

/** An item takes some ten microseconds. */
const ITEMS_PER_PULSE = 4096;

/**
 * Pairs of elements that already intersect, and the proximity pairs that are excluded because of them.
 *
 * An engine keeps proximity pairs apart: vertex–triangle, edge–edge, vertex–edge, vertex–vertex. The exact test of a
 * state decides edge–triangle pairs, and proximity pairs of rods and particles. While all vertices move continuously,
 * an edge e = ab can begin or cease to pierce a triangle t = ijk only at a moment when an end of e lies in t or e meets
 * a side of t, hence only when one of the five proximity pairs
 *
 *   (a, t)  (b, t)  (e, ij)  (e, jk)  (e, ki)
 *
 * is at distance 0. Hence
 * - an edge–triangle pair that is free stays free as long as none of its five meets: these five alone protect it;
 * - an edge–triangle pair that is pierced stays pierced as long as none of its five meets. To let it separate, all five
 *   must be free to meet, because it is unknown which of them the separating motion passes through. Excluding fewer
 *   could hold the pair forever; excluding more would leave pairs unprotected unnecessarily.
 *
 * So exactly the five of every pair that intersects are excluded: neither constrained nor bounded nor checked. This has
 * a cost: a proximity pair protects several edge–triangle pairs ((a, t) protects every edge at a against t; (e, f)
 * protects e against every triangle at f, and f against every triangle at e), and all of these lose one of their five
 * with it. Therefore they are excluded from the exact test as well ({@link hasEdgeTriangle}): a vertex that is pulled
 * out through a triangle pulls its other edges with it. An edge–triangle pair with none of its five excluded is free at
 * the start and keeps all five, so by the first point it is free on the whole path, and its safety does not depend on
 * any excluded pair. By the same argument, proximity pairs of rods and particles protect only themselves and the
 * triangles that they belong to.
 */
export class ExcludedPairs implements LeftOutPairs {
  /** vertices of the excluded pairs; most queries end here, before they build a key */
  private readonly relevant = new Set<number>();
  private readonly keys = new Set<string>();

  /**
   * @param items pairs that intersect (EDGE_TRIANGLE, or any proximity pair that touches), in a fixed order
   * @param pulse called at short intervals; may throw
   */
  constructor(
    readonly items: readonly ElementPair[],
    pulse: () => void = () => {},
  ) {
    for (const [n, { kind, a, b }] of items.entries()) {
      if (n % ITEMS_PER_PULSE === 0) pulse();
      for (const vertex of [...a, ...b]) this.relevant.add(vertex);
      for (const key of proximityKeysOf(kind, a, b)) this.keys.add(key);
    }
  }

  /** Whether the same proximity pairs are excluded. */
  isSameAs(other: LeftOutPairs | undefined): boolean {
    if (this === other) return true;
    if (other === undefined) return this.keys.size === 0;
    if (!(other instanceof ExcludedPairs) || this.keys.size !== other.keys.size) return false;
    for (const key of this.keys) if (!other.keys.has(key)) return false;
    return true;
  }

  hasVertexTriangle(a: number, i: number, j: number, k: number): boolean {
    return this.areRelevant(a, i, j, k) && this.keys.has(vertexTriangleKey(a, i, j, k));
  }

  hasEdgeEdge(a: number, b: number, c: number, d: number): boolean {
    return this.areRelevant(a, b, c, d) && this.keys.has(edgeEdgeKey(a, b, c, d));
  }

  hasVertexEdge(a: number, i: number, j: number): boolean {
    return this.areRelevant(a, i, j, j) && this.keys.has(vertexEdgeKey(a, i, j));
  }

  hasVertexVertex(a: number, i: number): boolean {
    return this.areRelevant(a, i, i, i) && this.keys.has(vertexVertexKey(a, i));
  }

  /** Whether one of the five proximity pairs of edge ab and triangle ijk is excluded. */
  hasEdgeTriangle(a: number, b: number, i: number, j: number, k: number): boolean {
    return (
      this.hasVertexTriangle(a, i, j, k) ||
      this.hasVertexTriangle(b, i, j, k) ||
      this.hasEdgeEdge(a, b, i, j) ||
      this.hasEdgeEdge(a, b, j, k) ||
      this.hasEdgeEdge(a, b, k, i)
    );
  }

  /** The proximity pairs that are excluded, each once, in a fixed order; `vertices` side a first. */
  *proximityPairs(): Generator<ProximityPair> {
    for (const key of this.keys) {
      const [a, b] = key.split(':').map((side) => side.split(',').map(Number)) as [number[], number[]];
      yield { a, b };
    }
  }

  private areRelevant(p: number, q: number, r: number, s: number): boolean {
    const vertices = this.relevant;
    return vertices.has(p) && vertices.has(q) && vertices.has(r) && vertices.has(s);
  }
}

/** Vertices of both sides, each side ascending: 1 and 3 vertex–triangle, 2 and 2 edge–edge, 1 and 2, 1 and 1. */
export interface ProximityPair {
  readonly a: readonly number[];
  readonly b: readonly number[];
}

/** Sides of a triangle, as positions of their ends among its corners. */
export const SIDES: readonly (readonly [number, number])[] = [
  [0, 1],
  [1, 2],
  [2, 0],
];

function proximityKeysOf(kind: ElementPair['kind'], a: readonly number[], b: readonly number[]): string[] {
  const [p, q] = a as [number, number];
  const [i, j, k] = b as [number, number, number];
  switch (kind) {
    case 'EDGE_TRIANGLE':
      return [
        vertexTriangleKey(p, i, j, k),
        vertexTriangleKey(q, i, j, k),
        ...SIDES.map(([m, n]) => edgeEdgeKey(p, q, b[m]!, b[n]!)),
      ];
    case 'VERTEX_TRIANGLE':
      return [vertexTriangleKey(p, i, j, k)];
    case 'EDGE_EDGE':
      return [edgeEdgeKey(p, q, i, j)];
    case 'VERTEX_EDGE':
      return [vertexEdgeKey(p, i, j)];
    default:
      return [vertexVertexKey(p, i)];
  }
}

/** The keys do not depend on the order of an element's vertices. */
function vertexTriangleKey(a: number, i: number, j: number, k: number): string {
  const low = Math.min(i, j, k);
  const high = Math.max(i, j, k);
  return `${a}:${low},${i + j + k - low - high},${high}`;
}

function edgeEdgeKey(a: number, b: number, c: number, d: number): string {
  const p = Math.min(a, b);
  const q = Math.max(a, b);
  const r = Math.min(c, d);
  const s = Math.max(c, d);
  return p < r || (p === r && q < s) ? `${p},${q}:${r},${s}` : `${r},${s}:${p},${q}`;
}

function vertexEdgeKey(a: number, i: number, j: number): string {
  return `${a}:${Math.min(i, j)},${Math.max(i, j)}`;
}

function vertexVertexKey(a: number, i: number): string {
  return `${Math.min(a, i)}:${Math.max(a, i)}`;
}

/**
 * The number of pairs that the exact test of a state excludes: every edge–triangle pair with an excluded pair among its
 * five proximity pairs, and every excluded proximity pair that protects no edge–triangle pair. Elements that share a
 * vertex form no pair. The time is linear in the mesh and in the result.
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
