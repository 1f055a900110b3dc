import { defineStage, type NoNumbers } from '../threads/stage.js';
import { boundRange } from './bounds.js';

interface LeafArrays {
  /** uint32[3·N] corners of the elements of the leaves, by position */
  readonly corners: Uint32Array;
  /** of the nodes (box-tree.ts) */
  readonly first: Uint32Array;
  readonly size: Uint32Array;
  readonly right: Uint32Array;
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  /** float64[6·M] by node */
  readonly boxes: Float64Array;
}

export const LEAVES_CHUNK = 2048;
/** Nanoseconds per node. */
export const LEAVES_COST = 60;

/** Computes the boxes of the nodes that are leaves. */
export const BOUND_LEAVES = defineStage(import.meta.url, 'bound leaves', boundLeaves);

function boundLeaves(arrays: LeafArrays, _: NoNumbers, from: number, to: number): void {
  const { corners, first, size, right, lows, highs, boxes } = arrays;
  for (let node = from; node < to; node++) {
    if (right[node] === 0) boundRange(corners, 3 * first[node], 3 * size[node], lows, highs, boxes, 6 * node);
  }
}
