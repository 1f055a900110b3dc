import { EXCESS_WEIGHT, SHORTFALL_WEIGHT } from '../constants.js';
import type { PullBackPlan } from '../scattered-targets.js';
import type { PairSet } from './pair-set.js';
import type { ShapeLimits } from './shape-limits.js';
import type { Shortfalls } from './shortfalls.js';
import type { Scratch } from './workspace.js';

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
 *
 * A body that something holds many leaps away from its targets makes Φ so large that no gain of the others is a share of it
 * worth a step. So the gain of the vertices that are near their targets is told as well (nearGain). What is farther away makes
 * leaps, which count by themselves (Paces.isLeaping).
 */
export class Merit {
  /** Share of the last Φ that comes from edges and strains over their limits. */
  excess = 0;
  /**
   * The terms of the vertices that the best state has no farther than a leap from their targets: what they lost from
   * there to the last state, as a share. 0 = there are no such terms.
   */
  nearGain = 0;
  /**
   * If the mesh is on its way in the best state (PullBackPlan.far): the gain of a step in which it comes nearer by
   * LEAST_PROGRESS δ in the mean, as a share of Φ. Otherwise undefined.
   */
  leastGain: number | undefined;
  readonly #inverseMass: Float32Array;
  readonly #limits: Pick<ShapeLimits, 'excess'> | undefined;
  readonly #shortfalls: Pick<Shortfalls, 'of' | 'measure'>;
  readonly #leap: number;
  readonly #far: number;
  readonly #progress: number;
  /** uint8[V] 1 if the vertex is dynamic and near its target in the best state */
  readonly #isNear: Uint8Array;
  #bestOfNear = 0;

  constructor(
    inverseMass: Float32Array,
    { longest, far, progress }: Pick<PullBackPlan, 'longest' | 'far' | 'progress'>,
    limits: Pick<ShapeLimits, 'excess'> | undefined,
    shortfalls: Pick<Shortfalls, 'of' | 'measure'>,
    scratch: Scratch,
  ) {
    this.#inverseMass = inverseMass;
    this.#leap = longest;
    this.#far = far;
    this.#progress = progress;
    this.#limits = limits;
    this.#shortfalls = shortfalls;
    this.#isNear = scratch.uint8('near its target', inverseMass.length).fill(0);
  }

  /** Φ at x. @param pairs P, valid for x; undefined = it is not known yet, and no contact counts */
  of(x: Float32Array, target: Float32Array, pairs: PairSet | undefined): number {
    const w = this.#inverseMass;
    const short = this.#shortfalls.of;
    if (pairs) this.#shortfalls.measure(pairs, x);
    else short.fill(0);
    let sum = 0;
    let near = 0;
    for (let i = 0, k = 0; i < w.length; i++, k += 3) {
      if (w[i] === 0) continue;
      const term = termOf(squaredAt(x, target, k), short[i], w[i]);
      sum += term;
      if (this.#isNear[i] === 1) near += term;
    }
    this.nearGain = this.#bestOfNear > 0 ? (this.#bestOfNear - near) / this.#bestOfNear : 0;
    const excess = this.#limits ? EXCESS_WEIGHT * this.#limits.excess(x) : 0;
    this.excess = excess > 0 ? excess / (sum + excess) : 0;
    return sum + excess;
  }

  /** Takes x, whose Φ was the last, as the best state. */
  keep(x: Float32Array, target: Float32Array): void {
    const w = this.#inverseMass;
    const short = this.#shortfalls.of;
    let near = 0;
    let far = 0;
    for (let i = 0, k = 0; i < w.length; i++, k += 3) {
      const squared = squaredAt(x, target, k);
      const isNear = w[i] > 0 && squared <= this.#leap ** 2;
      this.#isNear[i] = isNear ? 1 : 0;
      if (isNear) near += termOf(squared, short[i], w[i]);
      else if (w[i] > 0) far += termOf(squared, short[i], w[i]);
    }
    this.#bestOfNear = near;
    const distance = Math.sqrt(near + far);
    this.leastGain = distance > this.#far ? this.#progress / distance : undefined;
  }
}

/** |x_i − y*_i|² of the vertex whose first coordinate is the k-th. */
function squaredAt(x: Float32Array, target: Float32Array, k: number): number {
  const dx = x[k] - target[k];
  const dy = x[k + 1] - target[k + 1];
  const dz = x[k + 2] - target[k + 2];
  return dx * dx + dy * dy + dz * dz;
}

/** The term of a vertex in Φ. */
const termOf = (squared: number, short: number, inverseMass: number): number =>
  (short > 0 ? (Math.sqrt(squared) + SHORTFALL_WEIGHT * short) ** 2 : squared) / inverseMass;
