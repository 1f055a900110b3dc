import type { PairSet } from '../../src/solver/cpu/pair-set.js';
import { CORNERS } from '../../src/solver/pair-kinds.js';
import type { PairCode } from '../../src/verify/pair-kinds.js';
import { PathMeeting } from '../../src/verify/path-pair.js';
import type { Random } from './random.js';

const meeting = new PathMeeting();
const from = new Float64Array(12);
const to = new Float64Array(12);

/** Whether pair p may meet while its vertices go straight from `start` to `end`: exact up to a rounding of 1e-15. */
export function meetsOnPiece(pairs: PairSet, p: number, start: ArrayLike<number>, end: ArrayLike<number>): boolean {
  for (let s = 0; s < CORNERS[pairs.kind[p]]; s++) {
    const v = pairs.vertex[4 * p + s];
    for (let c = 0; c < 3; c++) {
      from[3 * s + c] = start[3 * v + c];
      to[3 * s + c] = end[3 * v + c];
    }
  }
  // The verifier's codes are those of P plus one.
  return meeting.findImpact((pairs.kind[p] + 1) as PairCode, from, to) !== undefined;
}

/**
 * A state between: every vertex has moved by its own share of its motion: none, all or some of it.
 *
 * @returns float64[3·V]
 */
export function mixStates(random: Random, x: Float32Array, next: Float32Array): Float64Array {
  const style = random.int(3);
  const mixed = new Float64Array(x.length);
  for (let v = 0; v < x.length / 3; v++) {
    const share = style === 0 ? 1 : style === 1 ? random.int(2) : random();
    for (let c = 3 * v; c < 3 * v + 3; c++) mixed[c] = share === 1 ? next[c] : x[c] + share * (next[c] - x[c]);
  }
  return mixed;
}
