import { defineStage, type NoNumbers } from '../../threads/stage.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import { BOUND_CHUNK, type BoundArrays } from './bound.js';
import { corner, measureCorner } from './certificate.js';

const f = Math.fround;

/** The data of the step that the check reads, and its results. */
export interface CheckArrays
  extends Pick<BoundArrays, 'kind' | 'vertex' | 'normal' | 'x' | 'moving' | 'bounded' | 'limits' | 'counts'> {
  /** float32[3·V] the written positions */
  readonly next: Float32Array;
  /** float32[V] α of the step */
  readonly alpha: Float32Array;
  /** int32[V] the first pair whose half-space the vertex violates; {@link NO_PAIR} = none */
  readonly failed: Int32Array;
  /** int32[1] vertices that violate one */
  readonly failures: Int32Array;
}

export const NO_PAIR = 0x7fffffff;

/**
 * Compares the written positions with the half-spaces of the bounded pairs (the third pass of the forward step,
 * forward.ts). It reverts nothing: whether a vertex violates a pair depends on its own numbers alone, so the order of
 * pairs does not matter, and the first such pair is reported.
 */
export const CHECK = defineStage(import.meta.url, 'check', checkPairs);

function checkPairs(arrays: CheckArrays, _: NoNumbers, from: number, to: number): void {
  const { x, next, kind, vertex, normal, alpha, moving, bounded, limits, counts } = arrays;
  const end = Math.min(to, from + counts[2 * (from / BOUND_CHUNK)]);
  for (let n = from; n < end; n++) {
    const p = bounded[n];
    const q = 4 * p;
    const sideA = SIDE_A[kind[p]];
    const nx = normal[3 * p];
    const ny = normal[3 * p + 1];
    const nz = normal[3 * p + 2];
    const lowest = limits[3 * n];
    const highest = limits[3 * n + 1];
    const error = limits[3 * n + 2];
    const o = 3 * vertex[q];
    for (let s = 0; s < CORNERS[kind[p]]; s++) {
      const v = vertex[q + s];
      if (!moving[v] || alpha[v] === 0) continue;
      const k = 3 * v;
      measureCorner(next, k, x, o, nx, ny, nz);
      const bound = Math.max(error, corner.error);
      const isKept = s < sideA ? isAbove(corner.height, lowest, bound) : isBelow(corner.height, highest, bound);
      if (!isKept) fail(arrays, v, p);
    }
  }
}

/** failed[v] ← min(failed[v], p) */
function fail({ failed, failures }: CheckArrays, v: number, p: number): void {
  for (let named = Atomics.load(failed, v); p < named; ) {
    const before = Atomics.compareExchange(failed, v, named, p);
    if (before === NO_PAIR) Atomics.add(failures, 0, 1);
    if (before === named) return;
    named = before;
  }
}

/** Whether a height with an error of at most `error` is certainly at or above `lowest`. */
function isAbove(height: number, lowest: number, error: number): boolean {
  return height >= f(lowest + error);
}

/** Whether a height with an error of at most `error` is certainly at or below `highest`. */
function isBelow(height: number, highest: number, error: number): boolean {
  return height <= f(highest - error);
}
