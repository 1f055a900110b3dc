import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { UntangleOptions, UntangleProgress } from '../contract/untangle.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import type { Engine } from '../solver/engine.js';
import type { CoordinateFrame } from '../solver/frame.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import type { RegionsLeftOut } from './left-out.js';

/** The input of an untangling. */
export interface UntangleProblem {
  readonly mesh: CollisionMesh;
  /** [3·V] the start, finite; the answer has its scalar */
  readonly positions: Positions;
  /** of the start */
  readonly measures: MeshMeasures;
  /** the engine's coordinates, and the floor in them, for a start that is its own target (frameFor in src/jobs) */
  readonly frame: CoordinateFrame;
  readonly floor: number;
  /** complete (resolveParameters); the pull-back is a resolve with them, except that the method is TWO_WAY */
  readonly parameters: Parameters;
  readonly options: UntangleOptions;
}

/** A straight piece of the path from the start to the answer. */
export interface UntanglePiece {
  /** float64[3·V] both ends, the caller's unit */
  readonly from: Float64Array;
  readonly to: Float64Array;
  /** the pairs that were left out on this piece; undefined = none */
  readonly leftOut: RegionsLeftOut | undefined;
  /** the iteration at whose state the resolve began, counted from 1; 0 = the pull-back of a free state */
  readonly iteration: number;
}

/** What the caller of an untangling provides. */
export interface UntangleTools {
  readonly engine: Engine;
  /** the exact test of a state (findIntersections in src/verify), with the filter of the device if there is one */
  readonly testState: (mesh: CollisionMesh, x: Positions, rules: PairRules) => Promise<StateFindings> | StateFindings;
  /** ms that are left; Infinity = no budget */
  readonly timeLeft: () => number;
  /** called at short intervals; true ends the untangling with the best state */
  readonly isCancelled: () => boolean;
  /**
   * called at intervals during the tests of the start (before which there is no best state) and of the answer; their
   * errors propagate
   */
  readonly checkpoints?: { readonly start: () => void; readonly answer: () => void };
  readonly onProgress?: ((progress: UntangleProgress) => void) | undefined;
  /** receives every piece of the path, in order; the arrays are not used again */
  readonly onPiece?: ((piece: UntanglePiece) => void) | undefined;
}
