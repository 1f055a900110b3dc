import type { CollisionMesh } from '../mesh/types.js';
import type { ElementSet } from './elements.js';

/**
 * Vertices are of sorts: kinematic or not, of one part or another. Some rule excludes pairs whose elements are each of one
 * sort, and a path test must look at some of them all the same. Promised are an edge e and a triangle T unless the rule holds
 * for both as wholes; on a path they meet first where an end of e meets T, or e a side of T. So a vertex stands for every edge
 * at it, one of which may lead to another sort, and an edge for every triangle at it, one of which may have its third corner
 * there: these are the elements at the border. Rods and free points stand for themselves.
 */
export class BorderElements {
  /** uint8[V] 1 = an edge leads from here to a vertex of another sort */
  private readonly isMixed: Uint8Array;
  /** by the lower vertex of an edge within a sort, the higher ones of those with a triangle that leaves it */
  private readonly partners = new Map<number, Set<number>>();

  /** @param sorts [V] any numbers, equal for vertices of one sort */
  constructor({ vertexCount, edges, triangles }: CollisionMesh, sorts: ArrayLike<number>) {
    this.isMixed = new Uint8Array(vertexCount);
    for (let k = 0; k < edges.length; k += 2) {
      if (sorts[edges[k]] === sorts[edges[k + 1]]) continue;
      this.isMixed[edges[k]] = 1;
      this.isMixed[edges[k + 1]] = 1;
    }
    for (let k = 0; k < triangles.length; k += 3) {
      // Most triangles are of one sort.
      if (this.isMixed[triangles[k]] + this.isMixed[triangles[k + 1]] + this.isMixed[triangles[k + 2]] < 2) continue;
      for (const [s, n, apex] of SIDES_AND_APEX) {
        const [p, q] = [triangles[k + s], triangles[k + n]];
        if (sorts[q] !== sorts[p] || sorts[triangles[k + apex]] === sorts[p]) continue;
        const low = Math.min(p, q);
        const highs = this.partners.get(low) ?? new Set();
        this.partners.set(low, highs.add(Math.max(p, q)));
      }
    }
  }

  /** Asked of elements that are of one sort throughout. */
  has({ size, vertices }: ElementSet, index: number): boolean {
    if (size === 1) return this.isMixed[vertices[index]] === 1;
    if (size === 3) return false;
    const [p, q] = [vertices[2 * index], vertices[2 * index + 1]];
    // Most edges are settled by the marks alone.
    if (this.isMixed[p] === 0 || this.isMixed[q] === 0) return false;
    return this.partners.get(Math.min(p, q))?.has(Math.max(p, q)) === true;
  }
}

const SIDES_AND_APEX = [
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
] as const;
