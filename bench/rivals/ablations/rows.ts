import type { Contacts } from '../../../src/solver/cpu/contacts.js';

/**
 * All constraints of a backward step in one list, contacts as well as edge lengths, for optimisers that the product
 * does not have: s_r(y) = value_r + Σ_k J_rk·(y_k − x_k) ≥ 0, relative to the state x of the step, in double precision.
 */
export class Rows {
  count = 0;
  /** [4·n] vertices, −1 if unused */
  readonly corner: number[] = [];
  /** [12·n] */
  readonly jacobian: number[] = [];
  readonly value: number[] = [];
  /** K = Σ w_k |J_k|² */
  readonly stiffness: number[] = [];

  constructor(readonly inverseMass: Float32Array) {}

  /** Adds the contact rows, linearised at `at`. */
  addContacts({ count, corner, jacobian, value, stiffness }: Contacts, at: Float32Array, x: Float32Array): void {
    for (let r = 0; r < count; r++, this.count++) {
      let constant = value[r];
      for (let k = 4 * r; k < 4 * r + 4; k++) {
        const v = corner[k];
        this.corner.push(v);
        for (let c = 0; c < 3; c++) {
          this.jacobian.push(jacobian[3 * k + c]);
          if (v >= 0) constant += jacobian[3 * k + c] * (x[3 * v + c] - at[3 * v + c]);
        }
      }
      this.value.push(constant);
      this.stiffness.push(stiffness[r]);
    }
  }

  /** Adds Eq. 13 in units of length, linearised at the target y*: σ L* − u·(y_i − y_j) ≥ 0. */
  addEdges(ends: Uint32Array, target: Float32Array, sigma: number, x: Float32Array): void {
    for (let e = 0; e < ends.length; e += 2) {
      const [i, j] = [ends[e], ends[e + 1]];
      const u = [0, 1, 2].map((c) => target[3 * i + c] - target[3 * j + c]);
      const length = Math.hypot(...u);
      if (!(length > 0)) continue;
      let constant = sigma * length;
      for (let c = 0; c < 3; c++) {
        u[c] /= length;
        constant -= u[c] * (x[3 * i + c] - x[3 * j + c]);
      }
      this.corner.push(i, j, -1, -1);
      this.jacobian.push(-u[0], -u[1], -u[2], u[0], u[1], u[2], 0, 0, 0, 0, 0, 0);
      this.value.push(constant);
      this.stiffness.push(this.inverseMass[i] + this.inverseMass[j]);
      this.count++;
    }
  }

  /** s_r(y). */
  slack(r: number, x: Float32Array, y: Float32Array): number {
    let s = this.value[r];
    for (let k = 4 * r; k < 4 * r + 4; k++) {
      const v = this.corner[k];
      if (v < 0) continue;
      for (let c = 0; c < 3; c++) s += this.jacobian[3 * k + c] * (y[3 * v + c] - x[3 * v + c]);
    }
    return s;
  }

  /** y_k += w_k J_rk · push. */
  push(r: number, push: number, y: Float32Array | Float64Array): void {
    for (let k = 4 * r; k < 4 * r + 4; k++) {
      const v = this.corner[k];
      if (v < 0) continue;
      const share = push * this.inverseMass[v];
      for (let c = 0; c < 3; c++) y[3 * v + c] += share * this.jacobian[3 * k + c];
    }
  }
}
