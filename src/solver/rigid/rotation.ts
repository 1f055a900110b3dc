/** Three components; lengths in engine units, angles in radians. */
export type Vector = readonly [number, number, number];

/** A rotation, row by row. */
export type Rotation = readonly [number, number, number, number, number, number, number, number, number];

export const NO_ROTATION: Rotation = [1, 0, 0, 0, 1, 0, 0, 0, 1];

/** R w */
export function turn(r: Rotation, [x, y, z]: Vector): Vector {
  return [r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z, r[6] * x + r[7] * y + r[8] * z];
}

/** A B */
export function compose(a: Rotation, b: Rotation): Rotation {
  const row = (i: number): Vector => [
    a[i] * b[0] + a[i + 1] * b[3] + a[i + 2] * b[6],
    a[i] * b[1] + a[i + 1] * b[4] + a[i + 2] * b[7],
    a[i] * b[2] + a[i + 1] * b[5] + a[i + 2] * b[8],
  ];
  return [...row(0), ...row(3), ...row(6)];
}

/** exp(ω): the rotation about the axis ω by |ω|, by the unit quaternion, so that R is orthogonal to a few 2⁻⁵³. */
export function rotationOf([x, y, z]: Vector): Rotation {
  const angle = Math.sqrt(x * x + y * y + z * z);
  // sin(θ/2)/θ; its limit is 1/2, and 1/2 is correct to a rounding below 1e-8.
  const s = angle > 1e-8 ? Math.sin(angle / 2) / angle : 0.5;
  const w = Math.cos(angle / 2);
  const norm = Math.sqrt(w * w + s * s * angle * angle);
  const [a, b, c, d] = [w / norm, (s * x) / norm, (s * y) / norm, (s * z) / norm];
  return [
    ...[1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)],
    ...[2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)],
    ...[2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)],
  ] as unknown as Rotation;
}

/**
 * Returns the rotation vector ω, |ω| ≤ π, that minimises Σ |exp(ω) p_k − q_k|² (Horn, Closed-form solution of absolute
 * orientation using unit quaternions, 1987): the eigenvector of the largest eigenvalue of a symmetric 4 × 4 matrix. It
 * is a rotation by construction, never a reflection.
 *
 * @param s Σ p qᵀ, row by row
 * @param size Σ |p| |q| or more: a share of 1e-9 of it is added along the diagonal, so that points on a line, for which
 *   the angle about the line is undetermined, are turned by the smallest angle
 */
export function fitRotation(s: ArrayLike<number>, size: number): Vector {
  const bias = 1e-9 * size;
  const [xx, xy, xz] = [s[0] + bias, s[1], s[2]];
  const [yx, yy, yz] = [s[3], s[4] + bias, s[5]];
  const [zx, zy, zz] = [s[6], s[7], s[8] + bias];
  const [w, x, y, z] = largestEigenvector([
    [xx + yy + zz, yz - zy, zx - xz, xy - yx],
    [yz - zy, xx - yy - zz, xy + yx, zx + xz],
    [zx - xz, xy + yx, yy - xx - zz, yz + zy],
    [xy - yx, zx + xz, yz + zy, zz - xx - yy],
  ]);
  const sign = w < 0 ? -1 : 1;
  const sine = Math.sqrt(x * x + y * y + z * z);
  if (sine === 0) return [0, 0, 0];
  const scale = (sign * 2 * Math.atan2(sine, Math.abs(w))) / sine;
  return [scale * x, scale * y, scale * z];
}

/** Cyclic Jacobi rotations: four unknowns converge to rounding in a handful of sweeps. */
function largestEigenvector(a: number[][]): readonly [number, number, number, number] {
  const v = [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 32; sweep++) {
    let off = 0;
    let diagonal = 0;
    for (let i = 0; i < 4; i++) {
      diagonal += a[i][i] ** 2;
      for (let j = i + 1; j < 4; j++) off += a[i][j] ** 2;
    }
    if (off <= 1e-32 * diagonal) break;
    for (let p = 0; p < 3; p++) for (let q = p + 1; q < 4; q++) rotateOut(a, v, p, q);
  }
  let best = 0;
  for (let i = 1; i < 4; i++) if (a[i][i] > a[best][best]) best = i;
  return [v[0][best], v[1][best], v[2][best], v[3][best]];
}

function rotateOut(a: number[][], v: number[][], p: number, q: number): void {
  const off = a[p][q];
  if (off === 0) return;
  const theta = (a[q][q] - a[p][p]) / (2 * off);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < 4; k++) {
    const [kp, kq] = [a[k][p], a[k][q]];
    a[k][p] = c * kp - s * kq;
    a[k][q] = s * kp + c * kq;
  }
  for (let k = 0; k < 4; k++) {
    const [pk, qk] = [a[p][k], a[q][k]];
    a[p][k] = c * pk - s * qk;
    a[q][k] = s * pk + c * qk;
    const [vp, vq] = [v[k][p], v[k][q]];
    v[k][p] = c * vp - s * vq;
    v[k][q] = s * vp + c * vq;
  }
}

/**
 * @param m [9] a symmetric, positive semi-definite 3 × 3 matrix
 * @returns its inverse, row by row; undefined if its determinant is not above 0
 */
export function invertSymmetric(m: ArrayLike<number>): Rotation | undefined {
  const [a, b, c, d, e, f] = [m[0], m[1], m[2], m[4], m[5], m[8]];
  const [A, B, C] = [d * f - e * e, c * e - b * f, b * e - c * d];
  const determinant = a * A + b * B + c * C;
  if (!(determinant > 0)) return undefined;
  const [D, E, F] = [a * f - c * c, b * c - a * e, a * d - b * b];
  return [A, B, C, B, D, E, C, E, F].map((x) => x / determinant) as unknown as Rotation;
}
