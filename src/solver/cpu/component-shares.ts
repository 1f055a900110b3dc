import { NO_CORNER } from '../../mesh/strain.js';
import type { StrainElements } from '../strain/elements.js';
import { distanceAt } from './motion.js';
import type { Scratch } from './workspace.js';

/** The shares that all vertices of a component of elements with strain limits use in a step of the pull-back. */
export class ComponentShares {
  readonly #componentOf: Uint32Array;
  readonly #inverseMass: Float32Array;
  readonly #longest: number;
  /** share of the way to y* in this step and in the last one */
  readonly #pace: Float64Array;
  readonly #lastPace: Float64Array;
  /** float32[3·V] y of the last step before its sweeps */
  readonly #rebuilt: Float32Array;

  /** @param longest the longest motion of a step, engine units */
  constructor(
    { componentOf, components }: Pick<StrainElements, 'componentOf' | 'components'>,
    inverseMass: Float32Array,
    longest: number,
    scratch: Scratch,
  ) {
    this.#componentOf = componentOf;
    this.#inverseMass = inverseMass;
    this.#longest = longest;
    this.#pace = new Float64Array(components).fill(1);
    this.#lastPace = new Float64Array(components).fill(1);
    this.#rebuilt = scratch.float32('y before strain limits', 3 * inverseMass.length).fill(0);
  }

  /**
   * One share of the way to y* for all vertices of a component, the smallest of theirs. If x = P(x + t (y* − x)) for a
   * single t, x is the point of the constraints nearest to y*; with individual shares, vertices far from y* would count
   * less.
   *
   * @param paceOf share of the way that a vertex would take on its own
   */
  settlePaces(paceOf: (v: number) => number): void {
    const componentOf = this.#componentOf;
    this.#lastPace.set(this.#pace);
    this.#pace.fill(1);
    for (let v = 0; v < componentOf.length; v++) {
      const c = componentOf[v];
      if (c !== NO_CORNER) this.#pace[c] = Math.min(this.#pace[c], paceOf(v));
    }
  }

  /** Returns the share of vertex v in this step; undefined = no element that moves contains it. */
  paceOf(v: number): number | undefined {
    const c = this.#componentOf[v];
    return c === NO_CORNER ? undefined : this.#pace[c];
  }

  /**
   * Returns the share of its last multipliers with which each component begins. With y the rebuilt y of this step, y_k
   * that of the last one, and d = W Bᵀ Λ_k, the displacement of y_k by Λ_k, the sweeps have found P = y_k − d. The
   * share is the one that comes nearest to P,
   *
   *   c = argmin ‖y − c d − P‖_M = 1 + ⟨y − y_k, d⟩_M / ‖d‖²_M
   *
   * P is the projection of every point on the ray from P through y_k, with multipliers in proportion to the distance
   * from P. A mesh at rest, which is rebuilt with another share t' of its way to y* (c = t'/t), stays on that ray, and
   * so does a mesh that moves to a distant P by leaps and is rebuilt at other points between P and y*. Both begin with
   * the multipliers with which they end. Off the ray the share is only a guess. c is limited to its value at rest, or
   * to 1, because Λ may be large where d is small.
   *
   * @param before y as rebuilt
   * @param moved y − d
   */
  ofMultipliers(before: Float32Array, moved: Float32Array): Float64Array {
    const componentOf = this.#componentOf;
    const components = this.#pace.length;
    const along = new Float64Array(components);
    const squared = new Float64Array(components);
    for (let v = 0; v < componentOf.length; v++) {
      const c = componentOf[v];
      if (c === NO_CORNER) continue;
      for (let k = 3 * v; k < 3 * v + 3; k++) {
        const d = before[k] - moved[k];
        along[c] += ((before[k] - this.#rebuilt[k]) * d) / this.#inverseMass[v];
        squared[c] += (d * d) / this.#inverseMass[v];
      }
    }
    this.#rebuilt.set(before);
    return along.map((dot, c) => {
      const most = Math.max(1, this.#pace[c] / this.#lastPace[c]);
      return squared[c] > 0 ? Math.max(0, Math.min(most, 1 + dot / squared[c])) : 1;
    });
  }

  /**
   * Shortens the motion of each component, by one share for all its vertices, until none is longer than the longest: a
   * strain at x + s (y − x) exceeds its limits by no more than those of x and y (both sets of an element are convex),
   * whereas vertices that stop individually would tear their elements.
   */
  shortenMotions(x: Float32Array, y: Float32Array): void {
    const componentOf = this.#componentOf;
    const share = this.ofMotions(x, y);
    for (let v = 0; v < componentOf.length; v++) {
      const c = componentOf[v];
      if (c === NO_CORNER || share[c] === 1) continue;
      for (let k = 3 * v; k < 3 * v + 3; k++) y[k] = x[k] + share[c] * (y[k] - x[k]);
    }
  }

  /** Returns the share of its way from x to y that each component may move. */
  ofMotions(x: Float32Array, y: Float32Array): Float64Array {
    const componentOf = this.#componentOf;
    const components = this.#pace.length;
    const farthest = new Float64Array(components);
    for (let v = 0; v < componentOf.length; v++) {
      const c = componentOf[v];
      if (c !== NO_CORNER) farthest[c] = Math.max(farthest[c], distanceAt(x, y, 3 * v));
    }
    return farthest.map((distance) => (distance > this.#longest ? this.#longest / distance : 1));
  }
}
