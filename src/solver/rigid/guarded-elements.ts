import { type ElementsByVertex, elementsAt, listElements } from '../../mesh/elements-by-vertex.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { EE, VT } from '../pair-kinds.js';

/** Tells which pairs guard nothing. Its lists are made when a pair is asked for first, in time linear in the mesh. */
export class GuardedElements {
  readonly #mesh: CollisionMesh;
  #triangles: ElementsByVertex | undefined;
  #edges: ElementsByVertex | undefined;

  constructor(mesh: CollisionMesh) {
    this.#mesh = mesh;
  }

  /**
   * Whether a pair guards nothing that is promised, because everything that it guards shares a vertex with it: as where a
   * corner of a sheet is folded flat onto the next triangle.
   *
   * @param v its vertices, in slot order
   */
  guardNothing(kind: number, v: readonly number[]): boolean {
    if (kind === VT) return this.#leadsOnlyTo(v[0], v.slice(1));
    return (
      kind === EE &&
      this.#meetsInTriangles([v[0], v[1]], [v[2], v[3]]) &&
      this.#meetsInTriangles([v[2], v[3]], [v[0], v[1]])
    );
  }

  /** Whether the vertex has edges, and each of them ends at one of the corners. */
  #leadsOnlyTo(vertex: number, corners: readonly number[]): boolean {
    const { edges, vertexCount } = this.#mesh;
    this.#edges ??= listElements(edges, 2, vertexCount);
    const own = elementsAt(this.#edges, vertex);
    return own.length > 0 && own.every((e) => corners.includes(edges[2 * e] + edges[2 * e + 1] - vertex));
  }

  /** Whether the edge ab has triangles, and each of them has a vertex of the other edge. */
  #meetsInTriangles([a, b]: readonly [number, number], other: readonly number[]): boolean {
    const { triangles, vertexCount } = this.#mesh;
    this.#triangles ??= listElements(triangles, 3, vertexCount);
    const own = elementsAt(this.#triangles, a).filter((t) => triangles.subarray(3 * t, 3 * t + 3).includes(b));
    return own.length > 0 && own.every((t) => triangles.subarray(3 * t, 3 * t + 3).some((v) => other.includes(v)));
  }
}
