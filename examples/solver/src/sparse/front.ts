import { type Kernel, makeKernel } from './kernel.js';

/** Columns that are eliminated before the rest of a front is updated: three rows of so many numbers stay in the cache. */
const PANEL = 48;
/** Columns of a panel that are eliminated one by one. */
const STRIP = 12;

/** A dense symmetric matrix of variable size, whose first columns can be eliminated. */
export class Front {
  /** float64[size²], by rows, of the current size; only the lower triangle is used */
  readonly values: Float64Array;
  readonly #kernel: Kernel;

  /** @param largest size, a multiple of 3 */
  constructor(largest: number) {
    const { values, kernel } = makeKernel(largest * largest);
    this.values = values;
    this.#kernel = kernel;
  }

  /**
   * Eliminates the first columns of F, in place: F₁₁ = L₁₁ L₁₁ᵀ, L₂₁ = F₂₁ L₁₁⁻ᵀ, and F₂₂ becomes F₂₂ − L₂₁ L₂₁ᵀ. What is
   * above the diagonal changes, and has no meaning.
   *
   * @param size a multiple of 3
   * @param width columns to eliminate, a multiple of 3
   * @returns −1, or the first column whose pivot is not positive (or not a number); F is then incomplete
   */
  eliminate(size: number, width: number): number {
    for (let begin = 0; begin < width; begin += PANEL) {
      const end = Math.min(width, begin + PANEL);
      for (let from = begin; from < end; from += STRIP) {
        const to = Math.min(end, from + STRIP);
        const failed = factorStrip(this.values, size, from, to);
        if (failed >= 0) return failed;
        this.#update(size, from, to, end);
      }
      this.#update(size, begin, end, size);
    }
    return -1;
  }

  /** Subtracts L Lᵀ of the columns from ... to − 1 from what follows them, up to a column. */
  #update(size: number, from: number, to: number, upTo: number): void {
    const address = (row: number, column: number): number => 8 * (row * size + column);
    for (let i = to; i < size && to < upTo; i += 3) {
      const last = address(Math.min(i, upTo - 3), from);
      this.#kernel.subtractProducts(address(i, from), address(to, from), last, address(i, to), 8 * size, to - from);
    }
  }
}

/** Columns begin ... end − 1, which earlier strips have updated: the factor of their square, and the rows below it. */
function factorStrip(f: Float64Array, size: number, begin: number, end: number): number {
  for (let i = begin; i < size; i++) {
    const row = i * size;
    const last = Math.min(i, end);
    for (let j = begin; j < last; j++) {
      const other = j * size;
      let sum = f[row + j]!;
      for (let k = begin; k < j; k++) sum -= f[row + k]! * f[other + k]!;
      f[row + j] = sum / f[other + j]!;
    }
    if (i >= end) continue;
    let pivot = f[row + i]!;
    for (let k = begin; k < i; k++) pivot -= f[row + k]! ** 2;
    if (!(pivot > 0)) return i;
    f[row + i] = Math.sqrt(pivot);
  }
  return -1;
}
