import { team } from '../../threads/here.js';
import { defineStage } from '../../threads/stage.js';
import { MIN_SHORTFALL_WEIGHT } from '../constants.js';
import { CORNERS } from '../pair-kinds.js';
import { distanceOfPair } from '../part-distances.js';
import { staleGap } from './candidates.js';
import { measureClosest } from './certificate.js';
import { closest } from './closest.js';
import { type Aims, aimOf, offsetOf } from './contact-aims.js';
import type { PairArrays, PairSet } from './pair-set.js';
import type { Scratch } from './workspace.js';

const CHUNK = 4096;

/** Nanoseconds per pair, on one thread: few are near. */
const COST = 10;

interface ShortArrays extends PairArrays {
  readonly x: Float32Array;
  readonly start: Float32Array;
  readonly distances: Float32Array;
  readonly offsets: Float32Array;
  /** int32[V] the bits of the largest shortfall of a vertex so far: the bits of positive numbers have the same order */
  readonly most: Int32Array;
}

interface ShortNumbers {
  readonly delta: number;
  readonly offsetShare: number;
}

const FIND_SHORT = defineStage(import.meta.url, 'find short', findShort);

/**
 * Raises the shortfall of the movable corners with weight in the closest points, pair by pair; the order does not
 * matter for a maximum.
 */
function findShort(arrays: ShortArrays, { delta, offsetShare }: ShortNumbers, from: number, to: number): void {
  const { x, start, distances, offsets, vertex, normal, kind } = arrays;
  const aims: Aims = { offsets, offsetShare };
  for (let p = from; p < to; p++) {
    const range = distances.length > 0 ? distanceOfPair(distances, arrays, p) : delta;
    const offset = offsetOf(arrays, p, range, aims);
    // Whatever the normal, the gap along it is a lower bound of the distance.
    const stale = staleGap(vertex, normal, kind[p], p, x);
    if (stale >= offset || offset + ROUNDING * range - stale <= leastOf(arrays, p)) continue;
    const aim = aimOf(arrays, p, range, start, aims);
    measureClosest(arrays, p, x);
    short[0] = aim - Math.sqrt(closest.squared);
    if (short[0] > 0) raise(arrays, p);
  }
}

/**
 * Share of δ that covers the rounding of a shortfall, which is at most its offset minus its gap: of the gap and the
 * distance in double, of the length of a normal, and of the shortfall itself to float32.
 */
const ROUNDING = 2 ** -16;

/** The shortfall of the current pair, and its bits. */
const short = new Float32Array(1);
const shortBits = new Int32Array(short.buffer);
/** The smallest shortfall among the corners of the pair. */
const least = new Float32Array(1);
const leastBits = new Int32Array(least.buffer);

/** Returns the smallest recorded shortfall of the corners of pair p; a shortfall that is not larger changes nothing. */
function leastOf({ kind, vertex, most }: ShortArrays, p: number): number {
  const q = 4 * p;
  const corners = CORNERS[kind[p]];
  let bits = Math.min(most[vertex[q]], most[vertex[q + 1]]);
  if (corners > 2) bits = Math.min(bits, most[vertex[q + 2]]);
  if (corners > 3) bits = Math.min(bits, most[vertex[q + 3]]);
  leastBits[0] = bits;
  return least[0];
}

/** Raises the shortfalls of the corners with enough weight in `closest`. */
function raise({ kind, vertex, most }: ShortArrays, p: number): void {
  const { w0, w1, w2, w3 } = closest;
  const q = 4 * p;
  const corners = CORNERS[kind[p]];
  if (w0 >= MIN_SHORTFALL_WEIGHT) raiseTo(most, vertex[q], shortBits[0]);
  if (w1 >= MIN_SHORTFALL_WEIGHT) raiseTo(most, vertex[q + 1], shortBits[0]);
  if (corners > 2 && w2 >= MIN_SHORTFALL_WEIGHT) raiseTo(most, vertex[q + 2], shortBits[0]);
  if (corners > 3 && w3 >= MIN_SHORTFALL_WEIGHT) raiseTo(most, vertex[q + 3], shortBits[0]);
}

/** most[v] ← max(most[v], bits) */
function raiseTo(most: Int32Array, v: number, bits: number): void {
  for (let known = Atomics.load(most, v); known < bits; ) {
    const before = Atomics.compareExchange(most, v, known, bits);
    if (before === known) return;
    known = before;
  }
}

/** The amounts by which contacts are nearer than their aims. */
export class Shortfalls {
  /** float32[V] the largest shortfall among the pairs of a vertex, engine units; 0 if none falls short */
  readonly of: Float32Array;
  readonly #start: Float32Array;
  readonly #distances: Float32Array;
  readonly #aims: Aims;
  readonly #delta: number;

  /**
   * @param start float32[3·V] the initial state of the request
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
  }

  /** Fills `of` for the pairs of P at x. */
  measure(pairs: PairSet, x: Float32Array): void {
    const most = new Int32Array(this.of.fill(0).buffer, this.of.byteOffset, this.of.length);
    const { count, kind, vertex, normal, delta: aim, stamp, weight, distance, gap, error } = pairs;
    const { offsets, offsetShare } = this.#aims;
    team.run({
      stage: FIND_SHORT,
      arrays: {
        ...{ kind, vertex, normal, delta: aim, stamp, weight, distance, gap, error },
        ...{ x, start: this.#start, distances: this.#distances, offsets, most },
      },
      numbers: { delta: this.#delta, offsetShare },
      ...{ count, chunk: CHUNK, cost: COST },
    });
  }
}
