import { STALE_GAP } from '../constants.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import { pairActivationDistance } from '../part-distances.js';
import type { ActivePairs } from './active-pairs.js';
import { measurePair } from './certificate.js';
import { pairDelta } from './contacts.js';
import type { PairSet } from './pair-set.js';
import { Scratch } from './scratch.js';

/** The pairs that a backward step has to keep apart: those with a moving vertex whose gap is under δ_p. */
export class ContactCandidates {
  /** uint32[count] indices into P, ascending */
  list = new Uint32Array(0);
  count = 0;

  constructor(private readonly scratch = new Scratch()) {}

  /**
   * Looks through the active pairs; leaves fresh geometry of those that were near enough to measure.
   *
   * @param delta δ of all pairs, where `distances` is undefined
   * @param distances float32[V] δ by vertex
   */
  find(
    pairs: PairSet,
    active: ActivePairs,
    x: Float32Array,
    start: Float32Array,
    clock: number,
    delta: number,
    distances: Float32Array | undefined,
  ): void {
    if (this.list.length < active.count) this.list = this.scratch.uint32('candidates', pairs.count);
    const candidates = this.list;
    let found = 0;
    let range = delta;
    for (let n = 0; n < active.count; n++) {
      const p = active.list[n];
      if (distances) {
        const v = pairs.vertex;
        const q = 4 * p;
        range = pairActivationDistance(distances, pairs.kind[p], v[q], v[q + 1], v[q + 2], v[q + 3]);
      }
      if (staleGap(pairs.vertex, pairs.normal, pairs.kind[p], p, x) > STALE_GAP * range) continue;
      measurePair(pairs, p, x, clock);
      if (pairs.gap[p] < range && pairs.gap[p] < pairDelta(pairs, p, start, range) && pairs.distance[p] > 0) {
        candidates[found++] = p;
      }
    }
    this.count = found;
  }
}

/** Gap along the pair's last normal, in double: its rounding is far below the multiple of δ it is compared with. */
function staleGap(vertex: Int32Array, normal: Float32Array, kind: number, p: number, x: Float32Array): number {
  const q = 4 * p;
  const nx = normal[3 * p];
  const ny = normal[3 * p + 1];
  const nz = normal[3 * p + 2];
  const o = 3 * vertex[q];
  const height = (v: number): number =>
    nx * (x[3 * v] - x[o]) + ny * (x[3 * v + 1] - x[o + 1]) + nz * (x[3 * v + 2] - x[o + 2]);
  const h1 = height(vertex[q + 1]);
  const corners = CORNERS[kind];
  if (corners === 2) return -h1;
  const h2 = height(vertex[q + 2]);
  if (corners === 3) return -Math.max(h1, h2);
  const h3 = height(vertex[q + 3]);
  return SIDE_A[kind] === 1 ? -Math.max(h1, h2, h3) : Math.min(0, h1) - Math.max(h2, h3);
}
