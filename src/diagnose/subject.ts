import type { DiagnosisFinding, Severity } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Surface } from './surface.js';

/** What the findings are looked for in: the elements that can be used, and what all findings need of them. */
export interface Subject {
  readonly mesh: CollisionMesh;
  /** float64[3·V], finite, the caller's unit */
  readonly x: Float64Array;
  /** the target */
  readonly y: Float64Array | undefined;
  /** what the caller's numbers are rounded to, of a coordinate's magnitude */
  readonly precision: number;
  /** the caller's unit; 0 if every edge has length 0 */
  readonly medianEdge: number;
  readonly surface: Surface;
  /** int32[V] rank of the component, -1 = in no element */
  readonly componentOf: Int32Array;
  /** by rank of the component */
  readonly names: readonly string[];
  /** of a triangle of `mesh`, as the caller knows it */
  triangle(index: number): ElementRef;
  /** how many elements a finding names */
  readonly maxElements: number;
  /** ends the work by what it throws; called every millisecond or so */
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

/** A finding, with the fields that were left out. */
export const finding = (parts: FindingParts): DiagnosisFinding => ({ elements: [], advice: '', ...parts });

export const vertexRef = (vertex: number): ElementRef => ({ kind: 'vertex', index: vertex, vertices: [vertex] });

export const edgeRef = (index: number, a: number, b: number): ElementRef => ({ kind: 'edge', index, vertices: [a, b] });

/** Four digits for a person to read. */
export const show = (value: number): string => String(Number(value.toPrecision(4)));

/** "1 vertex", "2 vertices" */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${count === 1 ? one : many}`;
