import { type Decomposition, decompose, diagonalise, makeDecomposition } from './decompose.js';
import { type Blocks, type Force, Modes } from './force.js';
import type { Material } from './materials.js';

/** Triangles (d = 2) or tetrahedra (d = 3) of one isotropic material, with linear shape functions. */
export class ElasticElements implements Force {
  readonly stencilSize: number;
  readonly stencils: Uint32Array;
  readonly #d: number;
  readonly #material: Material;
  /** float64[E]: rest area, m², or rest volume, m³ */
  readonly #measures: Float64Array;
  /** float64[E·(d + 1)·d]: gradients of the shape functions in the rest shape; F = Σ_k x_k ⊗ b_k */
  readonly #gradients: Float64Array;

  /**
   * @param elements uint32[(d + 1)·E]; the volumes of tetrahedra are all positive, or all negative
   * @param rest float64[3·V], the shape without strain
   */
  constructor(d: 2 | 3, elements: Uint32Array, rest: Float64Array, material: Material) {
    this.#d = d;
    this.#material = material;
    this.stencilSize = d + 1;
    this.stencils = elements;
    const count = elements.length / (d + 1);
    this.#measures = new Float64Array(count);
    this.#gradients = new Float64Array(count * (d + 1) * d);
    const edges = new Float64Array(9);
    for (let e = 0; e < count; e++) {
      const [origin, ...others] = elements.subarray(e * (d + 1), (e + 1) * (d + 1));
      others.forEach((vertex, k) => {
        for (let c = 0; c < 3; c++) edges[3 * k + c] = rest[3 * vertex + c]! - rest[3 * origin! + c]!;
      });
      const { measure, inverse } = d === 2 ? flatten(edges) : invert(edges);
      if (!(Math.abs(measure) > 0)) throw new RangeError(`Element ${e} has no area or volume in its rest shape.`);
      this.#measures[e] = Math.abs(measure);
      const first = e * (d + 1) * d;
      for (let k = 0; k < d; k++) {
        for (let j = 0; j < d; j++) {
          this.#gradients[first + (k + 1) * d + j] = inverse[k * d + j]!;
          this.#gradients[first + j]! -= inverse[k * d + j]!;
        }
      }
    }
  }

  /** Rest areas or volumes. */
  get measures(): Float64Array {
    return this.#measures;
  }

