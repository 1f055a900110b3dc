import { EXCESS_WEIGHT, SHORTFALL_WEIGHT } from '../constants.js';
import type { PairSet } from './pair-set.js';
import type { ShapeLimits } from './shape-limits.js';
import type { Shortfalls } from './shortfalls.js';

/**
 * The merit Φ by which the pull-back chooses the best of its states, over dynamic vertices and all edges:
 *
 *   Φ = Σ m_i (|x_i − y*_i| + SHORTFALL_WEIGHT s_i)² + EXCESS_WEIGHT Σ max(0, |x_i − x_j| − σ L*_ij)²
 *
 * and in the last sum strains past their limits, as lengths (StrainLimits.excess); with s_i = max(0, aim_p − d_p) over
 * the contacts p of vertex i (contact-aims.ts).
 *
 * Shortfall and distance are lengths of the same vertex, so their weight needs no scale. Opening a contact by s moves
 * its vertices at most about s farther from their targets (triangle inequality), however far away these are. So Φ falls
 * when a contact is opened if the weight exceeds 1. In a pile all n layers above must move, too, so a weight of n holds
 * the offset at the bottom of n layers. With a separate sum of s² and a weight of its own, contacts would give way to
 * any target that lies deep enough.
 */
export class Merit {
  /** Share of the last Φ that comes from edges and strains over their limits. */
  excess = 0;
  readonly #inverseMass: Float32Array;
  readonly #limits: Pick<ShapeLimits, 'excess'> | undefined;
  readonly #shortfalls: Shortfalls;

  constructor(inverseMass: Float32Array, limits: Pick<ShapeLimits, 'excess'> | undefined, shortfalls: Shortfalls) {
    this.#inverseMass = inverseMass;
    this.#limits = limits;
    this.#shortfalls = shortfalls;
  }

  /** Φ at x. @param pairs P, valid for x; undefined = it is not known yet, and no contact counts */
  of(x: Float32Array, target: Float32Array, pairs: PairSet | undefined): number {
    const w = this.#inverseMass;
    const short = this.#shortfalls.of;
    if (pairs) this.#shortfalls.measure(pairs, x);
    else short.fill(0);
    let sum = 0;
    for (let i = 0, k = 0; i < w.length; i++, k += 3) {
      if (w[i] === 0) continue;
      const dx = x[k] - target[k];
      const dy = x[k + 1] - target[k + 1];
      const dz = x[k + 2] - target[k + 2];
      const squared = dx * dx + dy * dy + dz * dz;
      sum += (short[i] > 0 ? (Math.sqrt(squared) + SHORTFALL_WEIGHT * short[i]) ** 2 : squared) / w[i];
    }
    const excess = this.#limits ? EXCESS_WEIGHT * this.#limits.excess(x) : 0;
    this.excess = excess > 0 ? excess / (sum + excess) : 0;
    return sum + excess;
  }
}
