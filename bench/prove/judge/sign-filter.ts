/**
 * Sign of the volume of the tetrahedron of vertices a, b, c, d where floating point can tell, else undefined.
 *
 * Each of the three terms is a product of differences; with u = 2^-53 every difference errs by u of itself, and the
 * nine multiplications and additions after it add up to at most 10 u of the sum of magnitudes (1 + few u). 16 u leaves
 * room, and the least magnitude excludes underflow, where relative bounds do not hold.
 */
export function volumeSign(x: ArrayLike<number>, a: number, b: number, c: number, d: number): number | undefined {
  const [i, j, k, l] = [3 * a, 3 * b, 3 * c, 3 * d];
  const ax = x[j] - x[i];
  const ay = x[j + 1] - x[i + 1];
  const az = x[j + 2] - x[i + 2];
  const bx = x[k] - x[i];
  const by = x[k + 1] - x[i + 1];
  const bz = x[k + 2] - x[i + 2];
  const cx = x[l] - x[i];
  const cy = x[l + 1] - x[i + 1];
  const cz = x[l + 2] - x[i + 2];
  const det = cx * (ay * bz - az * by) + cy * (az * bx - ax * bz) + cz * (ax * by - ay * bx);
  const size =
    Math.abs(cx) * (Math.abs(ay * bz) + Math.abs(az * by)) +
    Math.abs(cy) * (Math.abs(az * bx) + Math.abs(ax * bz)) +
    Math.abs(cz) * (Math.abs(ax * by) + Math.abs(ay * bx));
  if (Math.abs(det) > ROUNDING * size && Math.abs(det) > LEAST) return Math.sign(det);
  return undefined;
}

const ROUNDING = 16 * 2 ** -53;
const LEAST = 1e-250;