  energy(x: Float64Array): number {
    const svd = makeDecomposition(this.#d);
    const f = new Float64Array(3 * this.#d);
    let total = 0;
    for (let e = 0; e < this.#measures.length; e++) {
      this.#deformation(e, x, f);
      decompose(this.#d, f, svd);
      total += this.#measures[e]! * this.#material.energy(svd.s);
    }
    return total;
  }

  /** Returns the smallest and the largest principal stretch of all elements. */
  stretches(x: Float64Array): { readonly least: number; readonly most: number } {
    const svd = makeDecomposition(this.#d);
    const f = new Float64Array(3 * this.#d);
    let [least, most] = [Infinity, 0];
    for (let e = 0; e < this.#measures.length; e++) {
      this.#deformation(e, x, f);
      decompose(this.#d, f, svd);
      least = Math.min(least, svd.s[this.#d - 1]!);
      most = Math.max(most, svd.s[0]!);
    }
    return { least, most };
  }

  addDerivatives(x: Float64Array, gradient: Float64Array, blocks: Blocks): void {
    const d = this.#d;
    const n = d + 1;
    const material = this.#material;
    const svd = makeDecomposition(d);
    const { u, s } = svd;
    const f = new Float64Array(3 * d);
    const psi = new Float64Array(d);
    const scaling = new Float64Array(d * d);
    const vectors = new Float64Array(d * d);
    const beta = new Float64Array(d * n); // v_i · b_k
    const mode = new Float64Array(3 * n);
    const modes = new Modes(n, d * n);
    for (let e = 0; e < this.#measures.length; e++) {
      const measure = this.#measures[e]!;
      this.#deformation(e, x, f);
      decompose(d, f, svd);
      this.#project(e, svd, beta);
      material.gradient(s, psi);
      mode.fill(0);
      for (let i = 0; i < d; i++) addMode(mode, measure * psi[i]!, u, i, beta, i);
      for (let k = 0; k < n; k++) {
        const vertex = 3 * this.stencils[e * n + k]!;
        for (let c = 0; c < 3; c++) gradient[vertex + c]! += mode[3 * k + c]!;
      }
      material.hessian(s, scaling);
      diagonalise(d, scaling, vectors);
      for (let m = 0; m < d; m++) {
        if (!(scaling[d * m + m]! > 0)) continue;
        mode.fill(0);
        for (let i = 0; i < d; i++) addMode(mode, vectors[d * i + m]!, u, i, beta, i);
        modes.push(measure * scaling[d * m + m]!, mode);
      }
      for (let i = 0; i < d; i++) {
        for (let j = i + 1; j < d; j++) {
          const flip = material.flip(s, i, j);
          const twist = material.twist(s, i, j);
          for (let sign = 1; sign >= -1; sign -= 2) {
            const eigenvalue = sign > 0 ? flip : twist;
            if (!(eigenvalue > 0)) continue;
            mode.fill(0);
            addMode(mode, Math.SQRT1_2, u, i, beta, j);
            addMode(mode, sign * Math.SQRT1_2, u, j, beta, i);
            modes.push(measure * eigenvalue, mode);
          }
        }
        if (d === 3) continue;
        const normal = material.normal(s, i);
        if (!(normal > 0)) continue;
        mode.fill(0);
        addMode(mode, 1, u, 2, beta, i);
        modes.push(measure * normal, mode);
      }
      modes.addTo(blocks, e);
    }
  }

  /** beta_ik = v_i · b_k */
  #project(e: number, { v }: Decomposition, beta: Float64Array): void {
    const d = this.#d;
    const n = d + 1;
    for (let i = 0; i < d; i++) {
      for (let k = 0; k < n; k++) {
        let sum = 0;
        for (let j = 0; j < d; j++) sum += v[d * i + j]! * this.#gradients[(e * n + k) * d + j]!;
        beta[n * i + k] = sum;
      }
    }
  }

  /** F, 3 × d, row by row. */
  #deformation(e: number, x: Float64Array, f: Float64Array): void {
    const d = this.#d;
    f.fill(0);
    for (let k = 0; k <= d; k++) {
      const at = e * (d + 1) + k;
      const vertex = 3 * this.stencils[at]!;
      for (let j = 0; j < d; j++) {
        const b = this.#gradients[at * d + j]!;
        for (let c = 0; c < 3; c++) f[d * c + j]! += x[vertex + c]! * b;
      }
    }
  }
}

/** mode_k += a·u_i·β_jk for every corner k */
function addMode(mode: Float64Array, a: number, u: Float64Array, i: number, beta: Float64Array, j: number): void {
  const n = mode.length / 3;
  for (let k = 0; k < n; k++) {
    const weight = a * beta[n * j + k]!;
    for (let c = 0; c < 3; c++) mode[3 * k + c]! += weight * u[3 * i + c]!;
  }
}

interface RestShape {
  /** area or signed volume */
  readonly measure: number;
  /** the inverse of the matrix whose columns are the edges from corner 0 */
  readonly inverse: readonly number[];
}

/** Returns the edges of a triangle in a frame of its own plane. */
function flatten(edges: Float64Array): RestShape {
  const length = Math.hypot(edges[0]!, edges[1]!, edges[2]!);
  const along = (edges[0]! * edges[3]! + edges[1]! * edges[4]! + edges[2]! * edges[5]!) / length;
  const across =
    Math.hypot(
      edges[1]! * edges[5]! - edges[2]! * edges[4]!,
      edges[2]! * edges[3]! - edges[0]! * edges[5]!,
      edges[0]! * edges[4]! - edges[1]! * edges[3]!,
    ) / length;
  return { measure: (length * across) / 2, inverse: [1 / length, -along / (length * across), 0, 1 / across] };
}

/** Edges are rows here, so the cofactors are transposed: row k of the inverse belongs to edge k. */
function invert(e: Float64Array): RestShape {
  const cross = (i: number, j: number): number[] => [
    e[3 * i + 1]! * e[3 * j + 2]! - e[3 * i + 2]! * e[3 * j + 1]!,
    e[3 * i + 2]! * e[3 * j]! - e[3 * i]! * e[3 * j + 2]!,
    e[3 * i]! * e[3 * j + 1]! - e[3 * i + 1]! * e[3 * j]!,
  ];
  const rows = [cross(1, 2), cross(2, 0), cross(0, 1)];
  const determinant = e[0]! * rows[0]![0]! + e[1]! * rows[0]![1]! + e[2]! * rows[0]![2]!;
  return { measure: determinant / 6, inverse: rows.flat().map((value) => value / determinant) };
}
