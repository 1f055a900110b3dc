import type { BlockMatrix } from './block-matrix.js';
import { invertBlocks, type LinearOperator } from './conjugate-gradients.js';
import type { ContactTerm } from './contact-term.js';

/**
 * Over-relaxation: ω in [1, 2), which divides the diagonal blocks of a sweep. Between 1.3 and 1.6 the scenes take 0.75
 * to 0.9 times the iterations that they take with 1, and the remaining errors are as small or smaller.
 */
const RELAXATION = 1.4;

/**
 * The system A·p = b of a matrix, masses and contact terms in the variables p̂ = Sᵀ·p, where S is the part of the
 * matrix below its diagonal together with D = B / ω, B being the diagonal blocks of all of A: conjugate gradients with
 * the blocks D⁻¹ applied to it are symmetric over-relaxed preconditioning of A, at the cost of a product with A and one
 * with B (Eisenstat 1981). With the contact terms T and their diagonal blocks C,
 *
 *     A = S + Sᵀ + T − C + B − 2 D,      Â d̂ = S⁻¹ A S⁻ᵀ d̂ = d + S⁻¹ (d̂ + T d − (C + (2 / ω − 1) B) d),      d = S⁻ᵀ d̂.
 *
 * Rows and columns of vertices that are not free are omitted: d is zero there.
 */
export class SweptSystem implements LinearOperator {
  readonly #matrix: BlockMatrix;
  readonly #terms: readonly ContactTerm[];
  /** float64[9·V]: D and D⁻¹, zero if a vertex is not free, and C + (2 / ω − 1) B */
  readonly #blocks: Float64Array;
  readonly #inverse: Float64Array;
  readonly #beside: Float64Array;
  readonly #d: Float64Array;
  readonly #w: Float64Array;

  /** @param weights float64[V]: added to the diagonal of every vertex */
  constructor(matrix: BlockMatrix, weights: Float64Array, terms: readonly ContactTerm[], isFree: Uint8Array) {
    this.#matrix = matrix;
    this.#terms = terms;
    const contacts = new Float64Array(9 * weights.length);
    for (const term of terms) term.addDiagonal(contacts);
    this.#blocks = contacts.slice();
    this.#beside = contacts;
    for (let vertex = 0; vertex < weights.length; vertex++) {
      const at = matrix.diagonal[vertex]!;
      for (let k = 0; k < 9; k++) {
        const i = 9 * vertex + k;
        const block = this.#blocks[i]! + matrix.values[at + k]! + (k % 4 === 0 ? weights[vertex]! : 0);
        this.#beside[i]! += (2 / RELAXATION - 1) * block;
        this.#blocks[i] = block / RELAXATION;
      }
    }
    this.#inverse = invertBlocks(this.#blocks, isFree);
    for (let vertex = 0; vertex < weights.length; vertex++) {
      if (!isFree[vertex]) this.#blocks.fill(0, 9 * vertex, 9 * vertex + 9);
    }
    this.#d = new Float64Array(3 * weights.length);
    this.#w = new Float64Array(3 * weights.length);
  }

