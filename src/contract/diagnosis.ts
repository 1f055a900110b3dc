import type { ElementPair, ElementRef } from './elements.js';
import type { MeshInput, Positions } from './mesh.js';
import type { ParametersInput } from './parameters.js';

/** Request and answer of the operation Diagnose as plain data, with the names of the contract. */

/** A mesh to diagnose, even one that the service would not accept. */
export interface DiagnoseRequest {
  readonly mesh: MeshInput;
  /** [3·V], the caller's unit; may contain numbers that are not finite */
  readonly positions: Positions;
  /** Absent = no findings about a motion. */
  readonly target?: Positions;
  /** The parameters of the resolve that the diagnosis considers. */
  readonly parameters?: ParametersInput;
  /** Largest number of elements that a finding names; default 16. Counts do not depend on it. */
  readonly maxElements?: number;
  /** From receipt, including the queue; absent = default of the server. */
  readonly timeBudgetSeconds?: number;
}

/**
 * - `PROBLEM`: the service refuses the mesh, or its answer cannot be what the caller meant.
 * - `WARNING`: it is accepted, with a result that may surprise.
 * - `NOTE`: worth knowing.
 */
export type Severity = 'PROBLEM' | 'WARNING' | 'NOTE';

export interface DiagnosisFinding {
  /** as in docs/api.md */
  readonly code: string;
  readonly severity: Severity;
  readonly count: number;
  /** in {@link DiagnosisFinding.unit} */
  readonly measure?: number;
  /** "length" = the caller's unit; "ratio"; "seconds"; "metres per unit" */
  readonly unit?: string;
  /** the first ones, in the caller's numbering */
  readonly elements: readonly ElementRef[];
  readonly message: string;
  /** what to do; empty if nothing needs to be done */
  readonly advice: string;
}

/** Where the curves along which surfaces intersect end: nowhere, at a border of a surface, or inside one. */
export type Contour = 'CLOSED' | 'BORDER' | 'OPEN';

/** Intersections that are connected through elements. */
export interface IntersectionRegion {
  readonly pairCount: number;
  /** the first pairs */
  readonly pairs: readonly ElementPair[];
  /** diagonal of the box of the intersection's points, the caller's unit */
  readonly size: number;
  /** how far one side has passed through the other, an estimate, the caller's unit */
  readonly depth: number;
  readonly centre: readonly [number, number, number];
  readonly contour: Contour;
  /** components or parts that meet here, one or two names */
  readonly names: readonly string[];
}

/** A connected component of elements. */
export interface DiagnosedComponent {
  readonly name: string;
  /** lowest id */
  readonly firstVertex: number;
  readonly vertexCount: number;
  readonly triangleCount: number;
  /** whether every edge has two triangles */
  readonly closed: boolean;
  /** diagonal of the box */
  readonly size: number;
}

/** Two components near each other, one of which lies on the outer side of the other. */
export interface LayerOrder {
  readonly inner: string;
  readonly outer: string;
  /** share of the samples that agree, in (0.5, 1] */
  readonly confidence: number;
  readonly samples: number;
}

export interface Diagnosis {
  /** Whether the service would accept the start: no finding is a PROBLEM. */
  readonly accepted: boolean;
  readonly findings: readonly DiagnosisFinding[];
  /** the largest first */
  readonly regions: readonly IntersectionRegion[];
  readonly regionCount: number;
  /** the largest first */
  readonly components: readonly DiagnosedComponent[];
  readonly componentCount: number;
  readonly layers: readonly LayerOrder[];
  /** A guess; absent without evidence. */
  readonly metresPerUnit?: number;
  /** the caller's unit */
  readonly medianEdge?: number;
  /** δ and leap that a resolve would use, the caller's unit */
  readonly activationDistance?: number;
  readonly leap?: number;
  /** a budget with which a resolve makes progress on this machine: what one step took; absent if no resolve was possible */
  readonly smallestTimeBudgetSeconds?: number;
}
