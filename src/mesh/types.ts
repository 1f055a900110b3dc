import type { Warning } from '../contract/errors.js';
import type { RestLengths } from './rest-lengths.js';
import type { StrainShapes } from './strain.js';

export interface Part {
  readonly name: string;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** δ of this part, the caller's unit; absent = the parameters' */
  readonly activationDistance?: number;
  /** contact offset of this part, the caller's unit; absent = the same share of its δ as in the parameters */
  readonly contactOffset?: number;
}

/** Immutable once built by `buildMesh`; every array is owned by the mesh and must not be written to. */
export interface CollisionMesh {
  readonly vertexCount: number;
  /** uint32[3·T] contact triangles: the caller's in order, then the boundary faces of tetrahedra not among them */
  readonly triangles: Uint32Array;
  /** uint32[2·E] contact edges, unique, lower id first: edges of contact triangles, then segments that are not among them */
  readonly edges: Uint32Array;
  /** edges[2·i] with i ≥ rodStart are rods: segments that are no triangle's edge */
  readonly rodStart: number;
  /** uint32[P] free points, ascending: particles whose vertex is in no other element */
  readonly particles: Uint32Array;
  /** uint32[C] vertices that can touch something, ascending: those of contact triangles, edges and particles */
  readonly contactVertices: Uint32Array;
  /** uint32[2·I] edges inside solids, unique, lower id first: no contact, but their length is constrained */
  readonly innerEdges: Uint32Array;
  /** uint32[4·K] as sent */
  readonly tetrahedra: Uint32Array;
  /**
   * float32[V] mean mass of the dynamic vertices / mass; 0 for kinematic vertices. A vertex with 0 that is not kinematic is *fixed*: where
   * its target is where it is, nothing moves it, not even a motion of its component as a whole. buildMesh fixes none.
   */
  readonly inverseMasses: Float32Array;
  /** uint8[V] 1 = kinematic */
  readonly kinematic: Uint8Array;
  readonly parts: readonly Part[];
  /** int32[V] index into parts; empty when there are no parts */
  readonly partOfVertex: Int32Array;
  /** uint32[2·n] as sent, lower index first */
  readonly ignoredPartPairs: Uint32Array;
  /** absent = strains have no limits */
  readonly strain?: StrainShapes;
  /** absent = lengths of edges are limited relative to those in the target */
  readonly restLengths?: RestLengths;
  /** counts of what the caller sent, for summaries */
  readonly sent: {
    readonly triangles: number;
    readonly segments: number;
    readonly particles: number;
    readonly tetrahedra: number;
  };
  /** connected components over all elements, isolated vertices not counted */
  readonly components: number;
  readonly warnings: readonly Warning[];
}

/** Lengths of one state of a mesh, in the unit of its positions; computed in double precision. */
export interface MeshMeasures {
  /** median length of edges (contact and inner) with a dynamic vertex; of all edges when none has; of nearest-neighbour
   *  distances of particles when there is no edge. 0 only if every such length is 0. */
  readonly medianEdge: number;
  /** what default lengths follow (typical-edge.ts): the median edge, or less where the mesh has several scales */
  readonly typicalEdge: number;
  /** largest δ that is accepted (largest-delta.ts); absent = any */
  readonly largestDelta?: number;
  /** by part, the largest δ of its own; absent = any */
  readonly largestDeltas?: readonly number[];
  /** smallest height of a contact triangle of non-zero area; Infinity without one */
  readonly minHeight: number;
  /** min xyz, max xyz over all vertices that belong to an element */
  readonly bounds: readonly [number, number, number, number, number, number];
  /** ZERO_LENGTH_EDGE, ZERO_AREA_TRIANGLE */
  readonly warnings: readonly Warning[];
}
