import type { Constraint } from './constraint.js';
import { Linearisation } from './linearisation.js';
import { PrimalSystem } from './primal-system.js';

export interface Projected {
  /** float64[3·V] */
  readonly x: Float64Array;
  /** Gauss-Newton iterations */
  readonly iterations: number;
  /** whether the limit of iterations was reached before the constraints were within their tolerances */
  readonly isCutShort: boolean;
}

export interface ProjectionSettings {
  /** Gauss-Newton iterations at most */
  readonly maxIterations: number;
}

/**
 * Finds x with C(x) = D λ and x = x̃ − M⁻¹ Bᵀ λ, B = ∂C/∂x, for hard constraints and energies at once: the minimum of ½
 * (x − x̃)ᵀ M (x − x̃) + ½ |r(x)|² under hard constraints. An iteration linearises C at x and solves
 *
 *     (B M⁻¹ Bᵀ + D) Δλ = C(x) − D λ,      x ← x − M⁻¹ Bᵀ Δλ
 *
 * which is system (3.30) of the thesis (the rows of energies have D = 1) for the change of x instead of x itself. Hard
 * constraints lack the term D λ: their D is only damping. The thesis factors this matrix; {@link PrimalSystem} factors
 * an equivalent one, which has fewer unknowns.
 */
export class Projection {
  readonly #inverseMasses: Float64Array;
  readonly #settings: ProjectionSettings;
  readonly #system: PrimalSystem;
  readonly #always: readonly Constraint[];

  /**
   * @param always constraints of every projection
   * @param inverseMasses float64[V], 1/kg; nodes with 0 stay at their positions in `predicted`
   * @param rest float64[3·V], m
   */
  constructor(
    always: readonly Constraint[],
    inverseMasses: Float64Array,
    rest: Float64Array,
    settings: ProjectionSettings,
  ) {
    this.#always = always;
    this.#inverseMasses = inverseMasses;
    this.#settings = settings;
    this.#system = new PrimalSystem(
      always.map(({ rows }) => rows),
      inverseMasses,
      rest,
    );
  }

  /**
   * @param others constraints besides those of every projection
   * @param isDone asked after an iteration if the constraints that switch do not need another one
   * @throws NotPositiveDefinite if a position is not a number
   */
  project(predicted: Float64Array, others: readonly Constraint[], isDone: (x: Float64Array) => boolean): Projected {
    const linear = new Linearisation([...this.#always, ...others], this.#inverseMasses);
    const x = predicted.slice();
    const [right, moved] = [new Float64Array(x.length), new Float64Array(x.length)];
    linear.update(x);
    for (let iterations = 1; ; iterations++) {
      linear.rightSide(right);
      this.#system.factor(linear.rows, linear.stiffness);
      this.#system.solve(right, moved);
      for (let i = 0; i < x.length; i++) x[i]! += moved[i]!;
      linear.advance(moved);
      const isEnded = !linear.update(x) && isDone(x) && !linear.settle(x);
      if (isEnded || iterations === this.#settings.maxIterations) {
        return { x, iterations, isCutShort: !isEnded };
      }
    }
  }
}
