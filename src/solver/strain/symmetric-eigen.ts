/**
 * Eigenvalues and eigenvectors of a symmetric 3×3 matrix by cyclic Jacobi rotations: C = V diag(values) Vᵀ.
 *
 * A rotation is skipped where its off-diagonal entry is 0, so a 2×2 matrix in the upper left corner takes one rotation and is
 * exact to rounding. Convergence is quadratic; double precision takes at most five rounds.
 *
 * @param c [c00, c11, c22, c01, c02, c12]
 * @param values [3] in no order
 * @param vectors [9] eigenvector i at 3·i; they form a rotation
 */
export function symmetricEigen(c: Float64Array, values: Float64Array, vectors: Float64Array): void {
  let a00 = c[0]!;
  let a11 = c[1]!;
  let a22 = c[2]!;
  let a01 = c[3]!;
  let a02 = c[4]!;
  let a12 = c[5]!;
  vectors.fill(0);
  vectors[0] = 1;
  vectors[4] = 1;
  vectors[8] = 1;
  const small =
    ROUNDING * (Math.abs(a00) + Math.abs(a11) + Math.abs(a22) + Math.abs(a01) + Math.abs(a02) + Math.abs(a12));
  for (let round = 0; round < ROUNDS; round++) {
    if (Math.abs(a01) + Math.abs(a02) + Math.abs(a12) <= small) break;
    if (a01 !== 0) {
      const t = tangent(a00, a11, a01);
      const cos = 1 / Math.sqrt(1 + t * t);
      const sin = t * cos;
      a00 -= t * a01;
      a11 += t * a01;
      a01 = 0;
      const p = a02;
      a02 = cos * p - sin * a12;
      a12 = sin * p + cos * a12;
      rotate(vectors, 0, 3, cos, sin);
    }
    if (a02 !== 0) {
      const t = tangent(a00, a22, a02);
      const cos = 1 / Math.sqrt(1 + t * t);
      const sin = t * cos;
      a00 -= t * a02;
      a22 += t * a02;
      a02 = 0;
      const p = a01;
      a01 = cos * p - sin * a12;
      a12 = sin * p + cos * a12;
      rotate(vectors, 0, 6, cos, sin);
    }
    if (a12 !== 0) {
      const t = tangent(a11, a22, a12);
      const cos = 1 / Math.sqrt(1 + t * t);
      const sin = t * cos;
      a11 -= t * a12;
      a22 += t * a12;
      a12 = 0;
      const p = a01;
      a01 = cos * p - sin * a02;
      a02 = sin * p + cos * a02;
      rotate(vectors, 3, 6, cos, sin);
    }
  }
  values[0] = a00;
  values[1] = a11;
  values[2] = a22;
}

/** Off-diagonal entries below this share of all entries are rounding. */
const ROUNDING = 2 ** -52;

/** More than double precision takes, so that a NaN ends as well. */
const ROUNDS = 12;

/** t = tan φ of the rotation that makes the entry 0, the smaller angle of the two. */
function tangent(p: number, q: number, entry: number): number {
  const theta = (q - p) / (2 * entry);
  return Math.abs(theta) > 1e150
    ? 1 / (2 * theta)
    : (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(1 + theta * theta));
}

function rotate(vectors: Float64Array, i: number, j: number, cos: number, sin: number): void {
  for (let k = 0; k < 3; k++) {
    const v = vectors[i + k]!;
    const w = vectors[j + k]!;
    vectors[i + k] = cos * v - sin * w;
    vectors[j + k] = sin * v + cos * w;
  }
}
