import type { Warning } from './errors.js';
import type { Positions } from './mesh.js';
import type { UntangleReport } from './untangle.js';

/** The answer of the operation Untangle: the report of the untangling, with the data that the service adds. */
export interface ServedUntangleReport extends UntangleReport {
  /** about mesh, state and parameters */
  readonly warnings: readonly Warning[];
  readonly engine: string;
  /** of the algorithm */
  readonly version: string;
  /** of the computation, without the queue */
  readonly seconds: number;
}

export interface UntangledState {
  /** [3·V] in the scalar of the start */
  readonly positions: Positions;
  readonly report: ServedUntangleReport;
  /** uint32[V] the contour of the start in whose region the vertex was; {@link NO_REGION}, {@link LATER_REGION} */
  readonly regions: Uint32Array;
}

/** In place of a contour: the vertex was in no region; below, in that of a contour that appeared later. */
export const NO_REGION = 0xffffffff;
export const LATER_REGION = 0xfffffffe;
