type Point = readonly [number, number, number];

/** 100 thirds leave (2/3)^100 ≈ 2e-18 of the unit interval. */
const CUTS = 100;

/**
 * Distance of two convex hulls of one to three points, by nested ternary search: the squared distance is jointly convex
 * in the parameters of both hulls, so its minimum over some of them is convex in the others. No case distinction, no
 * division that could degenerate; slow and independent of the solver.
 *
 * @param x [3·V] positions
 * @param a ids of one vertex, or of two with b of two
 * @param b ids of one to three vertices
 */
export function slowDistance(x: ArrayLike<number>, a: readonly number[], b: readonly number[]): number {
  const point = (v: number): Point => [x[3 * v], x[3 * v + 1], x[3 * v + 2]];
  const of = b.map(point);
  if (a.length === 1) return Math.sqrt(squaredToHull(point(a[0]), of));
  const [p, q] = a.map(point);
  return Math.sqrt(minimise((s) => squaredToHull(mix(p, q, s), of)));
}

function squaredToHull(p: Point, corners: readonly Point[]): number {
  const [i, j, k] = corners;
  if (corners.length === 1) return squared(p, i);
  if (corners.length === 2) return squaredToSegment(p, i, j);
  // Slices of the triangle that are parallel to the side j k.
  return minimise((s) => squaredToSegment(p, mix(i, j, s), mix(i, k, s)));
}

function squaredToSegment(p: Point, i: Point, j: Point): number {
  let dot = 0;
  let length = 0;
  for (let c = 0; c < 3; c++) {
    dot += (p[c] - i[c]) * (j[c] - i[c]);
    length += (j[c] - i[c]) ** 2;
  }
  const t = length > 0 ? Math.min(1, Math.max(0, dot / length)) : 0;
  return Math.min(squared(p, mix(i, j, t)), squared(p, i), squared(p, j));
}

function minimise(f: (s: number) => number): number {
  let low = 0;
  let high = 1;
  let best = Math.min(f(0), f(1));
  for (let n = 0; n < CUTS; n++) {
    const s = low + (high - low) / 3;
    const t = high - (high - low) / 3;
    const fs = f(s);
    const ft = f(t);
    best = Math.min(best, fs, ft);
    if (fs <= ft) high = t;
    else low = s;
  }
  return best;
}

function mix(p: Point, q: Point, t: number): Point {
  return [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])];
}

function squared(p: Point, q: Point): number {
  return (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2;
}
