import { orient2d, orient3d } from 'robust-predicates';

/**
 * The range in which the adaptive predicates are exact: they add and multiply three differences without error unless a
 * result over- or underflows. A double of magnitude ≥ 2^-290 is a multiple of 2^-342, so every partial product is a multiple
 * of 2^-1026, which is representable; differences of numbers ≤ 2^300 have products ≤ 2^903. Any float32 is a multiple
 * of 2^-149 and below 2^128, so float32 positions are always in the range.
 */
const SMALLEST_PLAIN = 2 ** -290;
const LARGEST_PLAIN = 2 ** 300;

export function isPlain(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= SMALLEST_PLAIN && size <= LARGEST_PLAIN);
}

export function arePlain(values: ArrayLike<number>): boolean {
  for (let k = 0; k < values.length; k++) if (!isPlain(values[k])) return false;
  return true;
}

/** Sign of the volume of the tetrahedron a b c d, for any finite doubles; 0 = the four points lie in one plane. */
export function signOfVolume(
  ax: number,
  ay: number,
  az: number,
  bx: number,
  by: number,
  bz: number,
  cx: number,
  cy: number,
  cz: number,
  dx: number,
  dy: number,
  dz: number,
  areAllPlain: boolean,
): number {
  if (areAllPlain) return Math.sign(orient3d(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz));
  const [px, py, pz, qx, qy, qz, rx, ry, rz, sx, sy, sz] = toIntegers([
    ...[ax, ay, az, bx, by, bz],
    ...[cx, cy, cz, dx, dy, dz],
  ]);
  const [ux, uy, uz] = [px - sx, py - sy, pz - sz];
  const [vx, vy, vz] = [qx - sx, qy - sy, qz - sz];
  const [wx, wy, wz] = [rx - sx, ry - sy, rz - sz];
  return signOf(ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx));
}

/**
 * Sign of the area of the triangle a b c in the plane, for any finite doubles; 0 = the three points lie on one line.
 */
export function signOfArea(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  areAllPlain: boolean,
): number {
  if (areAllPlain) return Math.sign(orient2d(ax, ay, bx, by, cx, cy));
  const [px, py, qx, qy, rx, ry] = toIntegers([ax, ay, bx, by, cx, cy]);
  // The sign is that of orient2d, which is negative for counter-clockwise points.
  return signOf((py - ry) * (qx - rx) - (px - rx) * (qy - ry));
}

function signOf(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}

const bits = new DataView(new ArrayBuffer(8));

/** All values multiplied by one power of two that makes each of them an integer. */
function toIntegers(values: readonly number[]): bigint[] {
  const mantissas: bigint[] = [];
  const exponents: number[] = [];
  let lowest = Infinity;
  for (const value of values) {
    bits.setFloat64(0, value);
    const word = bits.getBigUint64(0);
    const biased = Number((word >> 52n) & 0x7ffn);
    const fraction = word & 0xfffffffffffffn;
    const size = biased === 0 ? fraction : fraction | 0x10000000000000n;
    const exponent = biased === 0 ? 1 : biased;
    mantissas.push(value < 0 ? -size : size);
    exponents.push(exponent);
    if (size !== 0n && exponent < lowest) lowest = exponent;
  }
  return mantissas.map((mantissa, k) => (mantissa === 0n ? 0n : mantissa << BigInt(exponents[k] - lowest)));
}
