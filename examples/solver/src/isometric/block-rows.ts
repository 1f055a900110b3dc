/** A sparse matrix of 3×3 blocks: rows are constraints, three at a time, columns are nodes. */
export class BlockRows {
  readonly count: number;
  /** uint32[count + 1]: offset of the first block of each row of blocks */
  readonly starts: Uint32Array;
  /** uint32[B]: the node of every block */
  readonly columns: Uint32Array;
  /** float64[9·B] */
  readonly values: Float64Array;

  /** @param nodes of every row of blocks, each node once per row */
  constructor(nodes: readonly (readonly number[])[]) {
    this.count = nodes.length;
    this.starts = new Uint32Array(nodes.length + 1);
    nodes.forEach((row, i) => {
      this.starts[i + 1] = this.starts[i]! + row.length;
    });
    this.columns = Uint32Array.from(nodes.flat());
    this.values = new Float64Array(9 * this.columns.length);
  }

  /** Sets a block to a multiple of the identity. */
  setScalar(block: number, value: number): void {
    for (let k = 0; k < 9; k += 4) this.values[9 * block + k] = value;
  }

  /** out[first ...] = B · v. @param v float64[3·V] */
  multiply(v: Float64Array, out: Float64Array, first = 0): void {
    const { starts, columns, values } = this;
    for (let row = 0, at = first; row < this.count; row++, at += 3) {
      let [x, y, z] = [0, 0, 0];
      for (let block = starts[row]!; block < starts[row + 1]!; block++) {
        const c = 3 * columns[block]!;
        const b = 9 * block;
        const [p, q, r] = [v[c]!, v[c + 1]!, v[c + 2]!];
        x += values[b]! * p + values[b + 1]! * q + values[b + 2]! * r;
        y += values[b + 3]! * p + values[b + 4]! * q + values[b + 5]! * r;
        z += values[b + 6]! * p + values[b + 7]! * q + values[b + 8]! * r;
      }
      out[at] = x;
      out[at + 1] = y;
      out[at + 2] = z;
    }
  }

  /** out += Bᵀ · u[first ...]. @param out float64[3·V] */
  addTransposed(u: Float64Array, out: Float64Array, first = 0): void {
    const { starts, columns, values } = this;
    for (let row = 0, at = first; row < this.count; row++, at += 3) {
      const [x, y, z] = [u[at]!, u[at + 1]!, u[at + 2]!];
      for (let block = starts[row]!; block < starts[row + 1]!; block++) {
        const c = 3 * columns[block]!;
        const b = 9 * block;
        out[c]! += values[b]! * x + values[b + 3]! * y + values[b + 6]! * z;
        out[c + 1]! += values[b + 1]! * x + values[b + 4]! * y + values[b + 7]! * z;
        out[c + 2]! += values[b + 2]! * x + values[b + 5]! * y + values[b + 8]! * z;
      }
    }
  }

  /** Writes the diagonal 3×3 blocks of B · W · Bᵀ to out[9·first ...]. @param weights float64[V] of W */
  diagonal(weights: Float64Array, out: Float64Array, first = 0): void {
    const { starts, columns, values } = this;
    for (let row = 0; row < this.count; row++) {
      const at = 9 * (first + row);
      out.fill(0, at, at + 9);
      for (let block = starts[row]!; block < starts[row + 1]!; block++) {
        const w = weights[columns[block]!]!;
        for (let i = 0; i < 3; i++) {
          for (let j = 0; j < 3; j++) {
            let sum = 0;
            for (let k = 0; k < 3; k++) sum += values[9 * block + 3 * i + k]! * values[9 * block + 3 * j + k]!;
            out[at + 3 * i + j]! += w * sum;
          }
        }
      }
    }
  }
}
