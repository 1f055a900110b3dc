import type { BlockRows } from './block-rows.js';
import type { Constraint } from './constraint.js';

/**
 * Constraints C(x) = D λ, linearised at the x of a Gauss-Newton iteration, and their multipliers. Rows whose multipliers
 * are prescribed have no part in the linear system; their change is on its right-hand side.
 */
export class Linearisation {
  readonly rows: readonly BlockRows[];
  /** float64[R]: diagonal of D⁻¹; 0 where a multiplier is prescribed or no node is movable */
  readonly stiffness: Float64Array;
  readonly #constraints: readonly Constraint[];
  readonly #inverseMasses: Float64Array;
  /** of the rows of every constraint, and their number */
  readonly #firsts: readonly number[];
  /** float64[R]: λ */
  readonly #total: Float64Array;
  /** float64[R]: C(x) */
  readonly #values: Float64Array;
  /** float64[R]: what the linear system shall change in C(x) − D λ; where a multiplier is prescribed, its change */
  readonly #gaps: Float64Array;
  readonly #damping: Float64Array;
  readonly #scratch: Float64Array;
  /** float64[3·R]: diagonal blocks of B·M⁻¹·Bᵀ */
  readonly #blocks: Float64Array;

  /** @param inverseMasses float64[V], 1/kg */
  constructor(constraints: readonly Constraint[], inverseMasses: Float64Array) {
    this.#constraints = constraints;
    this.#inverseMasses = inverseMasses;
    this.rows = constraints.map(({ rows }) => rows);
    const firsts = [0];
    for (const { count } of this.rows) firsts.push(firsts.at(-1)! + 3 * count);
    this.#firsts = firsts;
    const make = (): Float64Array => new Float64Array(firsts.at(-1)!);
    this.stiffness = make();
    this.#total = make();
    this.#values = make();
    this.#gaps = make();
    this.#damping = make();
    this.#scratch = make();
    this.#blocks = new Float64Array(3 * firsts.at(-1)!);
  }

  /** Linearises at x and decides which rows hold. @returns whether an iteration is needed on account of it */
  update(x: Float64Array): boolean {
    let isNeeded = false;
    this.#constraints.forEach((constraint, i) => {
      const [first, end] = [this.#firsts[i]!, this.#firsts[i + 1]!];
      constraint.evaluate(x, this.#values, first);
      constraint.rows.diagonal(this.#inverseMasses, this.#blocks, first / 3);
      for (let at = first; at < end; at++) {
        const diagonal = this.#blocks[3 * at + (at % 3)]!;
        const softness = constraint.softness[at - first]! * (constraint.scale === 'absolute' ? 1 : diagonal);
        this.#damping[at] = softness || constraint.damping * diagonal;
        // A row without movable nodes has no multiplier.
        this.stiffness[at] = diagonal === 0 ? 0 : 1 / this.#damping[at]!;
        this.#gaps[at] = diagonal === 0 ? 0 : this.#values[at]! - softness * this.#total[at]!;
      }
      const { switching } = constraint;
      if (switching === undefined) return;
      const [multipliers, values] = [this.#total.subarray(first, end), this.#values.subarray(first, end)];
      if (switching.decide(multipliers, values, this.#damping.subarray(first, end))) isNeeded = true;
      switching.prescribed.forEach((value, k) => {
        if (Number.isNaN(value)) return;
        this.stiffness[first + k] = 0;
        this.#gaps[first + k] = value - this.#total[first + k]!;
      });
    });
    return isNeeded;
  }

  /** Sets the right-hand side of the linear system, −Bᵀ D⁻¹ b for rows that hold. @param out float64[3·V] */
  rightSide(out: Float64Array): void {
    out.fill(0);
    for (let i = 0; i < this.#gaps.length; i++) this.#scratch[i] = -(this.stiffness[i]! || 1) * this.#gaps[i]!;
    this.rows.forEach((rows, i) => {
      rows.addTransposed(this.#scratch, out, this.#firsts[i]!);
    });
  }

  /** Changes the multipliers with x: D Δλ = b + B Δx. @param moved float64[3·V]: Δx */
  advance(moved: Float64Array): void {
    this.rows.forEach((rows, i) => {
      rows.multiply(moved, this.#scratch, this.#firsts[i]!);
    });
    for (let i = 0; i < this.#total.length; i++) {
      const stiffness = this.stiffness[i]!;
      this.#total[i]! += stiffness === 0 ? this.#gaps[i]! : stiffness * (this.#gaps[i]! + this.#scratch[i]!);
    }
  }

  /** Decides what needs the multipliers of an otherwise finished projection. @returns whether an iteration is needed */
  settle(x: Float64Array): boolean {
    let isNeeded = false;
    this.#constraints.forEach(({ switching }, i) => {
      const multipliers = this.#total.subarray(this.#firsts[i]!, this.#firsts[i + 1]!);
      if (switching?.settle(multipliers)) isNeeded = true;
    });
    if (isNeeded) this.update(x);
    return isNeeded;
  }
}
