import { allEdges, type EdgeList, edgesOfElements } from '../../mesh/limited-edges.js';
import { ownLength } from '../../mesh/rest-lengths.js';
import type { CollisionMesh } from '../../mesh/types.js';
import type { Settings } from '../settings.js';
import type { Flight } from './flight.js';

/** Sweeps over the edges in a round, in alternating order; the next round shortens edges that are still too long. */
const MAX_SWEEPS = 20;

/** Halvings of an interval of shares: to a millionth of the way. */
const HALVINGS = 20;

/**
 * The limits of edges during a flight: no end flies so far ahead of the other that the edge exceeds σ L* (for an edge
 * with a length L at rest, σ L and L*), or its initial length if that is longer. Without σ, edges of elements with
 * strain limits exceed neither L* nor their initial length: the steps of the pull-back would have to contract what a
 * flight has torn apart, leap by leap.
 *
 * For ends at shares t_j ≤ t_i, the length is a convex function of t_i that is within the limit at t_i = t_j, because
 * there the edge is a mean of the present edge and the edge of the target. So bisection finds the largest t_i within
 * the limit.
 */
export class FlightEdges {
  /** uint32[2·n] ends of the edges with a flier */
  readonly #ends: Uint32Array;
  /** float64[n] engine units */
  readonly #limits: Float64Array;
  readonly #target: Float32Array;

  /** @param scale engine units per caller's unit */
  constructor(
    mesh: CollisionMesh,
    flight: Flight,
    target: Float32Array,
    settings: Pick<Settings, 'sigma' | 'scale' | 'pullBack'>,
  ) {
    const { sigma, scale } = settings;
    const ends: number[] = [];
    const limits: number[] = [];
    for (const { ends: edges, rest } of limitedEdges(mesh, settings)) {
      for (let e = 0; e < edges.length; e += 2) {
        const [i, j] = [edges[e], edges[e + 1]];
        if (flight.share[i] === 0 && flight.share[j] === 0) continue;
        ends.push(i, j);
        const inTarget = lengthBetween(target, i, j);
        const own = ownLength(rest?.[e / 2]);
        const reference = own === undefined ? inTarget : own * scale;
        limits.push(Math.max(lengthBetween(flight.x, i, j), inTarget, sigma * reference));
      }
    }
    this.#ends = Uint32Array.from(ends);
    this.#limits = Float64Array.from(limits);
    this.#target = target;
  }

  /** Shortens flights as far as edges require. */
  limit(flight: Flight): void {
    const count = this.#limits.length;
    for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
      let hasChanged = false;
      for (let n = 0; n < count; n++) {
        const e = sweep % 2 === 0 ? n : count - 1 - n;
        hasChanged = this.#limitEdge(flight, e) || hasChanged;
      }
      if (!hasChanged) return;
    }
  }

  #limitEdge(flight: Flight, e: number): boolean {
    let [i, j] = [this.#ends[2 * e], this.#ends[2 * e + 1]];
    if (flight.nextShare(i) < flight.nextShare(j)) [i, j] = [j, i];
    const [most, least] = [flight.nextShare(i), flight.nextShare(j)];
    const limit = this.#limits[e];
    if (most === least || this.#length(flight, i, most, j, least) <= limit) return false;
    let [low, high] = [least, most];
    for (let n = 0; n < HALVINGS; n++) {
      const middle = (low + high) / 2;
      if (this.#length(flight, i, middle, j, least) <= limit) low = middle;
      else high = middle;
    }
    flight.shorten(i, low / flight.share[i]);
    return true;
  }

  /** Returns the length of the edge whose ends have flown these shares. */
  #length({ x }: Flight, i: number, shareI: number, j: number, shareJ: number): number {
    const target = this.#target;
    let squared = 0;
    for (let c = 0; c < 3; c++) {
      const [p, q] = [3 * i + c, 3 * j + c];
      squared += (x[p] + shareI * (target[p] - x[p]) - (x[q] + shareJ * (target[q] - x[q]))) ** 2;
    }
    return Math.sqrt(squared);
  }
}

/** Under FAST, which has no pull-back, strain limits only measure. */
function limitedEdges(
  mesh: CollisionMesh,
  { sigma, pullBack }: Pick<Settings, 'sigma' | 'pullBack'>,
): readonly EdgeList[] {
  if (sigma > 0) return allEdges(mesh);
  const isLimited = pullBack && mesh.strain?.most.some((most) => most < Number.POSITIVE_INFINITY);
  return isLimited ? edgesOfElements(mesh) : [];
}

function lengthBetween(p: Float32Array, i: number, j: number): number {
  return Math.hypot(p[3 * i] - p[3 * j], p[3 * i + 1] - p[3 * j + 1], p[3 * i + 2] - p[3 * j + 2]);
}
