const bits = new DataView(new ArrayBuffer(4));

/** A float32 number as a whole multiple of 2⁻¹⁴⁹, which every one is. */
export function toUnits(value: number): bigint {
  bits.setFloat32(0, value);
  const word = bits.getUint32(0);
  const exponent = (word >>> 23) & 0xff;
  if (Math.fround(value) !== value || exponent === 0xff) throw new Error(`${value} is not a finite float32 number.`);
  const mantissa = word & 0x7fffff;
  const magnitude = exponent === 0 ? BigInt(mantissa) : BigInt(mantissa | 0x800000) << BigInt(exponent - 1);
  return word >>> 31 ? -magnitude : magnitude;
}

/** Products of two float32 numbers are whole multiples of 2⁻²⁹⁸; this brings a float32 number to that unit. */
export function toProductUnits(value: number): bigint {
  return toUnits(value) << 149n;
}

/** n·(x_v − x_o) exactly, as a multiple of 2⁻²⁹⁸; all inputs float32. */
export function exactHeight(x: Float32Array, v: number, o: number, normal: ArrayLike<number>): bigint {
  let sum = 0n;
  for (let c = 0; c < 3; c++) sum += toUnits(normal[c]) * (toUnits(x[3 * v + c]) - toUnits(x[3 * o + c]));
  return sum;
}

/** min over a − max over b of the exact heights along n, in product units: > 0 iff n separates the hulls strictly. */
export function exactGap(
  x: Float32Array,
  a: readonly number[],
  b: readonly number[],
  normal: ArrayLike<number>,
): bigint {
  const height = (v: number): bigint => exactHeight(x, v, a[0], normal);
  const lo = a.map(height).reduce((p, q) => (q < p ? q : p));
  const hi = b.map(height).reduce((p, q) => (q > p ? q : p));
  return lo - hi;
}
