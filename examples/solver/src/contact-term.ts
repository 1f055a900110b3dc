/** An energy of contacts that is quadratic during a time step; its second derivative is positive semi-definite. */
export interface ContactTerm {
  /** J */
  energy(x: Float64Array): number;
  /** N */
  addGradient(x: Float64Array, gradient: Float64Array): void;
  /** out += second derivative · v */
  addProduct(v: Float64Array, out: Float64Array): void;
  /** @param blocks float64[9·V], to which the diagonal blocks are added */
  addDiagonal(blocks: Float64Array): void;
}
