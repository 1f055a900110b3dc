import { closest, closestEdgeEdge, closestVertexEdge, closestVertexTriangle, closestVertexVertex } from './closest.js';
import { EE, type PairSet, VE, VT } from './pairs.js';

/**
 * u of every error bound here. One float32 operation errs by at most 2⁻²⁴ relative when it rounds to nearest; WGSL lets
 * an implementation round either way, hence 2⁻²³ on every engine.
 */
export const UNIT_ROUNDOFF = 2 ** -23;

/**
 * Signed heights of a pair along a vector n, relative to the pair's first vertex o, in float32:
 *
 *   h_k = n·(x_k − o) = fl(fl(fl(n_x·d_x) + fl(n_y·d_y)) + fl(n_z·d_z)),  d = fl(x_k − o)
 *
 * The subtraction errs by u relative, each product by u, the two sums by u each of what they add up, so
 * |h_k − exact| ≤ ((1+u)⁴ − 1)·Σ_c |n_c d_c| < 5u·Σ_c |n_c d_c|. With e = 8u·max_k Σ_c |n_c d_c| there is slack for the
 * rounding of e itself and of the few scalar operations that combine heights.
 *
 * Any float vector n is a valid certificate: if gap = min_a h − max_b h > 2e, the exact heights of side a lie strictly
 * above those of side b, so a plane with normal n separates the convex hulls of both sides.
 */
export const heights = { h1: 0, h2: 0, h3: 0, lo: 0, hi: 0, gap: 0, error: 0 };

const f = Math.fround;

/** Fills `heights` for the pair (kind, v0..v3) at positions x. */
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
  const ox = x[3 * v0];
  const oy = x[3 * v0 + 1];
  const oz = x[3 * v0 + 2];
  let ax = f(nx * f(x[3 * v1] - ox));
  let ay = f(ny * f(x[3 * v1 + 1] - oy));
  let az = f(nz * f(x[3 * v1 + 2] - oz));
  const h1 = f(f(ax + ay) + az);
  let reach = f(f(Math.abs(ax) + Math.abs(ay)) + Math.abs(az));
  let h2 = h1;
  let h3 = h1;
  if (kind <= VE) {
    ax = f(nx * f(x[3 * v2] - ox));
    ay = f(ny * f(x[3 * v2 + 1] - oy));
    az = f(nz * f(x[3 * v2 + 2] - oz));
    h2 = f(f(ax + ay) + az);
    h3 = h2;
    reach = Math.max(reach, f(f(Math.abs(ax) + Math.abs(ay)) + Math.abs(az)));
    if (kind <= EE) {
      ax = f(nx * f(x[3 * v3] - ox));
      ay = f(ny * f(x[3 * v3 + 1] - oy));
      az = f(nz * f(x[3 * v3 + 2] - oz));
      h3 = f(f(ax + ay) + az);
      reach = Math.max(reach, f(f(Math.abs(ax) + Math.abs(ay)) + Math.abs(az)));
    }
  }
  // h0 = 0: the first vertex is the origin of the heights.
  const lo = kind === EE ? Math.min(0, h1) : 0;
  const hi = kind === EE ? Math.max(h2, h3) : Math.max(h1, h2, h3);
  heights.h1 = h1;
  heights.h2 = h2;
  heights.h3 = h3;
  heights.lo = lo;
  heights.hi = hi;
  heights.gap = f(lo - hi);
  heights.error = heightError(reach);
}

/** e = 8u·Σ_c |n_c d_c|, the bound of a height's rounding error. */
export function heightError(sum: number): number {
  return f(8 * UNIT_ROUNDOFF * sum);
}

/** Fills `heights` for pair p of P along its stored normal. */
export function measureAlongNormal(pairs: PairSet, p: number, x: Float32Array): void {
  const { vertex, normal } = pairs;
  const q = 4 * p;
  const n = 3 * p;
  measureHeights(
    x,
    pairs.kind[p],
    vertex[q],
    vertex[q + 1],
    vertex[q + 2],
    vertex[q + 3],
    normal[n],
    normal[n + 1],
    normal[n + 2],
  );
}

