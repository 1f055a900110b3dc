import { ERROR_FACTOR, LONG_SPREAD, TRUSTED_SHARE, UNDERFLOW_ERROR } from '../constants.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../pair-kinds.js';
import { CLOSEST_POINTS, closest } from './closest.js';
import type { PairArrays } from './pair-set.js';

/**
 * Signed heights of a pair along a vector n, relative to the pair's first vertex o, in float32:
 *
 *   h_k = n·(x_k − o) = fl(fl(fl(n_x·d_x) + fl(n_y·d_y)) + fl(n_z·d_z)),  d = fl(x_k − o)
 *
 * The subtraction has a relative error of u, each product of u, each of the two sums of u relative to its terms, so
 * |h_k − exact| ≤ ((1+u)⁴ − 1)·Σ_c |n_c d_c| < 5u·Σ_c |n_c d_c|. The bound e = 8u·max_k Σ_c |n_c d_c| leaves slack for the
 * rounding of e itself and of the few scalar operations that combine heights (docs/method.md, S1 and S6). Up to terms in
 * u² it is twice the error, four times where operations round to nearest; the check needs twice (forward.ts). Numbers near
 * the smallest float32 round by no share of themselves: 2⁻¹²⁰ is added to e for these, which changes no e above 2⁻⁹⁶.
 *
 * Any float vector n is a valid certificate: if gap = min_a h − max_b h > 2e, the exact heights of side a lie strictly
 * above those of side b, so a plane with normal n separates the convex hulls of both sides.
 *
 * Long pairs. e grows with the elements, and 2e, below which no gap is a certificate, would exceed the floor if Σ_c |n_c
 * d_c| exceeds LONG_SPREAD, as over a tilted ground plane (at the default δ, constants.ts). Such heights are computed in
 * double from the same float32 numbers: difference, product and two
 * sums have an error of less than 2⁻⁵⁰·Σ_c |n_c d_c|, and the result is rounded to float32 once. The scalar operations
 * that combine lo and hi in float32 (gap, limits, the comparison of the check) take values of at most 3·max(|lo|, |hi|)
 * and round by 2⁻²⁴ of them, at most ten times 2⁻²⁴·max(|lo|, |hi|) in all; e = 2⁻⁴⁸·Σ + 2⁻²⁰·max(|lo|, |hi|) covers
 * both. A corner that lies behind lo or hi only has to stay behind them, which rounding does not change.
 *
 * The last measurement: heights of slots 1 to 3 (slot 0 is the origin), lo = min over side a, hi = max over side b, gap
 * = lo − hi and the error e; engine units.
 */
export const heights = { h1: 0, h2: 0, h3: 0, lo: 0, hi: 0, gap: 0, error: 0 };

const f = Math.fround;

/** A direction that is measured before it becomes a pair's normal. */
const candidate = new Float32Array(3);

/** Fills `heights` for the pair (kind, v0..v3) at positions x, along a vector of float32 numbers. */
export function measureHeights(
  x: Float32Array,
  kind: number,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
  nx: number,
  ny: number,
  nz: number,
): void {
  candidate[0] = nx;
  candidate[1] = ny;
  candidate[2] = nz;
  measureAlong(x, kind, v0, v1, v2, v3, candidate, 0);
}

/**
 * {@link measureHeights} along the vector from `at` on in `normals`. The measurement of every pair calls this function,
 * because numbers passed to a function of this size are objects on the heap, integers and arrays are not.
 */
