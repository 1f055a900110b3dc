import type { LeftOutPairs } from '../mesh/left-out-pairs.js';

/** One request before its first step, whose vertices move by straight pieces: as rigid bodies, then by free flight. */
export interface PiecewiseRun {
  /** float32[3·V] engine units: the state, moved in place */
  readonly x: Float32Array;
  /** float32[3·V] y* */
  readonly target: Float32Array;
  readonly excluded?: LeftOutPairs | undefined;
  /** asked before each piece */
  readonly mayContinue: () => boolean;
  /** called at short intervals before anything moves; may throw */
  readonly pulse: () => void;
  /** called after x has moved by one straight piece, in which all vertices move in the same time */
  readonly onPiece: (x: Float32Array) => void;
}
