/** The topology of a mesh as a caller describes it. Positions are passed beside the mesh, never inside it. */

/** Coordinates of all vertices, [3·V], in the caller's unit and scalar type. */
export type Positions = Float32Array | Float64Array;

/** A named contiguous range of vertices. */
export interface PartInput {
  readonly name: string;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** Makes every vertex of the part kinematic, in addition to MeshInput.kinematic. */
  readonly kinematic?: boolean;
  /** δ of this part, > 0, in the caller's unit; absent = δ of the parameters. */
  readonly activationDistance?: number;
  /** Contact offset of this part, 0 to its δ, the caller's unit; absent = the same share of δ as in the parameters. */
  readonly contactOffset?: number;
  /** s_min and s_max of the elements of this part; absent = those of the mesh. */
  readonly strainMin?: number;
  readonly strainMax?: number;
}

/**
 * Limits of the principal strains of triangles and tetrahedra: the singular values of their deformation gradients,
 * lengths relative to those at rest.
 */
export interface StrainLimitsInput {
  /** [3·V] the rest shape of every element, in the caller's unit. */
  readonly rest: Positions;
  /** 0 ≤ s_min ≤ 1; absent or 0 = none. */
  readonly min?: number;
  /** s_max ≥ 1; absent = none. */
  readonly max?: number;
}

/**
 * Lengths of edges at rest, in the caller's unit: stretchLimit and the values of reports about long edges are relative
 * to these if an edge has one, and otherwise to its length in the target. 0 = the edge has no limit.
 */
export interface RestLengthsInput {
  /** [3·V] the mesh at rest, which sets the length of every edge; absent = only the edges below have one. */
  readonly positions?: Positions;
  /** uint32[2·n] ends of edges whose length is set here and overrides that of the positions. */
  readonly edges?: Uint32Array;
  /** float32[n] ≥ 0 */
  readonly lengths?: Float32Array;
}

/** Every array is optional; a mesh needs at least one element. */
export interface MeshInput {
  readonly vertexCount: number;
  /** uint32[3·T]: cloth, shells, closed surfaces, obstacles. */
  readonly triangles?: Uint32Array;
  /** uint32[2·S]: rods. */
  readonly segments?: Uint32Array;
  /** uint32[P]: free points. */
  readonly particles?: Uint32Array;
  /** uint32[4·K]: solids; their boundary faces become contact triangles. */
  readonly tetrahedra?: Uint32Array;
  /** float32[V], > 0; absent = uniform. Only ratios matter. */
  readonly masses?: Float32Array;
  /** uint8[V]; non-zero = kinematic. */
  readonly kinematic?: Uint8Array;
  readonly parts?: readonly PartInput[];
  /** uint32[2·n], indices into parts: pairs of parts that are never constrained, bounded or verified. */
  readonly ignoredPartPairs?: Uint32Array;
  /** Absent = strains have no limits. */
  readonly strainLimits?: StrainLimitsInput;
  /** Absent = lengths are relative to those in the target. */
  readonly restLengths?: RestLengthsInput;
}

export interface MeshLimits {
  readonly maxVertices: number;
  /** Sum of triangles, segments, particles and tetrahedra. */
  readonly maxElements: number;
}
