/** Points as whole numbers: every double is m·2^e, so a few of them over one common power of two are exact integers. */

export type WholePoint = readonly [bigint, bigint, bigint];

const bits = new DataView(new ArrayBuffer(8));

/** [m, e] with x = m·2^e exactly, m an integer of at most 53 bits. */
function decompose(x: number): readonly [bigint, number] {
  if (!Number.isFinite(x)) throw new Error(`${x} has no exact value`);
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  const exponent = (high >>> 20) & 0x7ff;
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4));
  const magnitude = exponent === 0 ? fraction : fraction | (1n << 52n);
  return [high >>> 31 ? -magnitude : magnitude, (exponent === 0 ? 1 : exponent) - 1075];
}

/**
 * @param x [3·V], any scalar: float32 numbers are doubles too
 * @returns the vertices' points, all multiplied by the same power of two; no information is lost
 */
export function toWholePoints(x: ArrayLike<number>, vertices: readonly number[]): WholePoint[] {
  const parts = vertices.flatMap((v) => [0, 1, 2].map((c) => decompose(x[3 * v + c])));
  const least = Math.min(...parts.map(([m, e]) => (m === 0n ? Number.POSITIVE_INFINITY : e)));
  const whole = parts.map(([m, e]) => (m === 0n ? 0n : m << BigInt(e - least)));
  return vertices.map((_, i) => [whole[3 * i], whole[3 * i + 1], whole[3 * i + 2]]);
}

export const subtract = (a: WholePoint, b: WholePoint): WholePoint => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

export const dot = (a: WholePoint, b: WholePoint): bigint => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export const cross = (a: WholePoint, b: WholePoint): WholePoint => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

export const isZero = (a: WholePoint): boolean => a[0] === 0n && a[1] === 0n && a[2] === 0n;

/** Six times the signed volume of the tetrahedron a b c d. */
export const volume = (a: WholePoint, b: WholePoint, c: WholePoint, d: WholePoint): bigint =>
  dot(cross(subtract(b, a), subtract(c, a)), subtract(d, a));
