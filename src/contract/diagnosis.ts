import type { ElementPair, ElementRef } from './elements.js';
import type { MeshInput, Positions } from './mesh.js';
import type { ParametersInput } from './parameters.js';

/** What the operation Diagnose takes and gives, as plain data in the names of the contract. */

/** A mesh to be looked at, which need not be one that the service accepts. */
export interface DiagnoseRequest {
  readonly mesh: MeshInput;
  /** [3·V], the caller's unit; may hold numbers that are not finite */
  readonly positions: Positions;
  /** Absent = nothing is said of a motion. */
  readonly target?: Positions;
  /** What a resolve would be asked for. */
  readonly parameters?: ParametersInput;
  /** Largest number of elements that a finding names; default 16. Counts are always complete. */
  readonly maxElements?: number;
  /** From receipt, queue included; absent = default of the server. */
  readonly timeBudgetSeconds?: number;
}

/**
 * - `PROBLEM`: the service refuses the mesh, or its answer cannot be what was meant.
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
  /** what to do; empty where nothing needs doing */
  readonly advice: string;
}

/** Where the curves end along which surfaces intersect: nowhere, at a border of a surface, or inside one. */
export type Contour = 'CLOSED' | 'BORDER' | 'OPEN';

/** Intersections that are connected through elements. */
export interface IntersectionRegion {
  readonly pairCount: number;
  /** the first pairs */
  readonly pairs: readonly ElementPair[];
  /** diagonal of the box of the intersection's points, the caller's unit */
  readonly size: number;
  /** how far one side is through the other, an estimate, the caller's unit */
  readonly depth: number;
  readonly centre: readonly [number, number, number];
  readonly contour: Contour;
  /** components or parts that meet here, one or two names */
  readonly names: readonly string[];
}

/** Elements that are connected. */
export interface DiagnosedComponent {
  readonly name: string;
  /** lowest id */
  readonly firstVertex: number;
  readonly vertexCount: number;
  readonly triangleCount: number;
  /** every edge has two triangles */
  readonly closed: boolean;
  /** diagonal of the box */
  readonly size: number;
}

/** One component lies on the outer side of another where they are near each other. */
export interface LayerOrder {
  readonly inner: string;
  readonly outer: string;
  /** share of the samples that say so, in (0.5, 1] */
  readonly confidence: number;
  readonly samples: number;
}

export interface Diagnosis {
  /** The service would accept the start: no finding is a PROBLEM. */
  readonly accepted: boolean;
  readonly findings: readonly DiagnosisFinding[];
  /** the largest first */
  readonly regions: readonly IntersectionRegion[];
  readonly regionCount: number;
  /** the largest first */
  readonly components: readonly DiagnosedComponent[];
  readonly componentCount: number;
  readonly layers: readonly LayerOrder[];
  /** A guess; absent where nothing tells. */
  readonly metresPerUnit?: number;
  /** the caller's unit */
  readonly medianEdge?: number;
  /** δ and leap that a resolve would use, the caller's unit */
  readonly activationDistance?: number;
  readonly leap?: number;
  /** the least with which a resolve makes progress on this machine; absent where none was possible */
  readonly smallestTimeBudgetSeconds?: number;
}
