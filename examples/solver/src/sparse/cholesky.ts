import { Front } from './front.js';
import type { Graph } from './graph.js';
import { orderForElimination } from './ordering.js';
import { analyse, type Structure } from './symbolic.js';

/**
 * A symmetric positive definite sparse matrix of 3×3 blocks and its Cholesky factor, computed by the multifrontal
 * method: a supernode adds its columns and what its children have left over to a dense matrix, the front, eliminates
 * its columns there, and leaves the rest to its parent. The order and the structure are found once, for a graph.
 */
export class BlockCholesky {
  /** float64[9·B]: the stored blocks, each by rows; {@link slotOf} says where a block is */
  readonly values: Float64Array;
  /** uint32[count]: the column of every node in the order of elimination */
  readonly columns: Uint32Array;
  readonly #structure: Structure;
  /** uint32[count + 1], uint32[B]: the rows of the stored blocks of every column, from the diagonal on, ascending */
  readonly #starts: Uint32Array;
  readonly #rows: Uint32Array;
  readonly #children: readonly (readonly number[])[];
  /** float64: the columns of every supernode in the factor, by rows, one supernode after another */
  readonly #factor: Float64Array;
  /** where a supernode begins in the factor */
  readonly #offsets: readonly number[];
  readonly #front: Front;
  /** what supernodes have left over, until their parents take it */
  readonly #stack: Float64Array;
  /** int32[count]: where a column is in the front of the current supernode */
  readonly #places: Int32Array;
  #isFactored = false;

