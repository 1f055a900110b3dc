/*
 * Whether two elements have a common point: closed elements, any degeneracy, whole numbers throughout, no rounding, no
 * tolerance. Every double is m·2^e, so several of them over a common power of two are exact integers. An element is
 * given by its one, two or three corners.
 */

export type WholePoint = readonly [bigint, bigint, bigint];

const bits = new DataView(new ArrayBuffer(8));

/** [m, e] with x = m·2^e exactly, m an integer of at most 53 bits. */
function decompose(x: number): readonly [bigint, number] {
  if (!Number.isFinite(x)) throw new Error(`${x} has no exact value.`);
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

const subtract = (a: WholePoint, b: WholePoint): WholePoint => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

const dot = (a: WholePoint, b: WholePoint): bigint => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

const cross = (a: WholePoint, b: WholePoint): WholePoint => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

const isZero = (a: WholePoint): boolean => a[0] === 0n && a[1] === 0n && a[2] === 0n;

/** Six times the signed volume of the tetrahedron a b c d. */
const volume = (a: WholePoint, b: WholePoint, c: WholePoint, d: WholePoint): bigint =>
  dot(cross(subtract(b, a), subtract(c, a)), subtract(d, a));

const sign = (x: bigint): number => (x > 0n ? 1 : x < 0n ? -1 : 0);

/** The sign of the volume of a tetrahedron. @param x [3·V] @param corners four vertices */
export function signOfVolume(x: ArrayLike<number>, corners: readonly number[]): number {
  const [a, b, c, d] = toWholePoints(x, corners);
  return sign(volume(a, b, c, d));
}

function isPointOnSegment(p: WholePoint, a: WholePoint, b: WholePoint): boolean {
  const along = subtract(b, a);
  const to = subtract(p, a);
  if (isZero(along)) return isZero(to);
  if (!isZero(cross(along, to))) return false;
  const reach = dot(along, to);
  return reach >= 0n && reach <= dot(along, along);
}

function segmentsMeet(p: WholePoint, q: WholePoint, r: WholePoint, s: WholePoint): boolean {
  const first = subtract(q, p);
  const second = subtract(s, r);
  const between = subtract(r, p);
  const normal = cross(first, second);
  if (isZero(normal)) {
    // Parallel, or one is a point: they meet iff an end of one lies on the other.
    return (
      isPointOnSegment(p, r, s) || isPointOnSegment(q, r, s) || isPointOnSegment(r, p, q) || isPointOnSegment(s, p, q)
    );
  }
  if (dot(between, normal) !== 0n) return false;
  const whole = dot(normal, normal);
  const alongFirst = dot(cross(between, second), normal);
  const alongSecond = dot(cross(between, first), normal);
  return alongFirst >= 0n && alongFirst <= whole && alongSecond >= 0n && alongSecond <= whole;
}

function isPointInTriangle(p: WholePoint, a: WholePoint, b: WholePoint, c: WholePoint): boolean {
  const normal = cross(subtract(b, a), subtract(c, a));
  if (isZero(normal)) return isPointOnSegment(p, a, b) || isPointOnSegment(p, b, c) || isPointOnSegment(p, c, a);
  if (dot(normal, subtract(p, a)) !== 0n) return false;
  const sideOf = (from: WholePoint, to: WholePoint) => dot(normal, cross(subtract(to, from), subtract(p, from)));
  return sideOf(a, b) >= 0n && sideOf(b, c) >= 0n && sideOf(c, a) >= 0n;
}

function segmentMeetsTriangle(p: WholePoint, q: WholePoint, a: WholePoint, b: WholePoint, c: WholePoint): boolean {
  const atP = sign(volume(a, b, c, p));
  const atQ = sign(volume(a, b, c, q));
  if (atP * atQ > 0) return false;
  if (atP === 0 && atQ === 0) {
    // In one plane, or the triangle has no area and is the union of its sides.
    return (
      isPointInTriangle(p, a, b, c) ||
      isPointInTriangle(q, a, b, c) ||
      segmentsMeet(p, q, a, b) ||
      segmentsMeet(p, q, b, c) ||
      segmentsMeet(p, q, c, a)
    );
  }
  // The line crosses the plane in one point, between p and q; it is in the triangle iff the line passes all three sides
  // on the same hand.
  const hands = [sign(volume(p, q, a, b)), sign(volume(p, q, b, c)), sign(volume(p, q, c, a))];
  return !(hands.includes(1) && hands.includes(-1));
}

/**
 * @param a one or two corners (three are on side b)
 * @param b one, two or three corners
 */
export function elementsMeet(a: readonly WholePoint[], b: readonly WholePoint[]): boolean {
  if (a.length > b.length) return elementsMeet(b, a);
  if (a.length === 1 && b.length === 1) return isZero(subtract(a[0], b[0]));
  if (a.length === 1 && b.length === 2) return isPointOnSegment(a[0], b[0], b[1]);
  if (a.length === 1) return isPointInTriangle(a[0], b[0], b[1], b[2]);
  if (b.length === 2) return segmentsMeet(a[0], a[1], b[0], b[1]);
  if (a.length === 2) return segmentMeetsTriangle(a[0], a[1], b[0], b[1], b[2]);
  throw new Error('Two triangles meet iff an edge of one meets the other: ask for those.');
}

/**
 * Sign of the volume of the tetrahedron of vertices a, b, c, d if floating point can decide it, otherwise undefined.
 *
 * Each of the three terms is a product of differences; with u = 2^-53 every difference has an error of u of itself, and
 * the nine multiplications and additions after it add up to at most 10 u of the sum of magnitudes (1 + few u). 16 u
 * leaves room, and the least magnitude excludes underflow, where relative bounds do not hold.
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
