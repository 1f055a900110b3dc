import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { UntangleOptions, UntangleProgress } from '../contract/untangle.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import type { Engine } from '../solver/engine.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import type { RegionsLeftOut } from './left-out.js';

/** What is to be untangled. */
export interface UntangleProblem {
  readonly mesh: CollisionMesh;
  /** [3·V] the start, finite; the answer has its scalar */
  readonly positions: Positions;
  /** of the start */
  readonly measures: MeshMeasures;
  /** complete (resolveParameters); the pull-back is a resolve with them, but for the method, which is TWO_WAY */
  readonly parameters: Parameters;
  readonly options: UntangleOptions;
}

/** A straight piece of the path from the start to the answer. */
export interface UntanglePiece {
  /** float64[3·V] both ends, the caller's unit */
  readonly from: Float64Array;
  readonly to: Float64Array;
  /** the pairs that were left out on it; undefined = none */
  readonly leftOut: RegionsLeftOut | undefined;
  /** the iteration whose state the resolve began at, from 1; 0 = the pull-back of a free state */
  readonly iteration: number;
}

/** What the surroundings provide. */
export interface UntangleTools {
  readonly engine: Engine;
  /** the exact test of a state (findIntersections in src/verify), by the fastest way there is */
  readonly testState: (mesh: CollisionMesh, x: Positions, rules: PairRules) => Promise<StateFindings> | StateFindings;
  /** ms that are left; Infinity = no budget */
  readonly timeLeft: () => number;
  /** asked at short intervals; true ends it with the best state */
  readonly isCancelled: () => boolean;
  /** called every so often in the tests of the start, before which there is no best state, and of the answer; what they throw is thrown */
  readonly checkpoints?: { readonly start: () => void; readonly answer: () => void };
  readonly onProgress?: ((progress: UntangleProgress) => void) | undefined;
  /** receives every piece of the path, in order; the arrays are not used again */
  readonly onPiece?: ((piece: UntanglePiece) => void) | undefined;
}