  /**
   * @param graph two nodes whose block may differ from zero are neighbours
   * @param positions float64[3·count] of the nodes, in any unit, for the order of elimination
   */
  constructor(graph: Graph, positions: Float64Array) {
    const structure = analyse(graph, orderForElimination(graph, positions));
    const { columns, nodes, parents } = structure;
    this.#structure = structure;
    this.columns = columns;
    this.#starts = new Uint32Array(graph.count + 1);
    const rows: number[] = [];
    nodes.forEach((node, column) => {
      const others = graph.neighbours.subarray(graph.starts[node]!, graph.starts[node + 1]!);
      const below = Array.from(others, (other) => columns[other]!).filter((row) => row > column);
      rows.push(column, ...below.sort((a, b) => a - b));
      this.#starts[column + 1] = rows.length;
    });
    this.#rows = Uint32Array.from(rows);
    this.values = new Float64Array(9 * rows.length);
    const children = Array.from(parents, (): number[] => []);
    parents.forEach((parent, s) => {
      if (parent >= 0) children[parent]!.push(s);
    });
    this.#children = children;
    const offsets = [0];
    let [largest, deepest, depth] = [0, 0, 0];
    for (let s = 0; s < parents.length; s++) {
      const { width, size } = this.#shapeOf(s);
      offsets.push(offsets[s]! + width * size);
      largest = Math.max(largest, size);
      for (const child of children[s]!) depth -= leftBy(this.#shapeOf(child));
      depth += leftBy({ width, size });
      deepest = Math.max(deepest, depth);
    }
    this.#offsets = offsets;
    this.#factor = new Float64Array(offsets.at(-1)!);
    this.#front = new Front(largest);
    this.#stack = new Float64Array(deepest);
    this.#places = new Int32Array(graph.count);
  }

  /** Numbers in the factor, zeros in supernodes included. */
  get factorSize(): number {
    return this.#factor.length;
  }

  /**
   * Returns the index in {@link values} of the block of two nodes, whose rows belong to the node that is eliminated
   * later (see {@link columns}) and whose columns to the other one.
   * @returns −1 if the nodes are different and no neighbours
   */
  slotOf(node: number, other: number): number {
    const [a, b] = [this.columns[node]!, this.columns[other]!];
    const [row, column] = a > b ? [a, b] : [b, a];
    let [from, to] = [this.#starts[column]!, this.#starts[column + 1]!];
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (this.#rows[middle]! <= row) from = middle;
      else to = middle;
    }
    return this.#rows[from] === row ? 9 * from : -1;
  }

  /**
   * Factors the matrix in {@link values}, of whose diagonal blocks only the lower triangle is read.
   * @throws NotPositiveDefinite
   */
  factor(): void {
    this.#isFactored = false;
    let top = 0;
    for (let s = 0; s < this.#children.length; s++) {
      const { width, size } = this.#shapeOf(s);
      this.#front.values.fill(0, 0, size * size);
      this.#assemble(s, size);
      // The children of a supernode are the last ones on the stack, the last of them on top.
      for (const child of this.#children[s]!.toReversed()) {
        top -= leftBy(this.#shapeOf(child));
        this.#extend(child, top, size);
      }
      const failed = this.#front.eliminate(size, width);
      if (failed >= 0) {
        const node = this.#structure.nodes[this.#structure.firsts[s]! + Math.floor(failed / 3)]!;
        throw new NotPositiveDefinite(node);
      }
      const offset = this.#offsets[s]!;
      for (let i = 0; i < size; i++) {
        this.#factor.set(this.#front.values.subarray(i * size, i * size + width), offset + i * width);
      }
      for (let i = width; i < size; i++, top += size - width) {
        this.#stack.set(this.#front.values.subarray(i * size + width, i * size + size), top);
      }
    }
    this.#isFactored = true;
  }

  /**
   * Solves A x = b with the last factor.
   * @param b float64[3·count], by nodes
   * @param x float64[3·count], may be b itself
   * @throws Error if the last call of {@link factor} failed, or there was none
   */
  solve(b: Float64Array, x: Float64Array): void {
    if (!this.#isFactored) throw new Error('The matrix has not been factored.');
    const { nodes } = this.#structure;
    const work = new Float64Array(3 * nodes.length);
    for (let i = 0; i < work.length; i++) work[i] = b[3 * nodes[Math.floor(i / 3)]! + (i % 3)]!;
    for (let s = 0; s < this.#children.length; s++) this.#forward(s, work);
    for (let s = this.#children.length - 1; s >= 0; s--) this.#backward(s, work);
    for (let i = 0; i < work.length; i++) x[3 * nodes[Math.floor(i / 3)]! + (i % 3)] = work[i]!;
  }

  /** The size of a front and the number of columns that are eliminated in it, in numbers. */
  #shapeOf(s: number): Shape {
    const { firsts, starts } = this.#structure;
    const width = 3 * (firsts[s + 1]! - firsts[s]!);
    return { width, size: width + 3 * (starts[s + 1]! - starts[s]!) };
  }

  /** Adds the blocks of the matrix in the columns of a supernode to its front. */
  #assemble(s: number, size: number): void {
    const { firsts, starts, rows } = this.#structure;
    const [first, end] = [firsts[s]!, firsts[s + 1]!];
    for (let column = first; column < end; column++) this.#places[column] = 3 * (column - first);
    for (let i = starts[s]!; i < starts[s + 1]!; i++) this.#places[rows[i]!] = 3 * (end - first + i - starts[s]!);
    for (let column = first; column < end; column++) {
      for (let block = this.#starts[column]!; block < this.#starts[column + 1]!; block++) {
        const at = this.#places[this.#rows[block]!]! * size + this.#places[column]!;
        for (let k = 0; k < 9; k++)
          this.#front.values[at + Math.floor(k / 3) * size + (k % 3)] = this.values[9 * block + k]!;
      }
    }
  }

  /** Adds what a child has left over to the front of its parent. @param from where it begins on the stack */
  #extend(child: number, from: number, size: number): void {
    const { starts, rows } = this.#structure;
    const [first, end] = [starts[child]!, starts[child + 1]!];
    const [stack, front] = [this.#stack, this.#front.values];
    const length = 3 * (end - first);
    for (let i = first; i < end; i++) {
      const to = this.#places[rows[i]!]! * size;
      const row = from + 3 * (i - first) * length;
      for (let j = first; j <= i; j++) {
        let p = to + this.#places[rows[j]!]!;
        let q = row + 3 * (j - first);
        for (let k = 0; k < 3; k++, p += size, q += length) {
          front[p]! += stack[q]!;
          front[p + 1]! += stack[q + 1]!;
          front[p + 2]! += stack[q + 2]!;
        }
      }
    }
  }

  #forward(s: number, work: Float64Array): void {
    const { firsts, starts, rows } = this.#structure;
    const { width, size } = this.#shapeOf(s);
    const l = this.#factor;
    const first = 3 * firsts[s]!;
    let at = this.#offsets[s]!;
    for (let i = 0; i < size; i++, at += width) {
      let sum = 0;
      const last = Math.min(i, width);
      for (let j = 0; j < last; j++) sum += l[at + j]! * work[first + j]!;
      if (i < width) work[first + i] = (work[first + i]! - sum) / l[at + i]!;
      else work[3 * rows[starts[s]! + Math.floor((i - width) / 3)]! + (i % 3)]! -= sum;
    }
  }

  #backward(s: number, work: Float64Array): void {
    const { firsts, starts, rows } = this.#structure;
    const { width, size } = this.#shapeOf(s);
    const l = this.#factor;
    const first = 3 * firsts[s]!;
    let at = this.#offsets[s + 1]! - width;
    for (let i = size - 1; i >= 0; i--, at -= width) {
      let value: number;
      if (i < width) value = work[first + i]! /= l[at + i]!;
      else value = work[3 * rows[starts[s]! + Math.floor((i - width) / 3)]! + (i % 3)]!;
      const last = Math.min(i, width);
      for (let j = 0; j < last; j++) work[first + j]! -= l[at + j]! * value;
    }
  }
}

interface Shape {
  readonly width: number;
  readonly size: number;
}

/** Numbers that a supernode leaves over to its parent. */
const leftBy = ({ width, size }: Shape): number => (size - width) ** 2;

export class NotPositiveDefinite extends Error {
  override readonly name = 'NotPositiveDefinite';
  /** the node in whose columns a pivot was not positive, or not a number */
  readonly node: number;

  constructor(node: number) {
    super(`The matrix is not positive definite, or contains a value that is not a number: see node ${node}.`);
    this.node = node;
  }
}
