import type { BlockRows } from './block-rows.js';

/**
 * Constraints of one kind, three by three: C(x) = D λ, where λ are the resulting multipliers. D = 0 is a hard
 * constraint; an energy ½ |C(x)|² is the constraint with D = 1, whose multiplier is the residual itself.
 */
export interface Constraint {
  /** ∂C/∂x at the x of the last call of {@link evaluate} */
  readonly rows: BlockRows;
  /**
   * 'hard': C(x) = 0, D only damps the iteration; 'soft': C(x) = D λ; 'energy': the same with D = 1 in every row,
   * `softness` is not read
   */
  readonly kind: 'hard' | 'soft' | 'energy';
  /** float64[3·count], diagonal of D relative to that of B·M⁻¹·Bᵀ */
  readonly softness: Float64Array;
  /** Writes C(x) to out[first ...] and sets `rows` to its derivative. */
  evaluate(x: Float64Array, out: Float64Array, first: number): void;
}
