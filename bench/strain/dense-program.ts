/**
 * Finds the nearest position of a small sheet within strain limits, by a dense interior-point method: the semidefinite
 * program of the strain limiting paper (Eqs. 18, 20), all elements at once, to high precision.
 *
 *   min ½ Σ |y − y*|²   so that   [Γ I, F; Fᵀ, Γ I] ⪰ 0   and   ½ (RᵀF + FᵀR) ⪰ γ I   for each triangle
 *
 * The first is Γ² I − FᵀF ⪰ 0 (Schur complement). Newton's method on t · objective − Σ log det, with increasing t; the
 * duality gap is the number of rows, 4 per triangle, over t. Then R becomes the rotation of the solution, until it no
 * longer changes. It shares no code with the solver.
 */
export interface DenseProgram {
  /** [2·V] rest positions in the plane; the caller's y* and start are in space */
  readonly rest: ArrayLike<number>;
  readonly triangles: ArrayLike<number>;
  readonly least: number;
  readonly most: number;
}

/**
 * Duality gap, the square of the unit of the positions: the optimum is then known to its root, a thousandth of any
 * tolerance here.
 */
const GAP = 1e-9;
/**
 * Largest number of updates of R, and the motion, unit of the positions, below which another update would not affect
 * any comparison.
 */
const ROTATIONS = 20;
const SETTLED = 1e-7;
/** Newton decrement, no unit: the barrier's value is then within half of it of its minimum. */
const CENTRED = 1e-10;
/** Share of a Newton step below which doubles cannot resolve a decrease. */
const SHORTEST = 1e-12;

/** @param target [3·V] y*; unit masses. @returns [3·V] */
export function solveDense(program: DenseProgram, target: ArrayLike<number>): Float64Array {
  const { rest } = program;
  const vertices = target.length / 3;
  // The rest shape is strictly inside for R = its plane.
  let y = Float64Array.from({ length: 3 * vertices }, (_, k) =>
    k % 3 === 2 ? 0 : rest[2 * Math.floor(k / 3) + (k % 3)]!,
  );
  const elements = elementsOf(program);
  for (let n = 0; n < ROTATIONS; n++) {
    const next = nearest(program, elements, y, target);
    let change = 0;
    next.forEach((value, k) => {
      change = Math.max(change, Math.abs(value - y[k]!));
    });
    y = next;
    for (const element of elements) element.frame = rotationOf(deform(element, y));
    if (change < SETTLED) break;
  }
  return y;
}

/** 3×2 by columns: c·3 + r. */
type Matrix = number[];

interface Element {
  readonly corners: readonly [number, number, number];
  /** b_k of the three corners, two coordinates each */
  readonly b: readonly (readonly [number, number])[];
  frame: Matrix;
}

function elementsOf({ rest, triangles }: DenseProgram): Element[] {
  return Array.from({ length: triangles.length / 3 }, (_, e) => {
    const corners = [triangles[3 * e]!, triangles[3 * e + 1]!, triangles[3 * e + 2]!] as const;
    const [p, q] = [1, 2].map((k) => [0, 1].map((c) => rest[2 * corners[k]! + c]! - rest[2 * corners[0] + c]!));
    const det = p![0]! * q![1]! - p![1]! * q![0]!;
    const b1 = [q![1]! / det, -q![0]! / det] as const;
    const b2 = [-p![1]! / det, p![0]! / det] as const;
    return { corners, b: [[-b1[0] - b2[0], -b1[1] - b2[1]], b1, b2], frame: [1, 0, 0, 0, 1, 0] };
  });
}

function deform({ corners, b }: Element, y: ArrayLike<number>): Matrix {
  const f = [0, 0, 0, 0, 0, 0];
  corners.forEach((v, k) => {
    for (let c = 0; c < 2; c++) for (let r = 0; r < 3; r++) f[3 * c + r]! += y[3 * v + r]! * b[k]![c]!;
  });
  return f;
}

const dot = (a: Matrix, i: number, b: Matrix, j: number): number =>
  a[3 * i]! * b[3 * j]! + a[3 * i + 1]! * b[3 * j + 1]! + a[3 * i + 2]! * b[3 * j + 2]!;

/** F (FᵀF)^(−1/2), with the square root of a 2×2 matrix: (C + √det I) / √(tr C + 2 √det). */
function rotationOf(f: Matrix): Matrix {
  const [a, b, d] = [dot(f, 0, f, 0), dot(f, 0, f, 1), dot(f, 1, f, 1)];
  const s = Math.sqrt(a * d - b * b);
  const t = Math.sqrt(a + d + 2 * s);
  const inverse = [(d + s) / (s * t), -b / (s * t), (a + s) / (s * t)] as const;
  return times(f, inverse);
}

/** M times a symmetric 2×2 matrix [00, 01, 11]. */
function times(m: Matrix, [a, b, d]: readonly [number, number, number]): Matrix {
  return [0, 1, 2, 3, 4, 5].map((k) => (k < 3 ? m[k]! * a + m[k + 3]! * b : m[k - 3]! * b + m[k]! * d));
}