/** Fills `closest` for pair p of P at positions x. */
export function measureClosest(pairs: PairSet, p: number, x: Float32Array): void {
  const v = pairs.vertex;
  const kind = pairs.kind[p];
  if (kind === VT) closestVertexTriangle(x, v[4 * p], v[4 * p + 1], v[4 * p + 2], v[4 * p + 3]);
  else if (kind === EE) closestEdgeEdge(x, v[4 * p], v[4 * p + 1], v[4 * p + 2], v[4 * p + 3]);
  else if (kind === VE) closestVertexEdge(x, v[4 * p], v[4 * p + 1], v[4 * p + 2]);
  else closestVertexVertex(x, v[4 * p], v[4 * p + 1]);
}

/** The closest direction is trusted while its gap keeps this share of the distance; else other normals are tried. */
const TRUSTED_SHARE = 0.9;

/**
 * Geometry of pair p at x: closest-point weights, distance, the best certified normal at hand and its gap and error
 * (method.md 4.3). The direction (p − q)/d of the closest points comes first; where it certifies clearly less than d
 * (long elements, tiny distances) the face normal or the cross product of the edges is tried in both directions, and so
 * is the normal of an earlier step. The gap is at most d, because no plane can part two sets by more than their distance.
 *
 * Leaves `heights` as measured along the chosen normal.
 */
export function measurePair(pairs: PairSet, p: number, x: Float32Array, step: number): void {
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
    const { x: nx, y: ny, z: nz } = closestDirection(distance);
    measureHeights(x, kind, vertex[q], vertex[q + 1], vertex[q + 2], vertex[q + 3], nx, ny, nz);
    if (heights.gap >= TRUSTED_SHARE * distance && heights.gap > 2 * heights.error) {
      normal[3 * p] = nx;
      normal[3 * p + 1] = ny;
      normal[3 * p + 2] = nz;
      pairs.gap[p] = Math.min(heights.gap, pairs.distance[p]);
      pairs.error[p] = heights.error;
      return;
    }
  }
  chooseNormal(pairs, p, x, distance);
}

/** The rare case of measurePair: tries every normal there is, in a fixed order, and keeps the one that certifies most, g − 2e. */
function chooseNormal(pairs: PairSet, p: number, x: Float32Array, distance: number): void {
  const kind = pairs.kind[p];
  const [v0, v1, v2, v3] = pairs.vertex.subarray(4 * p, 4 * p + 4);
  const candidates: number[][] = [];
  if (distance > 0) {
    const { x: nx, y: ny, z: nz } = closestDirection(distance);
    candidates.push([nx, ny, nz]);
  }
  if (kind === VT || kind === EE) {
    normalOfPlanes(x, kind, v0, v1, v2, v3);
    if (plane.valid) candidates.push([plane.x, plane.y, plane.z], [-plane.x, -plane.y, -plane.z]);
  }
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

const direction = { x: 0, y: 0, z: 0 };

/** (p − q)/d of the points in `closest`, d > 0 apart. */
function closestDirection(distance: number): Readonly<typeof direction> {
  direction.x = f(closest.x / distance);
  direction.y = f(closest.y / distance);
  direction.z = f(closest.z / distance);
  return direction;
}

const plane = { x: 0, y: 0, z: 0, valid: false };

/** Unit normal of the triangle (VT), or of the plane parallel to both edges (EE). */
function normalOfPlanes(x: Float32Array, kind: number, v0: number, v1: number, v2: number, v3: number): void {
  const [a, b, c, d] = kind === VT ? [v1, v2, v1, v3] : [v0, v1, v2, v3];
  const ux = x[3 * b] - x[3 * a];
  const uy = x[3 * b + 1] - x[3 * a + 1];
  const uz = x[3 * b + 2] - x[3 * a + 2];
  const vx = x[3 * d] - x[3 * c];
  const vy = x[3 * d + 1] - x[3 * c + 1];
  const vz = x[3 * d + 2] - x[3 * c + 2];
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const length = Math.sqrt(nx * nx + ny * ny + nz * nz);
  plane.valid = length > 0;
  if (!plane.valid) return;
  plane.x = f(nx / length);
  plane.y = f(ny / length);
  plane.z = f(nz / length);
}
