/** A symmetric positive definite operator on float64[3·V], with its preconditioner. */
export interface LinearOperator {
  multiply(v: Float64Array, out: Float64Array): void;
  /**
   * float64[9·V]: the blocks by which residuals are multiplied, such as the inverses of the operator's diagonal blocks;
   * zero if a vertex is not free
   */
  preconditioner(): Float64Array;
}

export interface SolveSettings {
  /** the residual's preconditioned norm, relative to that of the right-hand side */
  readonly tolerance: number;
  readonly maxIterations: number;
}

export interface SolveResult {
  readonly iterations: number;
  /** the norm reached, relative to that of the right-hand side */
  readonly residual: number;
}

/**
 * Preconditioned conjugate gradients: solves A·p = b for the free vertices; the others keep p = 0.
 *
 * @param isFree uint8[V]
 * @param p initially a guess, whose best multiple is the first iterate; finally the solution
 */
export function conjugateGradients(
  operator: LinearOperator,
  b: Float64Array,
  isFree: Uint8Array,
  p: Float64Array,
  { tolerance, maxIterations }: SolveSettings,
): SolveResult {
  const n = b.length;
  const blocks = operator.preconditioner();
  const [r, z, d, q] = [0, 0, 0, 0].map(() => new Float64Array(n)) as [Float64Array, ...Float64Array[]];
  const scale = precondition(blocks, b, z!);
  if (scale === 0) {
    p.fill(0);
    return { iterations: 0, residual: 0 };
  }
  for (let i = 0; i < n; i++) if (!isFree[Math.floor(i / 3)]) p[i] = 0;
  operator.multiply(p, q!);
  // A guess may strain stiff elements, and be far too long. Among the multiples a·p, a = bᵀp / pᵀA p has the least
  // energy, which is never more than without a guess.
  const resistance = dot(p, q!);
  const share = resistance > 0 ? dot(b, p) / resistance : 0;
  for (let i = 0; i < n; i++) {
    p[i]! *= share;
    r[i] = isFree[Math.floor(i / 3)] ? b[i]! - share * q![i]! : 0;
  }
  let rz = precondition(blocks, r, z!);
  d!.set(z!);
  let iterations = 0;
  while (iterations < maxIterations && rz > tolerance * tolerance * scale) {
    operator.multiply(d!, q!);
    const curvature = dot(d!, q!);
    if (!(curvature > 0)) break; // rounding: the direction has no length left
    const next = advance(p, r, rz / curvature, d!, q!, blocks, z!);
    combine(z!, next / rz, d!);
    rz = next;
    iterations++;
  }
  return { iterations, residual: Math.sqrt(Math.max(0, rz) / scale) };
}

/** p += alpha · d, r −= alpha · q, z = blocks · r, in one pass over memory. @returns rᵀ z */
function advance(
  p: Float64Array,
  r: Float64Array,
  alpha: number,
  d: Float64Array,
  q: Float64Array,
  blocks: Float64Array,
  z: Float64Array,
): number {
  let product = 0;
  for (let i = 0, b = 0; i < r.length; i += 3, b += 9) {
    p[i]! += alpha * d[i]!;
    p[i + 1]! += alpha * d[i + 1]!;
    p[i + 2]! += alpha * d[i + 2]!;
    const x = r[i]! - alpha * q[i]!;
    const y = r[i + 1]! - alpha * q[i + 1]!;
    const w = r[i + 2]! - alpha * q[i + 2]!;
    r[i] = x;
    r[i + 1] = y;
    r[i + 2] = w;
    const u = blocks[b]! * x + blocks[b + 1]! * y + blocks[b + 2]! * w;
    const v = blocks[b + 3]! * x + blocks[b + 4]! * y + blocks[b + 5]! * w;
    const t = blocks[b + 6]! * x + blocks[b + 7]! * y + blocks[b + 8]! * w;
    z[i] = u;
    z[i + 1] = v;
    z[i + 2] = t;
    product += x * u + y * v + w * t;
  }
  return product;
}

/** d = z + factor · d */
function combine(z: Float64Array, factor: number, d: Float64Array): void {
  for (let i = 0; i < d.length; i++) d[i] = z[i]! + factor * d[i]!;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** z = blocks · r. @returns rᵀ z */
function precondition(blocks: Float64Array, r: Float64Array, z: Float64Array): number {
  let product = 0;
  for (let i = 0, b = 0; i < r.length; i += 3, b += 9) {
    const x = r[i]!;
    const y = r[i + 1]!;
    const w = r[i + 2]!;
    const u = blocks[b]! * x + blocks[b + 1]! * y + blocks[b + 2]! * w;
    const v = blocks[b + 3]! * x + blocks[b + 4]! * y + blocks[b + 5]! * w;
    const t = blocks[b + 6]! * x + blocks[b + 7]! * y + blocks[b + 8]! * w;
    z[i] = u;
    z[i + 1] = v;
    z[i + 2] = t;
    product += x * u + y * v + w * t;
  }
  return product;
}

/** Returns the inverse of every symmetric positive definite block, by cofactors; zero for a vertex that is not free. */
export function invertBlocks(blocks: Float64Array, isFree: Uint8Array): Float64Array {
  const out = new Float64Array(blocks.length);
  for (let v = 0; v < isFree.length; v++) {
    if (!isFree[v]) continue;
    const m = 9 * v;
    const a = blocks[m]!;
    const b = blocks[m + 1]!;
    const c = blocks[m + 2]!;
    const d = blocks[m + 4]!;
    const e = blocks[m + 5]!;
    const f = blocks[m + 8]!;
    const A = d * f - e * e;
    const B = c * e - b * f;
    const C = b * e - c * d;
    const determinant = a * A + b * B + c * C;
    out[m] = A / determinant;
    out[m + 1] = out[m + 3] = B / determinant;
    out[m + 2] = out[m + 6] = C / determinant;
    out[m + 4] = (a * f - c * c) / determinant;
    out[m + 5] = out[m + 7] = (b * c - a * e) / determinant;
    out[m + 8] = (a * d - b * b) / determinant;
  }
  return out;
}
