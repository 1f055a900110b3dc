/** The slot of a block that is not stored because it is the transpose of a stored one. */
export const NOT_STORED = 0xffffffff;

/** The blocks of the second derivative to which a force adds; see {@link BlockMatrix}. */
export interface Blocks {
  /** 3×3 blocks, row by row */
  readonly values: Float64Array;
  /**
   * uint32[n·n·E]: offset in `values` of the block of corners k and l of element e, at (e·n + k)·n + l, or
   * {@link NOT_STORED}; n = stencil size
   */
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
   * Adds the gradient, N, and the second derivative, N/m. The second derivative is positive semi-definite, element by
   * element: negative eigenvalues are replaced by zero, so that conjugate gradients always find a direction of descent.
   */
  addDerivatives(x: Float64Array, gradient: Float64Array, blocks: Blocks): void;
}

/** The second derivative of an element as a sum of modes Σ_m a_m (d_m ⊗ d_m). */
export class Modes {
  /** number of modes */
  count = 0;
  readonly #size: number;
  /** float64[3·n] of every mode: d, and a·d */
  readonly #modes: Float64Array;
  readonly #scaled: Float64Array;

  /**
   * @param size n, vertices of an element
   * @param most largest number of modes at a time
   */
  constructor(size: number, most: number) {
    this.#size = size;
    this.#modes = new Float64Array(3 * size * most);
    this.#scaled = new Float64Array(3 * size * most);
  }

  /** Adds a mode. @param d float64[3·n] */
  push(a: number, d: Float64Array): void {
    const first = 3 * this.#size * this.count;
    for (let i = 0; i < 3 * this.#size; i++) {
      this.#modes[first + i] = d[i]!;
      this.#scaled[first + i] = a * d[i]!;
    }
    this.count++;
  }

  /**
   * Adds the blocks of all modes to those of an element, and clears the modes. Every block is read and written once.
   */
  addTo({ values, slots }: Blocks, element: number): void {
    const modes = this.#modes;
    const scaled = this.#scaled;
    const n = this.#size;
    const length = 3 * n;
    const end = length * this.count;
    let slot = element * n * n;
    for (let k = 0; k < length; k += 3) {
      for (let l = 0; l < length; l += 3) {
        const at = slots[slot++]!;
        if (at === NOT_STORED) continue;
        let xx = values[at]!;
        let xy = values[at + 1]!;
        let xz = values[at + 2]!;
        let yx = values[at + 3]!;
        let yy = values[at + 4]!;
        let yz = values[at + 5]!;
        let zx = values[at + 6]!;
        let zy = values[at + 7]!;
        let zz = values[at + 8]!;
        for (let m = 0; m < end; m += length) {
          const x = scaled[m + k]!;
          const y = scaled[m + k + 1]!;
          const z = scaled[m + k + 2]!;
          const u = modes[m + l]!;
          const v = modes[m + l + 1]!;
          const w = modes[m + l + 2]!;
          xx += x * u;
          xy += x * v;
          xz += x * w;
          yx += y * u;
          yy += y * v;
          yz += y * w;
          zx += z * u;
          zy += z * v;
          zz += z * w;
        }
        values[at] = xx;
        values[at + 1] = xy;
        values[at + 2] = xz;
        values[at + 3] = yx;
        values[at + 4] = yy;
        values[at + 5] = yz;
        values[at + 6] = zx;
        values[at + 7] = zy;
        values[at + 8] = zz;
      }
    }
    this.count = 0;
  }
}
