/** The slot of a block that is the transpose of one that is stored. */
export const NOT_STORED = 0xffffffff;

/** Where a force adds the blocks of its second derivative; see {@link BlockMatrix}. */
export interface Blocks {
  /** 3×3 blocks, row by row */
  readonly values: Float64Array;
  /** uint32[n·n·E]: where the block of corners k and l of element e begins in `values`, at (e·n + k)·n + l, or {@link NOT_STORED}; n = stencil size */
  readonly slots: Uint32Array;
}

/** An energy that is a sum over small groups of vertices: triangles, tetrahedra, hinges, springs. */
export interface Force {
  /** vertices per element */
  readonly stencilSize: number;
  /** uint32[n·E] */
  readonly stencils: Uint32Array;
  /** Joules. @param x float64[3·V], metres */
  energy(x: Float64Array): number;
  /**
   * Adds the gradient, N, and the second derivative, N/m. The second derivative is positive semi-definite, element by element:
   * negative eigenvalues are replaced by zero, so that conjugate gradients always find a direction of descent.
   */
  addDerivatives(x: Float64Array, gradient: Float64Array, blocks: Blocks): void;
}

/** Adds a block a·(d_k ⊗ d_l) for every two corners of element e; `d` is float64[3·n]. */
export function addOuterProducts(blocks: Blocks, element: number, size: number, a: number, d: Float64Array): void {
  const { values, slots } = blocks;
  for (let k = 0; k < size; k++) {
    const [x, y, z] = [a * d[3 * k]!, a * d[3 * k + 1]!, a * d[3 * k + 2]!];
    for (let l = 0; l < size; l++) {
      const at = slots[(element * size + k) * size + l]!;
      if (at === NOT_STORED) continue;
      const [u, v, w] = [d[3 * l]!, d[3 * l + 1]!, d[3 * l + 2]!];
      values[at]! += x * u;
      values[at + 1]! += x * v;
      values[at + 2]! += x * w;
      values[at + 3]! += y * u;
      values[at + 4]! += y * v;
      values[at + 5]! += y * w;
      values[at + 6]! += z * u;
      values[at + 7]! += z * v;
      values[at + 8]! += z * w;
    }
  }
}
