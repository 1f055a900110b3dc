import { team } from '../../threads/here.js';
import { defineStage } from '../../threads/stage.js';
import { MIN_DELTA_SHARE, RECOVERY, STALE_GAP } from '../constants.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import { distanceOfPair } from '../part-distances.js';
import type { ActivePairs } from './active-pairs.js';
import { measureClosest, measurePair } from './certificate.js';
import { closest } from './closest.js';
import { type AimArrays, type AimingRange, type AimNumbers, type Aims, aimOf } from './contact-aims.js';
import { closeGaps } from './lists.js';
import type { PairArrays, PairSet } from './pair-set.js';
import { Scratch } from './workspace.js';

const CHUNK = 2048;

/** Nanoseconds a pair, on one thread. */
const COST = 25;

/**
 * δ_p = min(δ, max(1.1 d₀, δ/4)), where d₀ is the pair's distance at the start. So tiny gaps of a start are not opened
 * at once, and neighbours that are intentionally closer than δ are not pushed apart. Computed once per request.
 */
export function pairDelta(pairs: PairArrays, p: number, start: Float32Array, delta: number): number {
  if (pairs.delta[p] === 0) {
    measureClosest(pairs, p, start);
    const d0 = Math.sqrt(closest.squared);
    pairs.delta[p] = Math.min(delta, Math.max(RECOVERY * d0, MIN_DELTA_SHARE * delta));
  }
  return pairs.delta[p];
}

interface FindArrays extends PairArrays, AimArrays {
  readonly active: Uint32Array;
  readonly x: Float32Array;
  readonly start: Float32Array;
  readonly distances: Float32Array;
  /** uint32[N] the candidates of each chunk, from its first item on */
  readonly candidates: Uint32Array;
  /** int32[chunks] number of candidates of each chunk */
  readonly counts: Int32Array;
}

interface FindNumbers extends AimNumbers {
  readonly step: number;
  readonly delta: number;
  /** whether `distances` replaces δ */
  readonly hasDistances: number;
  /** whether pairs are contacts of the pull-back */
  readonly isAiming: number;
  /** gap over δ below which pairs may be contacts */
  readonly contactRange: number;
}

const FIND = defineStage(import.meta.url, 'find', findCandidates);

function findCandidates(arrays: FindArrays, numbers: FindNumbers, from: number, to: number): void {
  const { active, x, start, distances, offsets, candidates, counts, vertex, normal, kind, gap, distance } = arrays;
  const { step, delta, hasDistances, isAiming, contactRange, offsetShare } = numbers;
  const aims: Aims = { offsets, offsetShare };
  let found = from;
  let range = delta;
  for (let n = from; n < to; n++) {
    const p = active[n];
    if (hasDistances === 1) range = distanceOfPair(distances, arrays, p);
    if (staleGap(vertex, normal, kind[p], p, x) > STALE_GAP * range) continue;
    measurePair(arrays, p, x, step);
    if (!(gap[p] < contactRange * range && distance[p] > 0)) continue;
    if (isAiming === 1) aimOf(arrays, p, range, start, aims);
    else if (gap[p] >= pairDelta(arrays, p, start, range)) continue;
    candidates[found++] = p;
  }
  counts[from / CHUNK] = found - from;
}

/** The candidates of Algorithm 1, which aims at δ_p. */
const NO_AIMS: AimingRange = { offsets: new Float32Array(0), offsetShare: 0, contactRange: 1 };

/**
 * The pairs that a backward step constrains: those with a moving vertex and a gap below δ_p; in the pull-back below δ, or
 * more for large offsets (part-offsets.ts), regardless of the gap for which they aim, so that a pair is seen before a
 * step passes its aim. Of one request.
 */
export class ContactCandidates {
  /** uint32[count] indices into P, ascending */
  list: Uint32Array = new Uint32Array(0);
  count = 0;
  #counts: Int32Array = new Int32Array(0);
  /** copies of the caller's arrays, in memory that stages can read */
  #start: Float32Array | undefined;
  #distances: Float32Array | undefined;

  constructor(private readonly scratch = new Scratch()) {}

  /**
   * Fills `list` from the active pairs, and computes the geometry at x of every pair that may be a contact.
   *
   * @param start float32[3·V] x^[k], which δ_p depends on; the same in every call
   * @param step stamps the geometry
   * @param delta δ of all pairs where `distances` is undefined; engine units
   * @param distances float32[V] δ by vertex, engine units; the same in every call
   * @param pulse called at short intervals; may throw
   * @param aims the gaps that contacts of the pull-back aim for, stored instead of δ_p; undefined = Algorithm 1
   */
  find(
    pairs: PairSet,
    active: ActivePairs,
    x: Float32Array,
    start: Float32Array,
    step: number,
    delta: number,
    distances: Float32Array | undefined,
    pulse?: () => void,
    aims?: AimingRange,
  ): void {
    if (this.list.length < active.count) {
      this.list = this.scratch.uint32('candidates', pairs.count);
      this.#counts = this.scratch.int32('candidates by chunk', Math.ceil(pairs.count / CHUNK));
    }
    this.#start ??= this.#copy('start', start);
    this.#distances ??= this.#copy('distances', distances ?? new Float32Array(0));
    const { kind, vertex, normal, delta: deltas, stamp, weight, distance, gap, error } = pairs;
    const [candidates, counts] = [this.list, this.#counts];
    const { offsets, offsetShare, contactRange } = aims ?? NO_AIMS;
    team.run({
      stage: FIND,
      arrays: {
        ...{ kind, vertex, normal, delta: deltas, stamp, weight, distance, gap, error },
        ...{ active: active.list, x, start: this.#start, distances: this.#distances, offsets, candidates, counts },
      },
      numbers: { step, delta, hasDistances: distances ? 1 : 0, isAiming: aims ? 1 : 0, offsetShare, contactRange },
      ...{ count: active.count, chunk: CHUNK, cost: COST, pulse },
    });
    this.count = closeGaps(candidates, counts, active.count, CHUNK);
  }

  #copy(name: string, values: Float32Array): Float32Array {
    const copy = this.scratch.float32(name, values.length);
    copy.set(values);
    return copy;
  }
}

/** Gap along the last normal of the pair, in double, whose rounding is far below STALE_GAP·δ. */
export function staleGap(vertex: Int32Array, normal: Float32Array, kind: number, p: number, x: Float32Array): number {
  const q = 4 * p;
  const nx = normal[3 * p];
  const ny = normal[3 * p + 1];
  const nz = normal[3 * p + 2];
  const o = 3 * vertex[q];
  const ox = x[o];
  const oy = x[o + 1];
  const oz = x[o + 2];
  let k = 3 * vertex[q + 1];
  const h1 = nx * (x[k] - ox) + ny * (x[k + 1] - oy) + nz * (x[k + 2] - oz);
  const corners = CORNERS[kind];
  if (corners === 2) return -h1;
  k = 3 * vertex[q + 2];
  let hi = nx * (x[k] - ox) + ny * (x[k + 1] - oy) + nz * (x[k + 2] - oz);
  if (corners === 4) {
    k = 3 * vertex[q + 3];
    const h3 = nx * (x[k] - ox) + ny * (x[k + 1] - oy) + nz * (x[k + 2] - oz);
    if (h3 > hi) hi = h3;
  }
  if (SIDE_A[kind] === 1) return h1 > hi ? -h1 : -hi;
  return (h1 < 0 ? h1 : 0) - hi;
}
