// Eigenvalues and eigenvectors of a symmetric 3×3 matrix by cyclic Jacobi rotations, in float32; mirrors symmetricEigen
// (src/solver/strain/symmetric-eigen.ts). Five rounds suffice for float32 (convergence is quadratic); one to spare.
struct Eigen {
  // in no order
  values: vec3f,
  // columns; a rotation
  vectors: mat3x3f,
}

const ROUNDS: u32 = 6u;
// Entries off the diagonal below this share of all are rounding.
const EIGEN_ROUNDING: f32 = 3e-8;

// off: the entry that has neither row nor column k: c12, c02, c01
fn eigenOf(diagonal: vec3f, off: vec3f) -> Eigen {
  var values = diagonal;
  var opposite = off;
  var vectors = mat3x3f(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), vec3f(0.0, 0.0, 1.0));
  let size = abs(diagonal) + 2.0 * abs(off);
  let small = EIGEN_ROUNDING * (size.x + size.y + size.z);
  for (var turn = 0u; turn < 3u * ROUNDS; turn++) {
    if (all(abs(opposite) <= vec3f(small))) {
      break;
    }
    // c01, c02, c12
    let k = 2u - turn % 3u;
    let entry = opposite[k];
    if (abs(entry) <= small) {
      continue;
    }
    let i = select(0u, 1u, k == 0u);
    let j = select(2u, 1u, k == 2u);
    // No quotient is above 1/EIGEN_ROUNDING.
    let theta = (values[j] - values[i]) / (2.0 * entry);
    let t = select(1.0, -1.0, theta < 0.0) / (abs(theta) + sqrt(1.0 + theta * theta));
    let c = 1.0 / sqrt(1.0 + t * t);
    let s = t * c;
    values[i] -= t * entry;
    values[j] += t * entry;
    let p = opposite[j];
    let q = opposite[i];
    opposite[k] = 0.0;
    opposite[j] = c * p - s * q;
    opposite[i] = s * p + c * q;
    let v = vectors[i];
    let w = vectors[j];
    vectors[i] = c * v - s * w;
    vectors[j] = s * v + c * w;
  }
  return Eigen(values, vectors);
}
