import { BlockCholesky } from '../sparse/cholesky.js';
import { graphOf } from '../sparse/graph.js';
import type { BlockRows } from './block-rows.js';

/**
 * The linear system of a Gauss-Newton iteration, for the change of the movable nodes:
 *
 *     (M + Bᵀ D⁻¹ B) Δx = −Bᵀ D⁻¹ b
 *
 * It has the same solution as (B M⁻¹ Bᵀ + D) Δλ = b with Δx = −M⁻¹ Bᵀ Δλ, since then D Δλ = b + B Δx. It couples only
 * nodes that share a row of B. The order of elimination is kept as long as rows couple no other nodes.
 */
export class PrimalSystem {
  readonly #always: readonly BlockRows[];
  readonly #inverseMasses: Float64Array;
  /** the number of every movable node among them, −1 for the others */
  readonly #unknowns: Int32Array;
  /** movable nodes */
  readonly #nodes: readonly number[];
  /** float64[3·movable]: at rest */
  readonly #positions: Float64Array;
  #matrix: BlockCholesky;
  #products: WeakMap<BlockRows, Uint32Array>;

  /**
   * @param always rows that every system contains
   * @param inverseMasses float64[V], 1/kg; nodes with 0 are not moved
   * @param rest float64[3·V], m: determines the order of elimination
   */
  constructor(always: readonly BlockRows[], inverseMasses: Float64Array, rest: Float64Array) {
    this.#always = always;
    this.#inverseMasses = inverseMasses;
    this.#unknowns = new Int32Array(inverseMasses.length).fill(-1);
    const nodes: number[] = [];
    inverseMasses.forEach((value, node) => {
      if (value > 0) this.#unknowns[node] = nodes.push(node) - 1;
    });
    this.#nodes = nodes;
    this.#positions = Float64Array.from(nodes.flatMap((node) => [...rest.subarray(3 * node, 3 * node + 3)]));
    this.#products = new WeakMap();
    this.#matrix = this.#makeMatrix(always);
  }

  /**
   * Sets the matrix and factors it.
   * @param all `always` of the constructor, and others
   * @param stiffness float64[3·rows]: the diagonal of D⁻¹
   * @throws NotPositiveDefinite if a value is not a number
   */
  factor(all: readonly BlockRows[], stiffness: Float64Array): void {
    if (!all.every((rows) => this.#covers(rows))) {
      this.#matrix = this.#makeMatrix([...this.#always, ...all]);
      this.#products = new WeakMap();
    }
    const { values } = this.#matrix;
    values.fill(0);
    this.#nodes.forEach((node, unknown) => {
      const slot = this.#matrix.slotOf(unknown, unknown);
      for (let k = 0; k < 9; k += 4) values[slot + k] = 1 / this.#inverseMasses[node]!;
    });
    let first = 0;
    for (const rows of all) {
      this.#addProducts(rows, stiffness, first);
      first += 3 * rows.count;
    }
    this.#matrix.factor();
  }

  /**
   * Solves with the last matrix.
   * @param right float64[3·V], not read for nodes that are not moved
   * @param out float64[3·V]; 0 for nodes that are not moved
   */
  solve(right: Float64Array, out: Float64Array): void {
    const b = new Float64Array(3 * this.#nodes.length);
    for (let i = 0; i < b.length; i++) b[i] = right[3 * this.#nodes[Math.floor(i / 3)]! + (i % 3)]!;
    this.#matrix.solve(b, b);
    out.fill(0);
    for (let i = 0; i < b.length; i++) out[3 * this.#nodes[Math.floor(i / 3)]! + (i % 3)] = b[i]!;
  }

  #makeMatrix(all: readonly BlockRows[]): BlockCholesky {
    const cliques = all.flatMap((rows) => [...this.#unknownsOf(rows)]);
    return new BlockCholesky(graphOf(this.#nodes.length, cliques), this.#positions);
  }

  *#unknownsOf({ count, starts, columns }: BlockRows): Generator<number[]> {
    for (let row = 0; row < count; row++) {
      const nodes = [...columns.subarray(starts[row]!, starts[row + 1]!)];
      yield nodes.map((node) => this.#unknowns[node]!).filter((unknown) => unknown >= 0);
    }
  }

  /** Finds where the products of the blocks of a row go. @returns whether the matrix has all these blocks */
  #covers(rows: BlockRows): boolean {
    if (this.#products.has(rows)) return true;
    const { count, starts, columns } = rows;
    const products: number[] = [];
    for (let row = 0; row < count; row++) {
      for (let i = starts[row]!; i < starts[row + 1]!; i++) {
        const a = this.#unknowns[columns[i]!]!;
        for (let j = starts[row]!; j < starts[row + 1]!; j++) {
          const b = this.#unknowns[columns[j]!]!;
          if (a < 0 || b < 0 || this.#matrix.columns[a]! < this.#matrix.columns[b]!) continue;
          const slot = this.#matrix.slotOf(a, b);
          if (slot < 0) return false;
          products.push(slot, row, 9 * i, 9 * j);
        }
      }
    }
    this.#products.set(rows, Uint32Array.from(products));
    return true;
  }

  #addProducts(rows: BlockRows, stiffness: Float64Array, first: number): void {
    if (!this.#covers(rows)) throw new Error('The matrix lacks a block of these rows.');
    const products = this.#products.get(rows)!;
    const { values } = this.#matrix;
    const b = rows.values;
    for (let p = 0; p < products.length; p += 4) {
      const slot = products[p]!;
      const at = first + 3 * products[p + 1]!;
      const i = products[p + 2]!;
      const j = products[p + 3]!;
      for (let k = 0; k < 3; k++) {
        const s = stiffness[at + k]!;
        const x = s * b[j + 3 * k]!;
        const y = s * b[j + 3 * k + 1]!;
        const z = s * b[j + 3 * k + 2]!;
        for (let c = 0; c < 3; c++) {
          const value = b[i + 3 * k + c]!;
          values[slot + 3 * c]! += value * x;
          values[slot + 3 * c + 1]! += value * y;
          values[slot + 3 * c + 2]! += value * z;
        }
      }
    }
  }
}
