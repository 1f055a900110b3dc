import { team } from '../../threads/here.js';
import { defineStage, type NoNumbers } from '../../threads/stage.js';
import { MIN_MOVABLE_WEIGHT } from '../constants.js';
import type { PairArrays, PairSet } from './pair-set.js';
import type { Scratch } from './workspace.js';

interface KeyArrays extends Pick<PairArrays, 'vertex' | 'weight'> {
  readonly list: Uint32Array;
  readonly inverseMass: Float32Array;
  readonly key: Int32Array;
}

const CHUNK = 1024;
/** Nanoseconds per pair. */
const COST = 40;

const KEYS = defineStage(import.meta.url, 'contact keys', fillKeys);

function fillKeys({ vertex, weight, list, inverseMass, key }: KeyArrays, _: NoNumbers, from: number, to: number): void {
  for (let n = from; n < to; n++) {
    const p = list[n];
    const q = 4 * n;
    let canMove = false;
    for (let s = 0; s < 4; s++) {
      const w = weight[4 * p + s];
      const v = w > 0 ? vertex[4 * p + s] : -1;
      let k = q + s;
      for (; k > q && key[k - 1] > v; k--) key[k] = key[k - 1];
      key[k] = v;
      if (v >= 0 && w >= MIN_MOVABLE_WEIGHT && inverseMass[v] > 0) canMove = true;
    }
    if (!canMove) key.fill(-1, q, q + 4);
  }
}

/**
 * The vertices with non-zero weight of listed pairs, stored because the selection of contacts reads them many times.
 *
 * @param list uint32[count] pairs with current geometry
 * @param scratch holds the keys until the next call with it
 * @param pulse called at short intervals; may throw
 * @returns int32[4·count] in the order of the list: sorted ids of the vertices with non-zero weight, preceded by −1 if
 *   there are fewer than four; only −1 if no movable vertex has enough weight for a constraint
 */
export function keysOf(
  { vertex, weight }: PairSet,
  list: Uint32Array,
  count: number,
  inverseMass: Float32Array,
  scratch: Scratch,
  pulse: () => void,
): Int32Array {
  const key = scratch.int32('contact keys', 4 * count);
  const arrays = { vertex, weight, list, inverseMass, key };
  team.run({ stage: KEYS, arrays, numbers: {}, count, chunk: CHUNK, cost: COST, pulse });
  return key;
}
