import type { Force } from './force.js';

/** The elements in the form of the service. */
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

/** A named range of vertices. */
export interface Part {
  readonly name: string;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** least and largest principal stretch of its elements, relative to `limitedRest` of the model; default: none */
  readonly strainMin?: number;
  readonly strainMax?: number;
}

/** The simulated discrete system, without its state. */
export interface Model {
  readonly vertexCount: number;
  readonly mesh: MeshArrays;
  readonly parts: readonly Part[];
  /** float64[3·V], m: free of intersections */
  readonly start: Float64Array;
  /** float64[3·V], m: the shape at rest, if a part has strain limits */
  readonly limitedRest?: Float64Array;
  /** float64[3·V], m/s */
  readonly startVelocity: Float64Array;
  /** float64[V], kg, > 0 */
  readonly masses: Float64Array;
  /** float64[V], 1/kg, 0 for kinematic vertices */
  readonly inverseMasses: Float64Array;
  /** uint8[V], 1 = obstacle or pin */
  readonly isKinematic: Uint8Array;
  readonly forces: readonly Force[];
  /** m/s² */
  readonly gravity: readonly [number, number, number];
  /** Writes the positions of the kinematic vertices at a time, s; does not change the others. */
  prescribe(time: number, positions: Float64Array): void;
}
