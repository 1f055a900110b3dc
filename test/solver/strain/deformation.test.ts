import t from 'tap';
import { readStrainShapes } from '../../../src/mesh/strain.js';
import { deformationGradient, polarRotation, principalStrains } from '../../../src/solver/strain/deformation.js';
import { symmetricEigen } from '../../../src/solver/strain/symmetric-eigen.js';
import { type Random, seeded } from '../../support/random.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

/** A random rotation, by columns: the orthonormal frame of three random vectors. */
function rotation(random: Random): number[] {
  const draw = () => [0, 1, 2].map(() => random.between(-1, 1));
  const unit = (v: number[]) => v.map((c) => c / Math.hypot(...v));
  const a = unit(draw());
  const across = (v: number[]) => {
    const along = v[0]! * a[0]! + v[1]! * a[1]! + v[2]! * a[2]!;
    return unit(v.map((c, k) => c - along * a[k]!));
  };
  // Once would leave an error that is larger the nearer the two vectors are to one line.
  const b = across(across(draw()));
  const c = [a[1]! * b[2]! - a[2]! * b[1]!, a[2]! * b[0]! - a[0]! * b[2]!, a[0]! * b[1]! - a[1]! * b[0]!];
  return [...a, ...b, ...c];
}

/** U diag(s) Vᵀ by columns. */
function compose(u: readonly number[], s: readonly number[], v: readonly number[]): Float64Array {
  const f = new Float64Array(9);
  for (let c = 0; c < 3; c++) {
    for (let r = 0; r < 3; r++) for (let i = 0; i < 3; i++) f[3 * c + r]! += u[3 * i + r]! * s[i]! * v[3 * i + c]!;
  }
  return f;
}

t.test('eigenvalues and vectors of symmetric matrices, including those with equal values', (t) => {
  let worst = 0;
  for (let n = 0; n < 2000; n++) {
    const v = rotation(random);
    const d = [random.between(-2, 2), random.between(-2, 2), n % 3 === 0 ? 1 : random.between(-1e-6, 1e6)];
    if (n % 5 === 0) d[1] = d[0]!;
    const m = compose(v, d, v);
    const values = new Float64Array(3);
    const vectors = new Float64Array(9);
    symmetricEigen(Float64Array.of(m[0]!, m[4]!, m[8]!, m[3]!, m[6]!, m[7]!), values, vectors);
    const scale = Math.max(...d.map(Math.abs));
    const sorted = [...values].sort((a, b) => a - b);
    d.sort((a, b) => a - b).forEach((value, i) => {
      worst = Math.max(worst, Math.abs(value - sorted[i]!) / scale);
    });
    // V diag V^T is the matrix again.
    compose([...vectors], [...values], [...vectors]).forEach((value, k) => {
      worst = Math.max(worst, Math.abs(value - m[k]!) / scale);
    });
  }
  t.ok(worst < 1e-14, `${worst}`);
  t.end();
});

t.test('principal strains of known matrices, in double precision and from float32 positions', (t) => {
  let worst = 0;
  let worstSingle = 0;
  for (let n = 0; n < 2000; n++) {
    const s = [random.between(0.5, 2), random.between(0.01, 2), random.between(0.5, 2)];
    const f = compose(rotation(random), s, rotation(random));
    const sorted = [...s].sort((a, b) => a - b);
    for (const [matrix, mark] of [
      [f, false],
      [Float64Array.from(f, Math.fround), true],
    ] as const) {
      const { least, most } = principalStrains(matrix, false);
      const error = Math.max(Math.abs(least - sorted[0]!), Math.abs(most - sorted[2]!));
      if (mark) worstSingle = Math.max(worstSingle, error);
      else worst = Math.max(worst, error);
    }
  }
  t.ok(worst < 1e-14, `double: ${worst}`);
  // Each entry is rounded by 2^-24 of at most 2: a matrix of these has a norm of at most 3 * 2^-23.
  t.ok(worstSingle < 3 * 2 ** -23, `single: ${worstSingle}`);
  t.end();
});

