import { team } from '../../threads/here.js';
import { defineStage } from '../../threads/stage.js';
import { MIN_MOVABLE_WEIGHT } from '../constants.js';
import { CORNERS } from '../pair-kinds.js';
import { distanceOfPair } from '../part-distances.js';
import { staleGap } from './candidates.js';
import { measureClosest } from './certificate.js';
import { closest } from './closest.js';
import { type Aims, aimOf, offsetOf } from './contact-aims.js';
import { closeGaps } from './lists.js';
import type { PairArrays, PairSet } from './pair-set.js';
import type { Scratch } from './workspace.js';

const CHUNK = 4096;

/** Nanoseconds a pair, on one thread: few are near. */
const COST = 10;

interface ShortArrays extends PairArrays {
  readonly x: Float32Array;
  readonly start: Float32Array;
  readonly distances: Float32Array;
  readonly offsets: Float32Array;
  /** uint32[P] what a chunk finds, from its first item on; float32[P] and uint8[P] by how much, and bits of its corners */
  readonly found: Uint32Array;
  readonly by: Float32Array;
  readonly corners: Uint8Array;
  readonly counts: Int32Array;
}

interface ShortNumbers {
  readonly delta: number;
  readonly offsetShare: number;
}

const FIND_SHORT = defineStage(import.meta.url, 'find short', findShort);

/** Pairs nearer than their aim, and which of their movable corners the closest points lean on. */
function findShort(arrays: ShortArrays, { delta, offsetShare }: ShortNumbers, from: number, to: number): void {
  const { x, start, distances, offsets, found, by, corners, counts, vertex, normal, kind } = arrays;
  const aims: Aims = { offsets, offsetShare };
  let count = from;
  for (let p = from; p < to; p++) {
    const range = distances.length > 0 ? distanceOfPair(distances, arrays, p) : delta;
    // Whatever the normal, the gap along it bounds the distance from below.
    if (staleGap(vertex, normal, kind[p], p, x) >= offsetOf(arrays, p, range, aims)) continue;
    const aim = aimOf(arrays, p, range, start, aims);
    measureClosest(arrays, p, x);
    const short = aim - Math.sqrt(closest.squared);
    if (!(short > 0)) continue;
    found[count] = p;
    by[p] = short;
    corners[p] = heavyCorners(CORNERS[kind[p]]);
    count++;
  }
  counts[from / CHUNK] = count - from;
}

/** Bits of the corners with enough weight in `closest`, as in contact rows. */
function heavyCorners(corners: number): number {
  const { w0, w1, w2, w3 } = closest;
  let bits = w0 >= MIN_MOVABLE_WEIGHT ? 1 : 0;
  if (w1 >= MIN_MOVABLE_WEIGHT) bits |= 2;
  if (corners > 2 && w2 >= MIN_MOVABLE_WEIGHT) bits |= 4;
  if (corners > 3 && w3 >= MIN_MOVABLE_WEIGHT) bits |= 8;
  return bits;
}

/** By how much contacts are nearer than their aims. */
export class Shortfalls {
  /** float32[V] the largest shortfall among the pairs of a vertex, engine units; 0 where none falls short */
  readonly of: Float32Array;
  readonly #start: Float32Array;
  readonly #distances: Float32Array;
  readonly #aims: Aims;
  readonly #delta: number;
  readonly #scratch: Scratch;

  /**
   * @param start float32[3·V] the state that the request began with
   * @param deltas δ of all vertices, or of each
   */
  constructor(
    vertexCount: number,
    deltas: { readonly delta: number; readonly distances: Float32Array | undefined },
    aims: Aims,
    start: Float32Array,
    scratch: Scratch,
  ) {
    const { delta, distances } = deltas;
    this.of = scratch.float32('shortfalls', vertexCount).fill(0);
    this.#start = scratch.float32('start that aims follow from', start.length);
    this.#start.set(start);
    this.#distances = scratch.float32('distances that aims follow from', distances?.length ?? 0);
    if (distances) this.#distances.set(distances);
    this.#aims = aims;
    this.#delta = delta;
    this.#scratch = scratch;
  }

  /** Fills `of` for the pairs of P at x. */
  measure(pairs: PairSet, x: Float32Array): void {
    const { count, kind, vertex, normal, delta: aim, stamp, weight, distance, gap, error } = pairs;
    const scratch = this.#scratch;
    const found = scratch.uint32('short pairs', count);
    const by = scratch.float32('shortfalls of pairs', count);
    const corners = scratch.uint8('corners of short pairs', count);
    const counts = scratch.int32('short pairs by chunk', Math.ceil(count / CHUNK));
    const { offsets, offsetShare } = this.#aims;
    team.run({
      stage: FIND_SHORT,
      arrays: {
        ...{ kind, vertex, normal, delta: aim, stamp, weight, distance, gap, error },
        ...{ x, start: this.#start, distances: this.#distances, offsets, found, by, corners, counts },
      },
      numbers: { delta: this.#delta, offsetShare },
      ...{ count, chunk: CHUNK, cost: COST },
    });
    const short = this.of.fill(0);
    const shortCount = closeGaps(found, counts, count, CHUNK);
    for (let n = 0; n < shortCount; n++) {
      const p = found[n];
      for (let s = 0; s < 4; s++) {
        const v = vertex[4 * p + s];
        if ((corners[p] & (1 << s)) !== 0 && by[p] > short[v]) short[v] = by[p];
      }
    }
  }
}