  /** out = Â · v */
  multiply(v: Float64Array, out: Float64Array): void {
    const [d, w] = [this.#d, this.#w];
    d.set(v);
    this.backward(d);
    w.set(v);
    for (const term of this.#terms) term.addProduct(d, w);
    addBlockProducts(this.#beside, d, -1, w);
    this.forward(w);
    for (let i = 0; i < out.length; i++) out[i] = d[i]! + w[i]!;
  }

  /** D: after S⁻¹ and S⁻ᵀ it leaves S⁻ᵀ D S⁻¹, the inverse of the sweep's S D⁻¹ Sᵀ. */
  preconditioner(): Float64Array {
    return this.#blocks;
  }

  /** v ← S⁻¹ v, from the first row to the last */
  forward(v: Float64Array): void {
    const { rows, columns, values } = this.#matrix;
    for (let row = 0; row + 1 < rows.length; row++) {
      solveBlock(this.#inverse, row, v);
      const x = v[3 * row]!;
      const y = v[3 * row + 1]!;
      const z = v[3 * row + 2]!;
      if (x === 0 && y === 0 && z === 0) continue;
      const end = rows[row + 1]!;
      for (let at = rows[row]! + 1; at < end; at++) {
        const c = 3 * columns[at]!;
        const b = 9 * at;
        v[c]! -= values[b]! * x + values[b + 3]! * y + values[b + 6]! * z;
        v[c + 1]! -= values[b + 1]! * x + values[b + 4]! * y + values[b + 7]! * z;
        v[c + 2]! -= values[b + 2]! * x + values[b + 5]! * y + values[b + 8]! * z;
      }
    }
  }

  /**
   * v ← S⁻ᵀ v, from the last row to the first. Blocks are read from the last to the first, too: five times as fast as
   * jumping back row by row.
   */
  backward(v: Float64Array): void {
    const { rows, columns, values } = this.#matrix;
    for (let row = rows.length - 2; row >= 0; row--) {
      let x = v[3 * row]!;
      let y = v[3 * row + 1]!;
      let z = v[3 * row + 2]!;
      const diagonal = rows[row]!;
      for (let at = rows[row + 1]! - 1; at > diagonal; at--) {
        const c = 3 * columns[at]!;
        const b = 9 * at;
        const p = v[c]!;
        const q = v[c + 1]!;
        const r = v[c + 2]!;
        x -= values[b]! * p + values[b + 1]! * q + values[b + 2]! * r;
        y -= values[b + 3]! * p + values[b + 4]! * q + values[b + 5]! * r;
        z -= values[b + 6]! * p + values[b + 7]! * q + values[b + 8]! * r;
      }
      v[3 * row] = x;
      v[3 * row + 1] = y;
      v[3 * row + 2] = z;
      solveBlock(this.#inverse, row, v);
    }
  }

  /** Sᵀ p; entries of vertices that are not free are zero in p. */
  transform(p: Float64Array): Float64Array {
    const { rows, columns, values } = this.#matrix;
    const out = new Float64Array(p.length);
    addBlockProducts(this.#blocks, p, 1, out);
    for (let row = 0; row + 1 < rows.length; row++) {
      for (let at = rows[row]! + 1; at < rows[row + 1]!; at++) {
        for (let i = 0; i < 3; i++) {
          for (let j = 0; j < 3; j++) out[3 * row + i]! += values[9 * at + 3 * i + j]! * p[3 * columns[at]! + j]!;
        }
      }
    }
    return out;
  }
}

/** v ← inverse · v of one vertex */
function solveBlock(inverse: Float64Array, vertex: number, v: Float64Array): void {
  const b = 9 * vertex;
  const at = 3 * vertex;
  const x = v[at]!;
  const y = v[at + 1]!;
  const z = v[at + 2]!;
  v[at] = inverse[b]! * x + inverse[b + 1]! * y + inverse[b + 2]! * z;
  v[at + 1] = inverse[b + 3]! * x + inverse[b + 4]! * y + inverse[b + 5]! * z;
  v[at + 2] = inverse[b + 6]! * x + inverse[b + 7]! * y + inverse[b + 8]! * z;
}

/** out += factor · blocks · v */
function addBlockProducts(blocks: Float64Array, v: Float64Array, factor: number, out: Float64Array): void {
  for (let i = 0, b = 0; i < v.length; i += 3, b += 9) {
    const x = factor * v[i]!;
    const y = factor * v[i + 1]!;
    const z = factor * v[i + 2]!;
    out[i]! += blocks[b]! * x + blocks[b + 1]! * y + blocks[b + 2]! * z;
    out[i + 1]! += blocks[b + 3]! * x + blocks[b + 4]! * y + blocks[b + 5]! * z;
    out[i + 2]! += blocks[b + 6]! * x + blocks[b + 7]! * y + blocks[b + 8]! * z;
  }
}
