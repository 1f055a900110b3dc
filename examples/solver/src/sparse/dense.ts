/** Columns that are eliminated before the rest of a front is updated: three rows of so many numbers stay in the cache. */
const PANEL = 48;

/**
 * Eliminates the first columns of a symmetric matrix F, in place: F₁₁ = L₁₁ L₁₁ᵀ, L₂₁ = F₂₁ L₁₁⁻ᵀ, and F₂₂ becomes F₂₂ −
 * L₂₁ L₂₁ᵀ. Only the lower triangle is read; what is above the diagonal of blocks of three is not changed.
 *
 * @param f float64[size²], by rows
 * @param size a multiple of 3
 * @param width columns to eliminate, a multiple of 3
 * @returns −1, or the first column whose pivot is not positive (or not a number); F is then incomplete
 */
export function eliminate(f: Float64Array, size: number, width: number): number {
  for (let begin = 0; begin < width; begin += PANEL) {
    const end = Math.min(width, begin + PANEL);
    const failed = factorPanel(f, size, begin, end);
    if (failed >= 0) return failed;
    update(f, size, begin, end);
  }
  return -1;
}

/** Columns begin ... end − 1, which earlier panels have updated: the factor of their square, and the rows below it. */
function factorPanel(f: Float64Array, size: number, begin: number, end: number): number {
  for (let i = begin; i < size; i++) {
    const row = i * size;
    const last = Math.min(i, end);
    for (let j = begin; j < last; j++) {
      const other = j * size;
      let sum = f[row + j]!;
      for (let k = begin; k < j; k++) sum -= f[row + k]! * f[other + k]!;
      f[row + j] = sum / f[other + j]!;
    }
    if (i >= end) continue;
    let pivot = f[row + i]!;
    for (let k = begin; k < i; k++) pivot -= f[row + k]! ** 2;
    if (!(pivot > 0)) return i;
    f[row + i] = Math.sqrt(pivot);
  }
  return -1;
}

/** Subtracts L Lᵀ of the columns begin ... end − 1 from what follows them, in blocks of 3×3, which fit the registers. */
function update(f: Float64Array, size: number, begin: number, end: number): void {
  for (let i = end; i < size; i += 3) {
    const a = i * size;
    const b = a + size;
    const c = b + size;
    for (let j = end; j <= i; j += 3) {
      let p = j * size + begin;
      let q = p + size;
      let r = q + size;
      let s00 = 0;
      let s01 = 0;
      let s02 = 0;
      let s10 = 0;
      let s11 = 0;
      let s12 = 0;
      let s20 = 0;
      let s21 = 0;
      let s22 = 0;
      for (let k = begin; k < end; k++) {
        const x = f[a + k]!;
        const y = f[b + k]!;
        const z = f[c + k]!;
        const u = f[p++]!;
        const v = f[q++]!;
        const w = f[r++]!;
        s00 += x * u;
        s01 += x * v;
        s02 += x * w;
        s10 += y * u;
        s11 += y * v;
        s12 += y * w;
        s20 += z * u;
        s21 += z * v;
        s22 += z * w;
      }
      f[a + j]! -= s00;
      f[a + j + 1]! -= s01;
      f[a + j + 2]! -= s02;
      f[b + j]! -= s10;
      f[b + j + 1]! -= s11;
      f[b + j + 2]! -= s12;
      f[c + j]! -= s20;
      f[c + j + 1]! -= s21;
      f[c + j + 2]! -= s22;
    }
  }
}
