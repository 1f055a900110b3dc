import type { DiagnosisFinding, Severity } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Surface } from './surface.js';

/** The input of all tests: the usable elements, and common data about them. */
export interface Subject {
  readonly mesh: CollisionMesh;
  /** float64[3·V], finite, the caller's unit */
  readonly x: Float64Array;
  /** the target */
  readonly y: Float64Array | undefined;
  /** relative rounding of the caller's numbers, as a share of a coordinate's magnitude */
  readonly precision: number;
  /** the caller's unit; 0 if every edge has length 0 */
  readonly medianEdge: number;
  readonly surface: Surface;
  /** uint8[V] 1 = an element names it that cannot be read, and that `mesh` does not contain */
  readonly isNamed: Uint8Array;
  /** int32[V] rank of the component, -1 = in no element */
  readonly componentOf: Int32Array;
  /** by rank of the component */
  readonly names: readonly string[];
  /** names a triangle of `mesh` as the caller knows it */
  triangle(index: number): ElementRef;
  /** number of elements that a finding names */
  readonly maxElements: number;
  /** called about every millisecond; an exception of it ends the work */
  readonly checkpoint: () => void;
}

export interface FindingParts {
  readonly code: string;
  readonly severity: Severity;
  readonly count: number;
  readonly measure?: number;
  readonly unit?: string;
  readonly elements?: readonly ElementRef[];
  readonly message: string;
  readonly advice?: string;
}

/** Makes a finding, with defaults for omitted fields. */
export const finding = (parts: FindingParts): DiagnosisFinding => ({ elements: [], advice: '', ...parts });

export const vertexRef = (vertex: number): ElementRef => ({ kind: 'vertex', index: vertex, vertices: [vertex] });

export const edgeRef = (index: number, a: number, b: number): ElementRef => ({ kind: 'edge', index, vertices: [a, b] });

/** Four significant digits for a text. */
export const show = (value: number): string => String(Number(value.toPrecision(4)));

/** "1 vertex", "2 vertices" */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${count === 1 ? one : many}`;