function measureAlong(
  x: Float32Array,
  kind: number,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
  normals: Float32Array,
  at: number,
): void {
  const nx = normals[at];
  const ny = normals[at + 1];
  const nz = normals[at + 2];
  const ox = x[3 * v0];
  const oy = x[3 * v0 + 1];
  const oz = x[3 * v0 + 2];
  let ax = f(nx * f(x[3 * v1] - ox));
  let ay = f(ny * f(x[3 * v1 + 1] - oy));
  let az = f(nz * f(x[3 * v1 + 2] - oz));
  const h1 = f(f(ax + ay) + az);
  let spread = f(f(Math.abs(ax) + Math.abs(ay)) + Math.abs(az));
  let h2 = h1;
  let h3 = h1;
  const corners = CORNERS[kind];
  if (corners > 2) {
    ax = f(nx * f(x[3 * v2] - ox));
    ay = f(ny * f(x[3 * v2 + 1] - oy));
    az = f(nz * f(x[3 * v2 + 2] - oz));
    h2 = f(f(ax + ay) + az);
    h3 = h2;
    spread = Math.max(spread, f(f(Math.abs(ax) + Math.abs(ay)) + Math.abs(az)));
    if (corners > 3) {
      ax = f(nx * f(x[3 * v3] - ox));
      ay = f(ny * f(x[3 * v3 + 1] - oy));
      az = f(nz * f(x[3 * v3 + 2] - oz));
      h3 = f(f(ax + ay) + az);
      spread = Math.max(spread, f(f(Math.abs(ax) + Math.abs(ay)) + Math.abs(az)));
    }
  }
  const isVertex = SIDE_A[kind] === 1;
  const lo = isVertex ? 0 : Math.min(0, h1);
  const hi = isVertex ? Math.max(h1, h2, h3) : Math.max(h2, h3);
  heights.h1 = h1;
  heights.h2 = h2;
  heights.h3 = h3;
  heights.lo = lo;
  heights.hi = hi;
  heights.gap = f(lo - hi);
  heights.error = heightError(spread);
  if (spread > LONG_SPREAD) measureLongHeights(x, kind, v0, v1, v2, v3, nx, ny, nz, spread);
}

/** {@link measureHeights} of a long pair. */
function measureLongHeights(
  x: Float32Array,
  kind: number,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
  nx: number,
  ny: number,
  nz: number,
  spread: number,
): void {
  const height = (v: number): number => f(heightInDouble(x, 3 * v, x, 3 * v0, nx, ny, nz));
  const corners = CORNERS[kind];
  const h1 = height(v1);
  const h2 = corners > 2 ? height(v2) : h1;
  const h3 = corners > 3 ? height(v3) : h2;
  const isVertex = SIDE_A[kind] === 1;
  heights.h1 = h1;
  heights.h2 = h2;
  heights.h3 = h3;
  heights.lo = isVertex ? 0 : Math.min(0, h1);
  heights.hi = isVertex ? Math.max(h1, h2, h3) : Math.max(h2, h3);
  heights.gap = f(heights.lo - heights.hi);
  heights.error = longError(spread, Math.max(-heights.lo, Math.abs(heights.hi)));
}

/** n·(x_k − o) for the coordinates from k on and those of o in `from`. */
function heightInDouble(
  x: Float32Array,
  k: number,
  from: Float32Array,
  o: number,
  nx: number,
  ny: number,
  nz: number,
): number {
  return nx * (x[k] - from[o]) + ny * (x[k + 1] - from[o + 1]) + nz * (x[k + 2] - from[o + 2]);
}

/** e of heights of this size, computed in double. */
function longError(spread: number, height: number): number {
  return f(LONG_SPREAD_ERROR * spread + LONG_HEIGHT_ERROR * height);
}

/** error of a height in double over Σ_c |n_c d_c|, with a factor of four to spare */
const LONG_SPREAD_ERROR = 2 ** -48;

/** error of combining float32 heights, over the heights */
const LONG_HEIGHT_ERROR = 2 ** -20;

/** Height of a corner and its e. */
export const corner = { height: 0, error: 0 };

/**
 * Fills `corner` for the coordinates from k on in x, along n over those from o on in `from`; the same numbers as
 * `heights`.
 */
export function measureCorner(
  x: Float32Array,
  k: number,
  from: Float32Array,
  o: number,
  nx: number,
  ny: number,
  nz: number,
): void {
  const ax = f(nx * f(x[k] - from[o]));
  const ay = f(ny * f(x[k + 1] - from[o + 1]));
  const az = f(nz * f(x[k + 2] - from[o + 2]));
  const spread = f(f(Math.abs(ax) + Math.abs(ay)) + Math.abs(az));
  if (spread > LONG_SPREAD) {
    corner.height = f(heightInDouble(x, k, from, o, nx, ny, nz));
    corner.error = longError(spread, Math.abs(corner.height));
  } else {
    corner.height = f(f(ax + ay) + az);
    corner.error = heightError(spread);
  }
}

/** e = 8u·Σ_c |n_c d_c| and the share of underflow, the bound of a height's rounding error. */
export function heightError(sum: number): number {
  return f(ERROR_FACTOR * sum + UNDERFLOW_ERROR);
}

/** Fills `heights` for pair p of P along its stored normal. */
export function measureAlongNormal(pairs: PairArrays, p: number, x: Float32Array): void {
  const { kind, vertex, normal } = pairs;
  const q = 4 * p;
  measureAlong(x, kind[p], vertex[q], vertex[q + 1], vertex[q + 2], vertex[q + 3], normal, 3 * p);
}