t.test('the least strain of an element that is crushed in two directions errs by no more than is claimed', (t) => {
  let [worst, worstOfAll, worstMost] = [0, 0, 0];
  for (let n = 0; n < 20_000; n++) {
    const middle = 10 ** -random.between(0, 14);
    const s = [1, middle, middle * random.between(0, 1)];
    const { least, most } = principalStrains(compose(rotation(random), s, rotation(random)), false);
    const error = Math.abs(Math.abs(least) - s[2]!);
    worst = Math.max(worst, error / (1 + 1 / middle));
    worstOfAll = Math.max(worstOfAll, error);
    worstMost = Math.max(worstMost, Math.abs(most - 1));
  }
  // The matrix itself has an error of a few 2^-53 too. The bound on the quotient implies the one on the error: √8 2^-26.5.
  t.ok(worst < 8 * 2 ** -53, `${worst * 2 ** 53} · 2^-53 / σ_mid`);
  t.ok(worstOfAll < 2 ** -25 && worstOfAll > 2 ** -40, `2^${Math.log2(worstOfAll)}: far more than rounding of 1`);
  t.ok(worstMost < 16 * 2 ** -53, `${worstMost * 2 ** 53} · 2^-53`);
  t.end();
});

t.test('a tetrahedron that is turned inside out has a negative strain, and nevertheless a rotation', (t) => {
  for (let n = 0; n < 200; n++) {
    const u = rotation(random);
    const v = rotation(random);
    const f = compose(u, [1.5, 1.1, -0.4], v);
    const { least, most } = principalStrains(f, false);
    t.ok(Math.abs(least + 0.4) < 1e-13 && Math.abs(most - 1.5) < 1e-13);
    const r = new Float64Array(9);
    t.ok(polarRotation(f, false, 1e-3, r));
    const nearest = compose(u, [1, 1, 1], v);
    t.ok(Math.max(...r.map((value, k) => Math.abs(value - nearest[k]!))) < 1e-12);
  }
  t.end();
});

t.test('a strain has the gradient of finite differences: ∂σ/∂y_k = u (v·b_k)', (t) => {
  const rest = Float64Array.from({ length: 12 }, () => random.between(-1, 1));
  const shapes = readStrainShapes(
    { vertexCount: 4, strainLimits: { rest, max: 2 } },
    new Uint32Array(0),
    Uint32Array.of(0, 1, 2, 3),
  )!;
  const y = rest.map((value, k) => value + 0.2 * Math.sin(7 * k));
  const f = new Float64Array(9);
  const largest = (x: Float64Array) => {
    deformationGradient(x, shapes.corners, shapes.gradients, 0, f);
    return principalStrains(f, false).most;
  };
  const sigma = largest(y);
  const gram = [0, 1, 2].map((i) =>
    [0, 1, 2].map((j) => [0, 1, 2].reduce((sum, r) => sum + f[3 * i + r]! * f[3 * j + r]!, 0)),
  );
  // Power iteration, which shares nothing with Jacobi's method.
  let v = [1, 0.3, -0.2];
  for (let n = 0; n < 500; n++) {
    v = gram.map((row) => row.reduce((sum, g, c) => sum + g * v[c]!, 0));
    v = v.map((value) => value / Math.hypot(...v));
  }
  const u = [0, 1, 2].map((r) => [0, 1, 2].reduce((sum, c) => sum + f[3 * c + r]! * v[c]!, 0) / sigma);
  const weights = [1, 2, 3].map((k) =>
    [0, 1, 2].reduce((sum, c) => sum + v[c]! * shapes.gradients[3 * (k - 1) + c]!, 0),
  );
  weights.unshift(-(weights[0]! + weights[1]! + weights[2]!));
  const h = 1e-6;
  for (let k = 0; k < 12; k++) {
    const [more, less] = [y.slice(), y.slice()];
    more[k]! += h;
    less[k]! -= h;
    const difference = (largest(more) - largest(less)) / (2 * h);
    t.ok(Math.abs(difference - u[k % 3]! * weights[Math.floor(k / 3)]!) < 1e-7, `coordinate ${k}`);
  }
  t.end();
});
