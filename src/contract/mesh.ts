/** A mesh as a caller describes it. Positions never live in a mesh: topology is immutable, and positions travel beside it. */

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

export interface MeshLimits {
  readonly maxVertices: number;
  /** Triangles, segments, particles and tetrahedra together. */
  readonly maxElements: number;
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
