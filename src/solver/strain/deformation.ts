import { NO_CORNER } from '../../mesh/strain.js';
import { symmetricEigen } from './symmetric-eigen.js';

/**
 * F = Σ_k y_k b_kᵀ of an element, by columns: F_rc at 3·c + r. The third column of a triangle is 0.
 *
 * @param corners uint32[4·N]
 * @param gradients [9·N] b_1, b_2, b_3, per unit of length of y
 */
export function deformationGradient(
  y: ArrayLike<number>,
  corners: Uint32Array,
  gradients: ArrayLike<number>,
  e: number,
  out: Float64Array,
): void {
  const o = 3 * corners[4 * e]!;
  const ox = y[o]!;
  const oy = y[o + 1]!;
  const oz = y[o + 2]!;
  for (let k = 0; k < 9; k++) out[k] = 0;
  const size = corners[4 * e + 3] === NO_CORNER ? 3 : 4;
  for (let k = 1; k < size; k++) {
    const v = 3 * corners[4 * e + k]!;
    const dx = y[v]! - ox;
    const dy = y[v + 1]! - oy;
    const dz = y[v + 2]! - oz;
    const g = 9 * e + 3 * (k - 1);
    const bx = gradients[g]!;
    const by = gradients[g + 1]!;
    out[0] = out[0]! + dx * bx;
    out[1] = out[1]! + dy * bx;
    out[2] = out[2]! + dz * bx;
    out[3] = out[3]! + dx * by;
    out[4] = out[4]! + dy * by;
    out[5] = out[5]! + dz * by;
    // The b of a triangle has two entries.
    if (size === 3) continue;
    const bz = gradients[g + 2]!;
    out[6] = out[6]! + dx * bz;
    out[7] = out[7]! + dy * bz;
    out[8] = out[8]! + dz * bz;
  }
}

/** Computes FᵀF in the form that symmetricEigen takes. @param f [9] by columns */
export function gramMatrix(f: Float64Array, out: Float64Array): void {
  out[0] = f[0]! * f[0]! + f[1]! * f[1]! + f[2]! * f[2]!;
  out[1] = f[3]! * f[3]! + f[4]! * f[4]! + f[5]! * f[5]!;
  out[2] = f[6]! * f[6]! + f[7]! * f[7]! + f[8]! * f[8]!;
  out[3] = f[0]! * f[3]! + f[1]! * f[4]! + f[2]! * f[5]!;
  out[4] = f[0]! * f[6]! + f[1]! * f[7]! + f[2]! * f[8]!;
  out[5] = f[3]! * f[6]! + f[4]! * f[7]! + f[5]! * f[8]!;
}

export function determinant(f: Float64Array): number {
  return (
    f[0]! * (f[4]! * f[8]! - f[5]! * f[7]!) +
    f[1]! * (f[5]! * f[6]! - f[3]! * f[8]!) +
    f[2]! * (f[3]! * f[7]! - f[4]! * f[6]!)
  );
}

const gram = new Float64Array(6);
const values = new Float64Array(3);
const vectors = new Float64Array(9);

/** F v of a unit vector v. */
function stretchAlong(f: Float64Array, v: Float64Array, at: number): number {
  let squared = 0;
  for (let r = 0; r < 3; r++) squared += (f[r]! * v[at]! + f[3 + r]! * v[at + 1]! + f[6 + r]! * v[at + 2]!) ** 2;
  return Math.sqrt(squared);
}

/**
 * Returns the smallest and the largest principal strain: singular values of F, σ = |F v| with the eigenvectors v of
 * FᵀF. The smallest of a tetrahedron is negative if det F < 0: the element is turned inside out. A triangle in space
 * has no such sign. In a tetrahedron that is crushed to a line or a plane, det F may be rounding alone, and so its sign.
 *
 * In double precision FᵀF errs by a few 2⁻⁵³ σ_most². An eigenvector then contains an error of that over σ_most² of the
 * longest direction, and |F v| one of a few 2⁻⁵³ σ_most. This holds for both strains of a triangle, and for the largest
 * of a tetrahedron. The two smaller directions of a tetrahedron, which are told apart by σ_mid² − σ_least², may be
 * turned into each other; the least then errs by up to c 2⁻⁵³ σ_most²/σ_mid, where c < 8. As it lies between 0 and
 * σ_mid, it errs by no more than σ_mid either. The smaller of the two bounds is largest where they are equal, at σ_mid
 * = √c 2⁻²⁶·⁵ σ_most, so the error is less than √8 2⁻²⁶·⁵ σ_most = 2⁻²⁵ σ_most.
 *
 * @param f [9] by columns
 */
export function principalStrains(
  f: Float64Array,
  isTriangle: boolean,
): { readonly least: number; readonly most: number } {
  gramMatrix(f, gram);
  symmetricEigen(gram, values, vectors);
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < (isTriangle ? 2 : 3); i++) {
    const strain = stretchAlong(f, vectors, 3 * i);
    least = Math.min(least, strain);
    most = Math.max(most, strain);
  }
  return { least: !isTriangle && determinant(f) < 0 ? -least : least, most };
}

/**
 * The rotation R of the polar decomposition F = R S, which is a rotation even if F turns the element inside out: with
 * the singular vectors F v_i = σ_i u_i, R = Σ u_i v_iᵀ, where u of the least σ of a tetrahedron is u_a × u_b of the two
 * others. The R of a triangle has two columns.
 *
 * @param f [9] by columns
 * @param out [9] by columns, R; unchanged if there is none: the second singular value of a triangle, or of a
 *   tetrahedron, is less than `flattest`
 * @returns whether there is one
 */
export function polarRotation(f: Float64Array, isTriangle: boolean, flattest: number, out: Float64Array): boolean {
  gramMatrix(f, gram);
  symmetricEigen(gram, values, vectors);
  // Descending; the third vector of a triangle is e_3, which F maps to 0.
  const order = [0, 1, 2].sort((i, j) => values[j]! - values[i]!);
  const [a, b, c] = isTriangle
    ? values[0]! >= values[1]!
      ? [0, 1, 2]
      : [1, 0, 2]
    : (order as [number, number, number]);
  const u = directionOf(f, a, flattest);
  const w = directionOf(f, b, flattest);
  if (!u || !w) return false;
  out.fill(0);
  addOuter(out, u, 3 * a);
  addOuter(out, w, 3 * b);
  if (isTriangle) return true;
  // V is a rotation, so the sign of the third vector follows from the order of the columns.
  const isEven = (b - a + 3) % 3 === 1;
  const n = isEven ? cross(u, w) : cross(w, u);
  addOuter(out, n, 3 * c);
  return true;
}

type Vector = readonly [number, number, number];

function directionOf(f: Float64Array, i: number, least: number): Vector | undefined {
  const at = 3 * i;
  const p = [0, 1, 2].map((r) => f[r]! * vectors[at]! + f[3 + r]! * vectors[at + 1]! + f[6 + r]! * vectors[at + 2]!);
  const length = Math.hypot(...p);
  return length > least ? [p[0]! / length, p[1]! / length, p[2]! / length] : undefined;
}

/** out += u vᵀ */
function addOuter(out: Float64Array, u: Vector, v: number): void {
  for (let c = 0; c < 3; c++) for (let r = 0; r < 3; r++) out[3 * c + r] = out[3 * c + r]! + u[r]! * vectors[v + c]!;
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
