import type { CollisionMesh } from '../mesh/types.js';
import type { Relation } from './elements.js';
import { EDGE_EDGE, VERTEX_TRIANGLE } from './pair-kinds.js';

/**
 * Pairs of two kinematic elements that a path test must not leave out. What is promised under SKIP are pairs of an edge e
 * and a triangle T that are not both kinematic throughout; on a path, e and T meet first where an end of e meets T, or e a
 * side of T. So a vertex and a triangle have to be looked at for every edge at the vertex, and two edges for every
 * triangle at either of them. Where the two are kinematic themselves, what matters is whether the vertex has an edge to a
 * dynamic one, or one of the edges a triangle with a dynamic corner. Rods and free points stand for themselves.
 */
export class GuardingPairs {
  /** uint8[V] 1 = some edge leads from here to a vertex of the other sort */
  private readonly isMixed: Uint8Array;
  /** by the lower vertex of an edge, the higher ones of those edges that have a triangle of both sorts */
  private readonly partners = new Map<number, Set<number>>();

  constructor({ vertexCount, kinematic, edges, triangles }: CollisionMesh) {
    this.isMixed = new Uint8Array(vertexCount);
    for (let k = 0; k < edges.length; k += 2) {
      if ((kinematic[edges[k]] === 0) === (kinematic[edges[k + 1]] === 0)) continue;
      this.isMixed[edges[k]] = 1;
      this.isMixed[edges[k + 1]] = 1;
    }
    for (let k = 0; k < triangles.length; k += 3) {
      const corners = triangles.subarray(k, k + 3);
      // Most triangles are of one sort, and then none of their corners need be marked.
      if (this.isMixed[corners[0]] + this.isMixed[corners[1]] + this.isMixed[corners[2]] < 2) continue;
      const [low, high, third] = [...corners].filter((vertex) => kinematic[vertex] !== 0).sort((p, q) => p - q);
      if (high === undefined || third !== undefined) continue;
      const highs = this.partners.get(low) ?? new Set();
      this.partners.set(low, highs.add(high));
    }
  }

  /** Asked of pairs of elements that are both kinematic throughout. */
  has({ code, a, b }: Relation, i: number, j: number): boolean {
    if (code === VERTEX_TRIANGLE) return this.isMixed[a.vertices[i]] === 1;
    return code === EDGE_EDGE && (this.isSide(a.vertices, i) || this.isSide(b.vertices, j));
  }

  private isSide(edges: Uint32Array, index: number): boolean {
    const p = edges[2 * index];
    const q = edges[2 * index + 1];
    // Most edges are settled by the marks alone.
    if (this.isMixed[p] === 0 || this.isMixed[q] === 0) return false;
    return this.partners.get(Math.min(p, q))?.has(Math.max(p, q)) === true;
  }
}
