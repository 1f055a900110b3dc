import type { Warning } from '../contract/errors.js';
import type { RestLengths } from './rest-lengths.js';
import type { StrainShapes } from './strain.js';

export interface Part {
  readonly name: string;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** δ of this part, the caller's unit; absent = that of the parameters */
  readonly activationDistance?: number;
  /** contact offset of this part, the caller's unit; absent = the same share of its δ as in the parameters */
  readonly contactOffset?: number;
}

/** Immutable once built by `buildMesh`; the mesh owns every array, and none may be written to. */
export interface CollisionMesh {
  readonly vertexCount: number;
  /** uint32[3·T] contact triangles: those of the caller in order, then other boundary faces of tetrahedra */
  readonly triangles: Uint32Array;
  /** uint32[2·E] contact edges, unique, lower id first: edges of contact triangles, then the other segments */
  readonly edges: Uint32Array;
  /** edges[2·i] with i ≥ rodStart are rods: segments that are not edges of triangles */
  readonly rodStart: number;
  /** uint32[P] particles whose vertex is in no other element, ascending */
  readonly particles: Uint32Array;
  /** uint32[C] vertices that can touch something, ascending: those of contact triangles, edges and particles */
  readonly contactVertices: Uint32Array;
  /** uint32[2·I] edges inside solids, unique, lower id first: no contact, but their length is constrained */
  readonly innerEdges: Uint32Array;
  /** uint32[4·K] as sent */
  readonly tetrahedra: Uint32Array;
  /**
   * float32[V] mean mass of the dynamic vertices / mass; 0 for kinematic vertices. A vertex with 0 that is not
   * kinematic is *fixed*: if its target is at its place, nothing moves it, not even a motion of its whole component.
   * buildMesh fixes no vertices.
   */
  readonly inverseMasses: Float32Array;
  /** uint8[V] 1 = kinematic */
  readonly kinematic: Uint8Array;
  readonly parts: readonly Part[];
  /** int32[V] index into parts; empty if there are no parts */
  readonly partOfVertex: Int32Array;
  /** uint32[2·n] as sent, lower index first */
  readonly ignoredPartPairs: Uint32Array;
  /** absent = strains have no limits */
  readonly strain?: StrainShapes;
  /** absent = lengths of edges are limited relative to those in the target */
  readonly restLengths?: RestLengths;
  /** counts of the elements that the caller sent, for summaries */
  readonly sent: {
    readonly triangles: number;
    readonly segments: number;
    readonly particles: number;
    readonly tetrahedra: number;
  };
  /** connected components over all elements, without isolated vertices */
  readonly components: number;
  readonly warnings: readonly Warning[];
}

/** Lengths of one state of a mesh, in the unit of its positions; computed in double precision. */
export interface MeshMeasures {
  /**
   * median length of edges (contact and inner) with a dynamic vertex; of all edges if none has one; of
   * nearest-neighbour distances of particles if there are no edges. 0 only if every such length is 0.
   */
  readonly medianEdge: number;
  /** the basis of default lengths (typical-edge.ts): the median edge, or less if the mesh has several scales */
  readonly typicalEdge: number;
  /** largest δ that is accepted (largest-delta.ts); absent = any */
  readonly largestDelta?: number;
  /** by part, the largest δ that it may set; absent = any */
  readonly largestDeltas?: readonly number[];
  /** smallest height of a contact triangle of non-zero area; Infinity without one */
  readonly minHeight: number;
  /** min xyz, max xyz over all vertices that belong to an element */
  readonly bounds: readonly [number, number, number, number, number, number];
  /** ZERO_LENGTH_EDGE, ZERO_AREA_TRIANGLE */
  readonly warnings: readonly Warning[];
}
