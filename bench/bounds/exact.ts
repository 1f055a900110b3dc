/** Exact arithmetic over doubles: each is a whole multiple of the smallest one. */

const word = new DataView(new ArrayBuffer(8));

/** A double as a whole multiple of 2⁻¹⁰⁷⁴. @param value finite */
export function exactly(value: number): bigint {
  word.setFloat64(0, value);
  const bits = word.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const mantissa = bits & 0xfffffffffffffn;
  const magnitude = exponent === 0 ? mantissa : (mantissa | (1n << 52n)) << BigInt(exponent - 1);
  return bits >> 63n ? -magnitude : magnitude;
}

export const ONE = exactly(1);

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

/** |a| / |b| to double precision. @param b not 0 */
export function ratioOf(a: bigint, b: bigint): number {
  const [p, q] = [magnitude(a), magnitude(b)];
  const lengths = p.toString(2).length - q.toString(2).length;
  // 64 significant bits of the quotient.
  const shift = 64 - lengths;
  const quotient = shift >= 0 ? (p << BigInt(shift)) / q : p / (q << BigInt(-shift));
  return Number(quotient) * 2 ** -shift;
}

/** a / b with its sign. @param b above 0 */
export function signedRatioOf(a: bigint, b: bigint): number {
  return a < 0n ? -ratioOf(a, b) : ratioOf(a, b);
}

/** n·(x − o) exactly, a multiple of 2⁻²¹⁴⁸; each three doubles. */
export function exactHeight(n: ArrayLike<number>, x: ArrayLike<number>, o: ArrayLike<number>): bigint {
  let sum = 0n;
  for (let c = 0; c < 3; c++) sum += exactly(n[c]!) * (exactly(x[c]!) - exactly(o[c]!));
  return sum;
}

/** Numbers as integers of one unit, the largest power of two for which none of them loses a bit of its significand. */
export interface Integers {
  readonly values: readonly bigint[];
  /** exponent of the unit, at least −1074 */
  readonly unit: number;
}

/** @param numbers finite */
export function toIntegers(numbers: ArrayLike<number>): Integers {
  let lowest = Number.POSITIVE_INFINITY;
  for (let k = 0; k < numbers.length; k++) {
    word.setFloat64(0, numbers[k]!);
    const exponent = Number((word.getBigUint64(0) >> 52n) & 0x7ffn);
    if (numbers[k] !== 0) lowest = Math.min(lowest, Math.max(exponent - 1, 0));
  }
  const shift = lowest === Number.POSITIVE_INFINITY ? 0 : lowest;
  return { values: Array.from(numbers, (value) => exactly(value) >> BigInt(shift)), unit: shift - 1074 };
}

/** An integer of the unit 2ᵘ as a multiple of 2⁻¹⁰⁷⁴. @param unit u, at least −1074 */
export function inSmallest(value: bigint, unit: number): bigint {
  return value << BigInt(unit + 1074);
}
