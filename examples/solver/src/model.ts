import type { Force } from './force.js';

/** The elements as the service knows them. */
export interface MeshArrays {
  /** uint32[3·T] */
  readonly triangles: Uint32Array;
  /** uint32[2·S] */
  readonly segments: Uint32Array;
  /** uint32[P] */
  readonly particles: Uint32Array;
  /** uint32[4·K] */
  readonly tetrahedra: Uint32Array;
}

/** Vertices in a row with a name. */
export interface Part {
  readonly name: string;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** least and largest principal stretch of its elements, against `limitedRest` of the model; default: none */
  readonly strainMin?: number;
  readonly strainMax?: number;
}

/** What is simulated: a discrete system, without its state. */
export interface Model {
  readonly vertexCount: number;
  readonly mesh: MeshArrays;
  readonly parts: readonly Part[];
  /** float64[3·V], m: free of intersections */
  readonly start: Float64Array;
  /** float64[3·V], m: the shape at rest, where a part has limits of its strains */
  readonly limitedRest?: Float64Array;
  /** float64[3·V], m/s */
  readonly startVelocity: Float64Array;
  /** float64[V], kg, > 0 */
  readonly masses: Float64Array;
  /** float64[V], 1/kg, 0 of kinematic vertices */
  readonly inverseMasses: Float64Array;
  /** uint8[V], 1 = obstacle or pin */
  readonly isKinematic: Uint8Array;
  readonly forces: readonly Force[];
  /** m/s² */
  readonly gravity: readonly [number, number, number];
  /** Writes where the kinematic vertices are at a time, s; leaves the others alone. */
  prescribe(time: number, positions: Float64Array): void;
}
