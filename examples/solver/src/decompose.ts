/** Sweeps of Jacobi rotations: each squares the off-diagonal part; a 3×3 matrix of doubles is diagonal after five. */
const MAX_SWEEPS = 12;

/**
 * Eigenvalues and eigenvectors of a symmetric matrix by Jacobi rotations.
 * @param a float64[d·d], destroyed: ends with the eigenvalues on its diagonal
 * @param v float64[d·d], receives a rotation whose column i is the eigenvector of eigenvalue i
 */
export function diagonalise(d: number, a: Float64Array, v: Float64Array): void {
  v.fill(0, 0, d * d);
  for (let i = 0; i < d; i++) v[d * i + i] = 1;
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    let isDiagonal = true;
    for (let p = 0; p < d; p++) {
      for (let q = p + 1; q < d; q++) {
        const off = a[d * p + q]!;
        if (Math.abs(off) <= Number.EPSILON * Math.sqrt(Math.abs(a[d * p + p]! * a[d * q + q]!))) continue;
        isDiagonal = false;
        const theta = (a[d * q + q]! - a[d * p + p]!) / (2 * off);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        rotate(d, a, v, p, q, c, t * c);
      }
    }
    if (isDiagonal) return;
  }
}

/** a ← Jᵀ·a·J and v ← v·J for the rotation J in the plane of p and q that makes a_pq zero. */
function rotate(d: number, a: Float64Array, v: Float64Array, p: number, q: number, c: number, s: number): void {
  for (let k = 0; k < d; k++) {
    const [x, y] = [a[d * k + p]!, a[d * k + q]!];
    a[d * k + p] = c * x - s * y;
    a[d * k + q] = s * x + c * y;
    const [u, w] = [v[d * k + p]!, v[d * k + q]!];
    v[d * k + p] = c * u - s * w;
    v[d * k + q] = s * u + c * w;
  }
  for (let k = 0; k < d; k++) {
    const [x, y] = [a[d * p + k]!, a[d * q + k]!];
    a[d * p + k] = c * x - s * y;
    a[d * q + k] = s * x + c * y;
  }
  a[d * p + q] = 0;
  a[d * q + p] = 0;
}

/** F = Σ_i σ_i u_i ⊗ v_i. */
export interface Decomposition {
  /** float64[9]: u_1, u_2, u_3, a right-handed orthonormal frame, one after the other */
  readonly u: Float64Array;
  /** float64[d] in descending order; for a solid the last one is negative if the element is inverted */
  readonly s: Float64Array;
  /** float64[d·d]: v_1 … v_d one after the other, a rotation */
  readonly v: Float64Array;
}

export const makeDecomposition = (d: number): Decomposition => ({
  u: new Float64Array(9),
  s: new Float64Array(d),
  v: new Float64Array(d * d),
});

const scratch = { a: new Float64Array(9), v: new Float64Array(9), order: new Uint8Array(3) };

/**
 * Computes the singular values of a deformation gradient.
 * @param f float64[3·d], row by row: 3 × 2 for a membrane, 3 × 3 for a solid
 */
export function decompose(d: number, f: Float64Array, out: Decomposition): void {
  const { a, v, order } = scratch;
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < d; j++) a[d * i + j] = f[i]! * f[j]! + f[d + i]! * f[d + j]! + f[2 * d + i]! * f[2 * d + j]!;
  }
  diagonalise(d, a, v);
  sortDescending(d, a, order);
  for (let i = 0; i < d; i++) for (let k = 0; k < d; k++) out.v[d * i + k] = v[d * k + order[i]!]!;
  // A permutation may have turned the rotation into a reflection.
  if (determinant(d, out.v) < 0) for (let k = 0; k < d; k++) out.v[d * (d - 1) + k]! *= -1;
  const { u, s } = out;
  for (let i = 0; i < d; i++) {
    for (let k = 0; k < 3; k++) {
      let sum = 0;
      for (let j = 0; j < d; j++) sum += f[d * k + j]! * out.v[d * i + j]!;
      u[3 * i + k] = sum;
    }
  }
  s[0] = normaliseOrChoose(u, 0, () => [1, 0, 0]);
  removeComponent(u, 3, 0);
  s[1] = normaliseOrChoose(u, 3, perpendicularTo);
  const [x, y, z] = crossOf(u);
  if (d === 3) s[2] = u[6]! * x + u[7]! * y + u[8]! * z;
  u.set([x, y, z], 6);
}

/** order[0 … d − 1]: the diagonal entries of a from the largest to the smallest */
function sortDescending(d: number, a: Float64Array, order: Uint8Array): void {
  for (let i = 0; i < d; i++) {
    let at = i;
    for (; at > 0 && a[(d + 1) * order[at - 1]!]! < a[(d + 1) * i]!; at--) order[at] = order[at - 1]!;
    order[at] = i;
  }
}

const determinant = (d: number, m: Float64Array): number =>
  d === 2
    ? m[0]! * m[3]! - m[1]! * m[2]!
    : m[0]! * (m[4]! * m[8]! - m[5]! * m[7]!) -
      m[1]! * (m[3]! * m[8]! - m[5]! * m[6]!) +
      m[2]! * (m[3]! * m[7]! - m[4]! * m[6]!);

const crossOf = (u: Float64Array): [number, number, number] => [
  u[1]! * u[5]! - u[2]! * u[4]!,
  u[2]! * u[3]! - u[0]! * u[5]!,
  u[0]! * u[4]! - u[1]! * u[3]!,
];

function removeComponent(u: Float64Array, at: number, along: number): void {
  const share = u[at]! * u[along]! + u[at + 1]! * u[along + 1]! + u[at + 2]! * u[along + 2]!;
  for (let k = 0; k < 3; k++) u[at + k]! -= share * u[along + k]!;
}

/** Makes a vector a unit vector and returns its length; a vector without direction becomes `otherwise`. */
function normaliseOrChoose(u: Float64Array, at: number, otherwise: (u: Float64Array) => readonly number[]): number {
  const length = Math.hypot(u[at]!, u[at + 1]!, u[at + 2]!);
  if (length > Number.MIN_VALUE) for (let k = 0; k < 3; k++) u[at + k]! /= length;
  else u.set(otherwise(u), at);
  return length;
}

function perpendicularTo(u: Float64Array): number[] {
  const [x, y, z] = [u[0]!, u[1]!, u[2]!];
  const other = Math.abs(x) < 0.6 ? [0, -z, y] : [z, 0, -x];
  const length = Math.hypot(...other);
  return other.map((value) => value / length);
}
