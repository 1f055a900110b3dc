/** What the mesh room takes and gives. Positions never live in a mesh: topology is immutable, positions flow past it. */

/** Caller's positions, [3·V], in the caller's unit and scalar. */
export type Positions = Float32Array | Float64Array;

export interface PartInput {
  readonly name: string;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** Marks every vertex of the part kinematic, in addition to MeshInput.kinematic. */
  readonly kinematic?: boolean;
  /** δ of this part, > 0, the caller's unit; absent = the parameters' */
  readonly activationDistance?: number;
}

/** A mesh as a caller describes it; every array is optional, at least one element is needed. */
export interface MeshInput {
  readonly vertexCount: number;
  /** uint32[3·T] cloth, shells, closed surfaces, obstacles */
  readonly triangles?: Uint32Array;
  /** uint32[2·S] rods */
  readonly segments?: Uint32Array;
  /** uint32[P] free points */
  readonly particles?: Uint32Array;
  /** uint32[4·K] solids; their boundary faces become contact triangles */
  readonly tetrahedra?: Uint32Array;
  /** float32[V] > 0; absent = uniform. Only ratios matter. */
  readonly masses?: Float32Array;
  /** uint8[V], non-zero = kinematic */
  readonly kinematic?: Uint8Array;
  readonly parts?: readonly PartInput[];
  /** uint32[2·n] indices into parts: pairs of parts that are never constrained, bounded or verified */
  readonly ignoredPartPairs?: Uint32Array;
}

export interface Part {
  readonly name: string;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** δ of this part, the caller's unit; absent = the parameters' */
  readonly activationDistance?: number;
}

export interface MeshLimits {
  readonly maxVertices: number;
  /** Triangles, segments, particles and tetrahedra together. */
  readonly maxElements: number;
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
  /** float32[V] mean mass of the dynamic vertices / mass; 0 for kinematic vertices */
  readonly inverseMasses: Float32Array;
  /** uint8[V] 1 = kinematic */
  readonly kinematic: Uint8Array;
  readonly parts: readonly Part[];
  /** int32[V] index into parts; empty when there are no parts */
  readonly partOfVertex: Int32Array;
  /** uint32[2·n] as sent, lower index first */
  readonly ignoredPartPairs: Uint32Array;
  /** counts of what the caller sent, for summaries */
  readonly sent: {
    readonly triangles: number;
    readonly segments: number;
    readonly particles: number;
    readonly tetrahedra: number;
  };
  /** connected components over all elements, isolated vertices not counted */
  readonly components: number;
  readonly warnings: readonly MeshWarning[];
}

export interface MeshWarning {
  /** stable, SCREAMING_SNAKE_CASE: UNUSED_VERTICES, ZERO_LENGTH_EDGE, ZERO_AREA_TRIANGLE, ... */
  readonly code: string;
  readonly message: string;
  /** the first element concerned */
  readonly element?: { readonly kind: string; readonly index: number; readonly vertices: readonly number[] };
  /** how many are concerned */
  readonly count: number;
}

/** Lengths of one state of a mesh, in the unit of its positions; computed in double precision. */
export interface MeshMeasures {
  /** median length of edges (contact and inner) with a dynamic vertex; of all edges when none has; of nearest-neighbour
   *  distances of particles when there is no edge. 0 only if every such length is 0. */
  readonly medianEdge: number;
  /** smallest height of a contact triangle of non-zero area; Infinity without one */
  readonly minHeight: number;
  /** min xyz, max xyz over all vertices that belong to an element */
  readonly bounds: readonly [number, number, number, number, number, number];
  /** ZERO_LENGTH_EDGE, ZERO_AREA_TRIANGLE */
  readonly warnings: readonly MeshWarning[];
}