/** Fills `closest` for pair p of P at positions x. */
export function measureClosest(pairs: PairArrays, p: number, x: Float32Array): void {
  const v = pairs.vertex;
  const q = 4 * p;
  CLOSEST_POINTS[pairs.kind[p]](x, v[q], v[q + 1], v[q + 2], v[q + 3]);
}

/**
 * Geometry of pair p at x: closest-point weights, distance, the best available normal and its certified gap and error
 * (docs/method.md, S1). The direction (p − q)/d of the closest points comes first. Where it certifies clearly less than
 * d (long elements, tiny distances), the normal of the plane that the elements span is tried in both directions, and so
 * is the normal of an earlier step. The gap is at most d, because no plane separates two sets by more than their
 * distance.
 *
 * Stamps the pair with `step` and leaves `heights` as measured along the chosen normal.
 */
export function measurePair(pairs: PairArrays, p: number, x: Float32Array, step: number): void {
  measureClosest(pairs, p, x);
  const distance = Math.sqrt(closest.squared);
  const q = 4 * p;
  pairs.weight[q] = closest.w0;
  pairs.weight[q + 1] = closest.w1;
  pairs.weight[q + 2] = closest.w2;
  pairs.weight[q + 3] = closest.w3;
  pairs.distance[p] = distance;
  pairs.stamp[p] = step;
  if (distance > 0) {
    const kind = pairs.kind[p];
    const { vertex, normal } = pairs;
    closestDirection(candidate, distance);
    measureAlong(x, kind, vertex[q], vertex[q + 1], vertex[q + 2], vertex[q + 3], candidate, 0);
    if (heights.gap >= TRUSTED_SHARE * distance && heights.gap > 2 * heights.error) {
      normal[3 * p] = candidate[0];
      normal[3 * p + 1] = candidate[1];
      normal[3 * p + 2] = candidate[2];
      pairs.gap[p] = Math.min(heights.gap, pairs.distance[p]);
      pairs.error[p] = heights.error;
      return;
    }
  }
  chooseNormal(pairs, p, x, distance);
}

/**
 * The rare case of measurePair, with the first candidate in `candidate`: tries every one in a fixed order and keeps the
 * normal with the largest g − 2e.
 */
function chooseNormal(pairs: PairArrays, p: number, x: Float32Array, distance: number): void {
  const kind = pairs.kind[p];
  const [v0, v1, v2, v3] = pairs.vertex.subarray(4 * p, 4 * p + 4);
  const candidates: number[][] = [];
  if (distance > 0) candidates.push([...candidate]);
  const plane = planeNormal(x, kind, [v0, v1, v2, v3]);
  if (plane) candidates.push(plane, [-plane[0], -plane[1], -plane[2]]);
  const last = [...pairs.normal.subarray(3 * p, 3 * p + 3)];
  if (last.some((component) => component !== 0)) candidates.push(last);
  let best = [0, 0, 0];
  let certified = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
    measureHeights(x, kind, v0, v1, v2, v3, candidate[0], candidate[1], candidate[2]);
    const value = heights.gap - 2 * heights.error;
    if (value <= certified) continue;
    certified = value;
    best = candidate;
  }
  measureHeights(x, kind, v0, v1, v2, v3, best[0], best[1], best[2]);
  pairs.normal.set(best, 3 * p);
  pairs.gap[p] = Math.min(heights.gap, pairs.distance[p]);
  pairs.error[p] = heights.error;
}

/** (p − q)/d of the points in `closest`, d > 0. */
function closestDirection(out: Float32Array, distance: number): void {
  out[0] = closest.x / distance;
  out[1] = closest.y / distance;
  out[2] = closest.z / distance;
}

/** Unit normal of the plane that the pair's elements span: of the triangle (VT), parallel to both edges (EE). */
function planeNormal(x: Float32Array, kind: number, vertex: readonly number[]): number[] | undefined {
  const slots = PAIR_KINDS[kind].plane?.slots;
  if (!slots) return undefined;
  const [a, b, c, d] = slots.map((slot) => 3 * vertex[slot]);
  const ux = x[b] - x[a];
  const uy = x[b + 1] - x[a + 1];
  const uz = x[b + 2] - x[a + 2];
  const vx = x[d] - x[c];
  const vy = x[d + 1] - x[c + 1];
  const vz = x[d + 2] - x[c + 2];
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const length = Math.sqrt(nx * nx + ny * ny + nz * nz);
  return length > 0 ? [f(nx / length), f(ny / length), f(nz / length)] : undefined;
}
