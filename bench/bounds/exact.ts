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

/** n·(x − o) exactly, a multiple of 2⁻²¹⁴⁸; each three doubles. */
export function exactHeight(n: ArrayLike<number>, x: ArrayLike<number>, o: ArrayLike<number>): bigint {
  let sum = 0n;
  for (let c = 0; c < 3; c++) sum += exactly(n[c]!) * (exactly(x[c]!) - exactly(o[c]!));
  return sum;
}
