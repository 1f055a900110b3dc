import { allocate, release } from '../../threads/arrays.js';
import { team } from '../../threads/here.js';
import { defineStage } from '../../threads/stage.js';
import { pairActivationDistance } from '../part-distances.js';
import { apartAlong, areBoxesApart } from './box-separation.js';
import type { PairArrays, PairSet } from './pair-set.js';

interface TightenArrays extends Pick<PairArrays, 'kind' | 'vertex' | 'normal'> {
  /** float32[6·V] trust boxes */
  readonly box: Float32Array;
  readonly x: Float32Array;
  /** float32[V] δ by vertex; empty = the cutoff of all */
  readonly distances: Float32Array;
  /** uint8[P] 1 = the pair can still meet */
  readonly isKept: Uint8Array;
}

interface TightenNumbers {
  readonly cutoff: number;
}

/** Pairs of a chunk, and nanoseconds per pair. */
const CHUNK = 4096;
const COST = 25;

const TIGHTEN = defineStage(import.meta.url, 'tighten', markMeeting);

function markMeeting(arrays: TightenArrays, { cutoff }: TightenNumbers, from: number, to: number): void {
  const { kind, vertex, normal, box, x, distances, isKept } = arrays;
  const hasDistances = distances.length > 0;
  for (let p = from; p < to; p++) {
    const q = 4 * p;
    const v0 = vertex[q];
    const v1 = vertex[q + 1];
    const v2 = vertex[q + 2];
    const v3 = vertex[q + 3];
    apartAlong.x = normal[3 * p];
    apartAlong.y = normal[3 * p + 1];
    apartAlong.z = normal[3 * p + 2];
    apartAlong.by = hasDistances ? pairActivationDistance(distances, kind[p], v0, v1, v2, v3) : cutoff;
    isKept[p] = areBoxesApart(box, x, kind[p], v0, v1, v2, v3) ? 0 : 1;
  }
}

/**
 * Drops the pairs that can no longer meet in their boxes: those that a search would not find, by the same test, along
 * their last normal.
 *
 * @param box float32[6·V] trust boxes
 * @param x float32[3·V] current state
 * @param cutoff δ of all pairs if `distances` is undefined; engine units
 * @param distances float32[V] δ by vertex
 */
export function dropApart(
  pairs: PairSet,
  box: Float32Array,
  x: Float32Array,
  cutoff: number,
  distances: Float32Array = new Float32Array(0),
): void {
  const { kind, vertex, normal, count } = pairs;
  const isKept = allocate(Uint8Array, count);
  const arrays = { kind, vertex, normal, box, x, distances, isKept };
  team.run({ stage: TIGHTEN, arrays, numbers: { cutoff }, count, chunk: CHUNK, cost: COST });
  pairs.retain(isKept);
  release(isKept);
}
