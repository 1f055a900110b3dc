import { type Blocks, type Force, NOT_STORED } from './force.js';

/**
 * A symmetric sparse matrix of 3×3 blocks in compressed rows: the second derivative of a sum of forces. Blocks left of
 * the diagonal are the transposed ones on its right, and are not stored, which halves the memory to read in every
 * product.
 */
export class BlockMatrix {
  /** uint32[V + 1]: where the blocks of a row begin */
  readonly rows: Uint32Array;
  /** uint32[B], ascending within a row, which begins on the diagonal */
  readonly columns: Uint32Array;
  /** float64[9·B] */
  readonly values: Float64Array;
  /** uint32[V]: where the diagonal block of a row begins in `values` */
  readonly diagonal: Uint32Array;
  readonly #blocks: readonly Blocks[];

  constructor(vertexCount: number, forces: readonly Force[]) {
    const entries = listEntries(vertexCount, forces);
    this.rows = new Uint32Array(vertexCount + 1);
    this.columns = new Uint32Array(entries.length);
    this.values = new Float64Array(9 * entries.length);
    this.diagonal = new Uint32Array(vertexCount);
    entries.forEach((entry, at) => {
      const row = Math.floor(entry / vertexCount);
      const column = entry - row * vertexCount;
      this.rows[row + 1] = at + 1;
      this.columns[at] = column;
      if (row === column) this.diagonal[row] = 9 * at;
    });
    this.#blocks = forces.map((force) => ({ values: this.values, slots: this.#slotsOf(force) }));
  }

  /** Sets the matrix to the second derivative of the forces, and adds their gradients. */
  fill(forces: readonly Force[], x: Float64Array, gradient: Float64Array): void {
    this.values.fill(0);
    forces.forEach((force, i) => {
      force.addDerivatives(x, gradient, this.#blocks[i]!);
    });
  }

  /** out = matrix · v */
  multiply(v: Float64Array, out: Float64Array): void {
    const { rows, columns, values } = this;
    out.fill(0);
    for (let row = 0; row + 1 < rows.length; row++) {
      const own = 3 * row;
      const u = v[own]!;
      const w = v[own + 1]!;
      const t = v[own + 2]!;
      let x = 0;
      let y = 0;
      let z = 0;
      for (let at = rows[row]!; at < rows[row + 1]!; at++) {
        const c = 3 * columns[at]!;
        const b = 9 * at;
        const p = v[c]!;
        const q = v[c + 1]!;
        const r = v[c + 2]!;
        x += values[b]! * p + values[b + 1]! * q + values[b + 2]! * r;
        y += values[b + 3]! * p + values[b + 4]! * q + values[b + 5]! * r;
        z += values[b + 6]! * p + values[b + 7]! * q + values[b + 8]! * r;
        if (c === own) continue;
        out[c]! += values[b]! * u + values[b + 3]! * w + values[b + 6]! * t;
        out[c + 1]! += values[b + 1]! * u + values[b + 4]! * w + values[b + 7]! * t;
        out[c + 2]! += values[b + 2]! * u + values[b + 5]! * w + values[b + 8]! * t;
      }
      out[own]! += x;
      out[own + 1]! += y;
      out[own + 2]! += z;
    }
  }

  #slotsOf({ stencilSize: n, stencils }: Force): Uint32Array {
    const slots = new Uint32Array(n * stencils.length);
    for (let corner = 0; corner < stencils.length; corner++) {
      const first = corner - (corner % n);
      for (let l = 0; l < n; l++) {
        const [row, column] = [stencils[corner]!, stencils[first + l]!];
        slots[corner * n + l] = row <= column ? 9 * this.#find(row, column) : NOT_STORED;
      }
    }
    return slots;
  }

  #find(row: number, column: number): number {
    let [low, high] = [this.rows[row]!, this.rows[row + 1]! - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.columns[middle]! < column) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** row·V + column of every block with row ≤ column, ascending, each once; V² is far below 2^53. */
function listEntries(vertexCount: number, forces: readonly Force[]): Float64Array {
  const count = forces.reduce((sum, { stencils, stencilSize }) => sum + stencils.length * stencilSize, vertexCount);
  const all = new Float64Array(count);
  let used = 0;
  for (let i = 0; i < vertexCount; i++) all[used++] = i * vertexCount + i;
  for (const { stencils, stencilSize: n } of forces) {
    for (let corner = 0; corner < stencils.length; corner++) {
      const first = corner - (corner % n);
      for (let l = 0; l < n; l++) {
        const [row, column] = [stencils[corner]!, stencils[first + l]!];
        if (row <= column) all[used++] = row * vertexCount + column;
      }
    }
  }
  all.subarray(0, used).sort();
  let kept = 0;
  for (let i = 0; i < used; i++) if (i === 0 || all[i] !== all[i - 1]) all[kept++] = all[i]!;
  return all.subarray(0, kept);
}