/** Both symmetric matrices that must be positive definite, as [00, 01, 11]. */
function slacks({ least, most }: DenseProgram, frame: Matrix, f: Matrix) {
  const upper = [most * most - dot(f, 0, f, 0), -dot(f, 0, f, 1), most * most - dot(f, 1, f, 1)] as const;
  const lower = [
    dot(frame, 0, f, 0) - least,
    (dot(frame, 0, f, 1) + dot(frame, 1, f, 0)) / 2,
    dot(frame, 1, f, 1) - least,
  ] as const;
  return { upper, lower };
}

type Symmetric = readonly [number, number, number];
const det = ([a, b, d]: Symmetric): number => a * d - b * b;
const invert = (m: Symmetric): Symmetric => [m[2] / det(m), -m[1] / det(m), m[0] / det(m)];
const isPositive = (m: Symmetric): boolean => m[0] > 0 && det(m) > 0;
/** N X N of symmetric matrices */
function sandwich([a, b, d]: Symmetric, [x, y, z]: Symmetric): Symmetric {
  return [
    a * a * x + 2 * a * b * y + b * b * z,
    a * b * x + (a * d + b * b) * y + b * d * z,
    b * b * x + 2 * b * d * y + d * d * z,
  ];
}

function valueAt(
  program: DenseProgram,
  elements: readonly Element[],
  y: Float64Array,
  target: ArrayLike<number>,
  t: number,
) {
  let sum = 0;
  for (let k = 0; k < y.length; k++) sum += (t / 2) * (y[k]! - target[k]!) ** 2;
  for (const element of elements) {
    const { upper, lower } = slacks(program, element.frame, deform(element, y));
    if (!isPositive(upper) || !isPositive(lower)) return Number.POSITIVE_INFINITY;
    sum -= Math.log(det(upper)) + Math.log(det(lower));
  }
  return sum;
}

function nearest(program: DenseProgram, elements: readonly Element[], start: Float64Array, target: ArrayLike<number>) {
  const n = start.length;
  let y = start.slice();
  for (let t = 1; (4 * elements.length) / t > GAP; t *= 8) {
    for (let step = 0; step < 60; step++) {
      const gradient = new Float64Array(n);
      const hessian = Array.from({ length: n }, () => new Float64Array(n));
      for (let k = 0; k < n; k++) {
        gradient[k] = t * (y[k]! - target[k]!);
        hessian[k]![k] = t;
      }
      for (const element of elements) addBarrier(program, element, y, gradient, hessian);
      const direction = solve(hessian, gradient);
      const decrement = direction.reduce((sum, d, k) => sum + d * gradient[k]!, 0);
      if (decrement < CENTRED) break;
      const before = valueAt(program, elements, y, target, t);
      let share = 1;
      const moved = () => y.map((value, k) => value - share * direction[k]!);
      while (share > SHORTEST && !(valueAt(program, elements, moved(), target, t) <= before - 0.1 * share * decrement))
        share /= 2;
      if (share <= SHORTEST) break;
      y = moved();
    }
  }
  return y;
}

function addBarrier(
  program: DenseProgram,
  element: Element,
  y: Float64Array,
  gradient: Float64Array,
  hessian: Float64Array[],
) {
  const { corners, b, frame } = element;
  const f = deform(element, y);
  const { upper, lower } = slacks(program, frame, f);
  const [n, s] = [invert(upper), invert(lower)];
  const g = times(f, n).map((value, k) => 2 * value - times(frame, s)[k]!);
  corners.forEach((v, k) => {
    for (let r = 0; r < 3; r++) gradient[3 * v + r]! += g[r]! * b[k]![0] + g[3 + r]! * b[k]![1];
  });
  // One direction dF at a time.
  for (let i = 0; i < 6; i++) {
    const d: Matrix = [0, 0, 0, 0, 0, 0];
    d[i] = 1;
    const both: Symmetric = [2 * dot(d, 0, f, 0), dot(d, 0, f, 1) + dot(d, 1, f, 0), 2 * dot(d, 1, f, 1)];
    const part: Symmetric = [dot(frame, 0, d, 0), (dot(frame, 0, d, 1) + dot(frame, 1, d, 0)) / 2, dot(frame, 1, d, 1)];
    const [a, c, e] = [times(d, n), times(f, sandwich(n, both)), times(frame, sandwich(s, part))];
    const change = a.map((value, k) => 2 * value + 2 * c[k]! + e[k]!);
    for (let k = 0; k < 3; k++) {
      const row = hessian[3 * corners[k]! + (i % 3)]!;
      const share = b[k]![i < 3 ? 0 : 1];
      for (let m = 0; m < 3; m++) {
        for (let r = 0; r < 3; r++)
          row[3 * corners[m]! + r]! += share * (change[r]! * b[m]![0] + change[3 + r]! * b[m]![1]);
      }
    }
  }
}

/** Cholesky; overwrites the matrix. */
function solve(a: Float64Array[], right: Float64Array): Float64Array {
  const n = right.length;
  const x = right.slice();
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = a[i]![j]!;
      for (let k = 0; k < j; k++) sum -= a[i]![k]! * a[j]![k]!;
      a[i]![j] = i === j ? Math.sqrt(sum) : sum / a[j]![j]!;
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i]! -= a[i]![k]! * x[k]!;
    x[i]! /= a[i]![i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i]! -= a[k]![i]! * x[k]!;
    x[i]! /= a[i]![i]!;
  }
  return x;
}
