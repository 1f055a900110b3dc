import type { ParametersInput } from '../../src/contract/parameters.js';

/** One body of a scene; its ids count from 0 within the body. */
export interface Body {
  readonly name: string;
  /** Decides its colour in pictures. */
  readonly role: 'first' | 'second' | 'obstacle';
  readonly isKinematic: boolean;
  /** Only for the last dynamic body: this many of its last vertices are kinematic (hair roots). */
  readonly kinematicTail?: number;
  /** float64[3·V], metres */
  readonly start: Float64Array;
  /** float64[3·V], metres */
  readonly target: Float64Array;
  readonly triangles?: readonly number[];
  readonly segments?: readonly number[];
  readonly particles?: readonly number[];
  readonly tetrahedra?: readonly number[];
}

/** A start and a target over one mesh, kinematic vertices last. Metres. */
export interface Scene {
  readonly name: string;
  /** What happens, for the list of examples. */
  readonly sentence: string;
  readonly vertexCount: number;
  /** float64[3·V] */
  readonly start: Float64Array;
  /** float64[3·V] */
  readonly target: Float64Array;
  /** uint32[3·T] */
  readonly triangles: Uint32Array;
  /** uint32[2·S] */
  readonly segments: Uint32Array;
  /** uint32[P] */
  readonly particles: Uint32Array;
  /** uint32[4·K] */
  readonly tetrahedra: Uint32Array;
  /** First kinematic vertex; equal to vertexCount when there is none. */
  readonly kinematicFrom: number;
  readonly parameters: ParametersInput;
  readonly bodies: readonly {
    readonly name: string;
    readonly role: Body['role'];
    readonly firstVertex: number;
    readonly vertexCount: number;
  }[];
}

/** @param vertices approximate number of vertices; undefined means the size of the committed example */
export type MakeScene = (vertices?: number) => Scene;
