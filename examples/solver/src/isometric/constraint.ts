import type { BlockRows } from './block-rows.js';

/**
 * Constraints of one kind, three by three: C(x) = D λ, where λ are the resulting multipliers. D = 0 is a hard
 * constraint; an energy ½ |C(x)|² is the constraint with D = 1, whose multiplier is the residual itself.
 */
export interface Constraint {
  /** ∂C/∂x at the x of the last call of {@link evaluate} */
  readonly rows: BlockRows;
  /**
   * float64[3·count], the diagonal of D: 'relative' to the diagonal of B·M⁻¹·Bᵀ, or 'absolute' as for an energy. 0 is a
   * hard constraint.
   */
  readonly softness: Float64Array;
  readonly scale: 'relative' | 'absolute';
  /**
   * D of hard rows in the linear system, relative to the diagonal of B·M⁻¹·Bᵀ: dependent rows share their multipliers.
   * An iteration leaves a part of C(x) that is in proportion to it; the next one corrects that.
   */
  readonly damping: number;
  /** Writes C(x) to out[first ...] and sets `rows` to its derivative. */
  evaluate(x: Float64Array, out: Float64Array, first: number): void;
  /** absent: all rows hold */
  readonly switching?: Switching;
}

/** Rows that do not always hold. While a row does not, its multiplier is prescribed, for example 0. */
export interface Switching {
  /** float64[3·count]: NaN in the rows that hold now */
  readonly prescribed: Float64Array;
  /**
   * Decides which rows hold in the next iteration.
   * @param multipliers float64[3·count]: λ
   * @param violations float64[3·count]: C(x)
   * @param damping float64[3·count]: D of the iterations
   * @returns whether an iteration is needed on account of it
   */
  decide(multipliers: Float64Array, violations: Float64Array, damping: Float64Array): boolean;
  /** The same for decisions that need multipliers of an otherwise finished projection. */
  settle(multipliers: Float64Array): boolean;
}
