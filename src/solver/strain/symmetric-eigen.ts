/**
 * Eigenvalues and eigenvectors of a symmetric 3×3 matrix by cyclic Jacobi rotations: C = V diag(values) Vᵀ.
 *
 * A rotation is skipped if its off-diagonal entry is 0, so a 2×2 matrix in the upper left corner, as for a triangle,
 * takes one rotation and is exact up to rounding. Convergence is quadratic; double precision takes at most five rounds.
 *
 * @param c [c00, c11, c22, c01, c02, c12]
 * @param values [3] in no order
 * @param vectors [9] eigenvector i at 3·i; they form a rotation
 */
export function symmetricEigen(c: Float64Array, values: Float64Array, vectors: Float64Array): void {
  for (let k = 0; k < 3; k++) {
    values[k] = c[k]!;
    opposite[k] = c[5 - k]!;
  }
  for (let k = 0; k < 9; k++) vectors[k] = k % 4 === 0 ? 1 : 0;
  let size = 0;
  for (let k = 0; k < 6; k++) size += Math.abs(c[k]!);
  if (c[4] === 0 && c[5] === 0) {
    turnInPlane(c, size, values, vectors);
    return;
  }
  for (let round = 0; round < ROUNDS; round++) {
    const off = Math.abs(opposite[0]!) + Math.abs(opposite[1]!) + Math.abs(opposite[2]!);
    if (off <= ROUNDING * size) break;
    // c01, c02, c12
    for (let k = 2; k >= 0; k--) {
      const entry = opposite[k]!;
      if (entry === 0) continue;
      const i = k === 0 ? 1 : 0;
      const j = k === 2 ? 1 : 2;
      const t = tangent(values[i]!, values[j]!, entry);
      const cos = 1 / Math.sqrt(1 + t * t);
      const sin = t * cos;
      values[i] = values[i]! - t * entry;
      values[j] = values[j]! + t * entry;
      opposite[k] = 0;
      const p = opposite[j]!;
      const q = opposite[i]!;
      opposite[j] = cos * p - sin * q;
      opposite[i] = sin * p + cos * q;
      rotate(vectors, 3 * i, 3 * j, cos, sin);
    }
  }
}

/** The only rotation of a 2×2 matrix in the upper left corner. */
function turnInPlane(c: Float64Array, size: number, values: Float64Array, vectors: Float64Array): void {
  const entry = c[3]!;
  const t = tangentInPlane(c[0]!, c[1]!, entry, size);
  const cos = 1 / Math.sqrt(1 + t * t);
  const sin = t * cos;
  values[0] = c[0]! - t * entry;
  values[1] = c[1]! + t * entry;
  vectors[0] = cos;
  vectors[1] = -sin;
  vectors[3] = sin;
  vectors[4] = cos;
}

/**
 * t = tan φ of the rotation that makes a symmetric 2×2 matrix diagonal: its eigenvalues are c00 − t c01 and c11 + t
 * c01, with the eigenvectors (cos φ, −sin φ) and (sin φ, cos φ).
 *
 * @param size sum of the magnitudes of all entries of the matrix of which this is the upper left corner
 * @returns 0 if the off-diagonal entry is only rounding
 */
export function tangentInPlane(c00: number, c11: number, c01: number, size: number): number {
  return Math.abs(c01) <= ROUNDING * size ? 0 : tangent(c00, c11, c01);
}

/** The off-diagonal entry that has neither row nor column k: c12, c02, c01. */
const opposite = new Float64Array(3);

/** Off-diagonal entries below this share of all entries are rounding. */
const ROUNDING = 2 ** -52;

/** More than double precision takes, so that a NaN also ends. */
const ROUNDS = 12;

/** t = tan φ of the rotation that makes the entry 0, the smaller of the two angles. */
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
