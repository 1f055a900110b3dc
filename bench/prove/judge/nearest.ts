/*
 * Nearest points of two elements in double precision, given as corners. The result is only guidance (a direction to
 * try, a distance to compare with a tolerance); no guarantee depends on it.
 */

export type Vector = readonly [number, number, number];

/** Positions of the vertices of an element in a state, float[3·V]. */
export const pointsOf = (x: ArrayLike<number>, element: readonly number[]): Vector[] =>
  element.map((v): Vector => [x[3 * v], x[3 * v + 1], x[3 * v + 2]]);

export const minusOf = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const dotOf = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const crossOf = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const along = (a: Vector, d: Vector, s: number): Vector => [a[0] + s * d[0], a[1] + s * d[1], a[2] + s * d[2]];
const lengthSquared = (a: Vector): number => dotOf(a, a);
const shorter = (a: Vector, b: Vector): Vector => (lengthSquared(b) < lengthSquared(a) ? b : a);

/** From the nearest point of b to the nearest point of a. */
export function nearestDifference(a: readonly Vector[], b: readonly Vector[]): Vector {
  if (a.length === 1 && b.length === 1) return minusOf(a[0], b[0]);
  if (a.length === 1 && b.length === 2) return pointSegment(a[0], b[0], b[1]);
  if (a.length === 1) return pointTriangle(a[0], b[0], b[1], b[2]);
  if (a.length === 2 && b.length === 2) return segmentSegment(a[0], a[1], b[0], b[1]);
  throw new Error('No nearest points of such a pair.');
}

function pointSegment(p: Vector, a: Vector, b: Vector): Vector {
  const d = minusOf(b, a);
  const to = minusOf(p, a);
  const whole = lengthSquared(d);
  const share = whole > 0 ? Math.min(1, Math.max(0, dotOf(to, d) / whole)) : 0;
  // From the nearer end, so that the rounding of a point near it is not proportional to the length of the segment.
  return share <= 0.5 ? along(to, d, -share) : along(minusOf(p, b), d, 1 - share);
}

function pointTriangle(p: Vector, a: Vector, b: Vector, c: Vector): Vector {
  let best = shorter(shorter(pointSegment(p, a, b), pointSegment(p, b, c)), pointSegment(p, c, a));
  const normal = crossOf(minusOf(b, a), minusOf(c, a));
  const area = lengthSquared(normal);
  if (area === 0) return best;
  const isInside = [
    [a, b],
    [b, c],
    [c, a],
  ].every(([from, to]) => dotOf(normal, crossOf(minusOf(to, from), minusOf(p, from))) >= 0);
  if (isInside) {
    const height = dotOf(normal, minusOf(p, a)) / area;
    best = shorter(best, [normal[0] * height, normal[1] * height, normal[2] * height]);
  }
  return best;
}

function segmentSegment(p: Vector, q: Vector, r: Vector, s: Vector): Vector {
  const negate = (v: Vector): Vector => [-v[0], -v[1], -v[2]];
  let best = shorter(pointSegment(p, r, s), pointSegment(q, r, s));
  best = shorter(best, shorter(negate(pointSegment(r, p, q)), negate(pointSegment(s, p, q))));
  const first = minusOf(q, p);
  const second = minusOf(s, r);
  const normal = crossOf(first, second);
  const whole = lengthSquared(normal);
  if (whole === 0) return best;
  const between = minusOf(r, p);
  const share = dotOf(crossOf(between, second), normal) / whole;
  const other = dotOf(crossOf(between, first), normal) / whole;
  if (share >= 0 && share <= 1 && other >= 0 && other <= 1) {
    const height = -dotOf(between, normal) / whole;
    best = shorter(best, [normal[0] * height, normal[1] * height, normal[2] * height]);
  }
  return best;
}

export const distanceOf = (a: readonly Vector[], b: readonly Vector[]): number =>
  Math.hypot(...nearestDifference(a, b));
