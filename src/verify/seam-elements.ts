import type { CollisionMesh } from '../mesh/types.js';
import type { ElementSet } from './elements.js';

/**
 * Elements of one part whose pairs with an ignored part a path test must look at all the same. Promised are an edge e and a
 * triangle T unless each lies wholly in one part and the two parts are ignored; on a path they meet first where an end of e
 * meets T, or e a side of T. A vertex stands for every edge at it, and one of these may lead to another part; an edge
 * stands for every triangle at it, and one of these may have its third corner in another part.
 */
export class SeamElements {
  /** uint8[V] 1 = an edge leads from here to another part */
  private readonly hasWayOut: Uint8Array;
  /** by the lower vertex of an edge within a part, the higher ones of those with a triangle that leaves it */
  private readonly partners = new Map<number, Set<number>>();

  constructor({ vertexCount, edges, triangles, partOfVertex }: CollisionMesh) {
    this.hasWayOut = new Uint8Array(vertexCount);
    for (let k = 0; k < edges.length; k += 2) {
      if (partOfVertex[edges[k]] === partOfVertex[edges[k + 1]]) continue;
      this.hasWayOut[edges[k]] = 1;
      this.hasWayOut[edges[k + 1]] = 1;
    }
    for (let k = 0; k < triangles.length; k += 3) {
      for (const [s, n, apex] of SIDES_AND_APEX) {
        const [p, q] = [triangles[k + s], triangles[k + n]];
        const part = partOfVertex[p];
        if (partOfVertex[q] !== part || partOfVertex[triangles[k + apex]] === part) continue;
        const low = Math.min(p, q);
        const highs = this.partners.get(low) ?? new Set();
        this.partners.set(low, highs.add(Math.max(p, q)));
      }
    }
  }

  has({ size, vertices }: ElementSet, index: number): boolean {
    if (size === 1) return this.hasWayOut[vertices[index]] === 1;
    if (size === 3) return false;
    const [p, q] = [vertices[2 * index], vertices[2 * index + 1]];
    return this.partners.get(Math.min(p, q))?.has(Math.max(p, q)) === true;
  }
}

const SIDES_AND_APEX = [
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
] as const;
