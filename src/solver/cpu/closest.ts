/**
 * Closest points of two elements, in double on float32 positions. The result is only guidance (weights, a candidate
 * normal, an upper bound of the distance); safety rests on the certificate (certificate.ts), which is computed in
 * float32 like the kernels'. Differences of end points come first, so that large coordinates cancel exactly.
 *
 * `closest` receives the weights of the four slots (each side sums to 1) and the difference p − q of the points, from
 * side b to side a. No division by zero occurs: every denominator is tested first, and degenerate elements are treated
 * as the elements of lower dimension that they are.
 */
export const closest = {
  w0: 0,
  w1: 0,
  w2: 0,
  w3: 0,
  /** p − q */
  x: 0,
  y: 0,
  z: 0,
  squared: 0,
};

/*
 * This code runs for every pair of every step. So `closest` is written in place, and numbers are not passed to
 * functions that may not be inlined, because each would be an object on the heap.
 */

/** The point of side b is vertex i, the one of a slot, and that of side a is vertex a. */
function setToVertices(x: Float32Array, a: number, i: number, slot: number): void {
  const dx = x[3 * a] - x[3 * i];
  const dy = x[3 * a + 1] - x[3 * i + 1];
  const dz = x[3 * a + 2] - x[3 * i + 2];
  closest.w0 = 1;
  closest.w1 = slot === 1 ? 1 : 0;
  closest.w2 = slot === 2 ? 1 : 0;
  closest.w3 = slot === 3 ? 1 : 0;
  closest.x = dx;
  closest.y = dy;
  closest.z = dz;
  closest.squared = dx * dx + dy * dy + dz * dz;
}

/** Vertex a against vertex i (slots 0 and 1). */
export function closestVertexVertex(x: Float32Array, a: number, i: number): void {
  setToVertices(x, a, i, 1);
}

/** Vertex a against segment i j (slots 0, then 1 and 2). */
export function closestVertexEdge(x: Float32Array, a: number, i: number, j: number): void {
  const px = x[3 * a] - x[3 * i];
  const py = x[3 * a + 1] - x[3 * i + 1];
  const pz = x[3 * a + 2] - x[3 * i + 2];
  const ux = x[3 * j] - x[3 * i];
  const uy = x[3 * j + 1] - x[3 * i + 1];
  const uz = x[3 * j + 2] - x[3 * i + 2];
  const uu = ux * ux + uy * uy + uz * uz;
  const pu = px * ux + py * uy + pz * uz;
  const t = pu <= 0 ? 0 : pu >= uu ? 1 : pu / uu;
  // For t = 1 the difference to vertex j is exact, whereas px − ux rounds.
  if (t === 1) {
    setToVertices(x, a, j, 2);
    return;
  }
  const dx = px - t * ux;
  const dy = py - t * uy;
  const dz = pz - t * uz;
  closest.w0 = 1;
  closest.w1 = 1 - t;
  closest.w2 = t;
  closest.w3 = 0;
  closest.x = dx;
  closest.y = dy;
  closest.z = dz;
  closest.squared = dx * dx + dy * dy + dz * dz;
}

/**
 * Vertex a against triangle i j k, by the Voronoi regions of the triangle (Ericson, Real-Time Collision Detection
 * 5.1.5).
 */
export function closestVertexTriangle(x: Float32Array, a: number, i: number, j: number, k: number): void {
  const px = x[3 * a] - x[3 * i];
  const py = x[3 * a + 1] - x[3 * i + 1];
  const pz = x[3 * a + 2] - x[3 * i + 2];
  const ux = x[3 * j] - x[3 * i];
  const uy = x[3 * j + 1] - x[3 * i + 1];
  const uz = x[3 * j + 2] - x[3 * i + 2];
  const vx = x[3 * k] - x[3 * i];
  const vy = x[3 * k + 1] - x[3 * i + 1];
  const vz = x[3 * k + 2] - x[3 * i + 2];
  const d1 = ux * px + uy * py + uz * pz;
  const d2 = vx * px + vy * py + vz * pz;
  if (d1 <= 0 && d2 <= 0) {
    setToVertices(x, a, i, 1);
    return;
  }
  const uu = ux * ux + uy * uy + uz * uz;
  const uv = ux * vx + uy * vy + uz * vz;
  const vv = vx * vx + vy * vy + vz * vz;
  const d3 = d1 - uu;
  const d4 = d2 - uv;
  if (d3 >= 0 && d4 <= d3) {
    setToVertices(x, a, j, 2);
    return;
  }
  const d5 = d1 - uv;
  const d6 = d2 - vv;
  if (d6 >= 0 && d5 <= d6) {
    setToVertices(x, a, k, 3);
    return;
  }
  // Barycentric numerators from one cross product each keep their sign on slivers better than differences of products.
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const nn = nx * nx + ny * ny + nz * nz;
  const bk = nx * (uy * pz - uz * py) + ny * (uz * px - ux * pz) + nz * (ux * py - uy * px);
  const bj = nx * (py * vz - pz * vy) + ny * (pz * vx - px * vz) + nz * (px * vy - py * vx);
  const bi = nn - bj - bk;
  const isInside = bi > 0 && bj > 0 && bk > 0;
  if (isInside && nn > THIN * uu * vv) {
    const s = (nx * px + ny * py + nz * pz) / nn;
    const dx = s * nx;
    const dy = s * ny;
    const dz = s * nz;
    closest.w0 = 1;
    closest.w1 = 1 - bj / nn - bk / nn;
    closest.w2 = bj / nn;
    closest.w3 = bk / nn;
    closest.x = dx;
    closest.y = dy;
    closest.z = dz;
    closest.squared = dx * dx + dy * dy + dz * dz;
    return;
  }
  closestOnBoundary(x, a, i, j, k);
  if (!isInside) return;
  // A sliver of hundreds of edges may be many floors wide, and a point over its interior far nearer to it than its boundary is.
  const t = bj / nn;
  const r = bk / nn;
  const dx = px - t * ux - r * vx;
  const dy = py - t * uy - r * vy;
  const dz = pz - t * uz - r * vz;
  // The difference of the points, unlike that of the planes, cannot be too small.
  const squared = dx * dx + dy * dy + dz * dz;
  if (!(squared < closest.squared)) return;
  closest.w0 = 1;
  closest.w1 = 1 - t - r;
  closest.w2 = t;
  closest.w3 = r;
  closest.x = dx;
  closest.y = dy;
  closest.z = dz;
  closest.squared = squared;
}

/** The closest of the triangle's three edges, each solved as vertex against edge; also right for zero area. */
function closestOnBoundary(x: Float32Array, a: number, i: number, j: number, k: number): void {
  closestVertexEdge(x, a, i, j);
  let best = closest.squared;
  let edge = 0;
  closestVertexEdge(x, a, j, k);
  if (closest.squared < best) {
    best = closest.squared;
    edge = 1;
  }
  closestVertexEdge(x, a, k, i);
  if (closest.squared < best) {
    closest.w3 = closest.w1;
    closest.w1 = closest.w2;
    closest.w2 = 0;
    return;
  }
  if (edge === 0) {
    closestVertexEdge(x, a, i, j);
    return;
  }
  closestVertexEdge(x, a, j, k);
  closest.w3 = closest.w2;
  closest.w2 = closest.w1;
  closest.w1 = 0;
}

/**
 * Squared sine below which the interior solution has lost a third of its digits. It is compared with the boundary of the
 * triangle, or the end points of the edges, and the closer of both is used. With u = 2⁻⁵³ and a sine of θ, the point of a
 * triangle of size L is off by a few u L/θ within its plane, and the boundary is within θ L/2, so the distance is too
 * large by no more than a few √u L = 10⁻⁸ L, less than a tenth of a floor (frame.ts).
 */
const THIN = 1e-10;

/**
 * Segment a b against segment c d: the interior solution if there is one, otherwise the best of the four end points
 * against the other segment, in a fixed order. For nearly parallel segments the closer of both is used.
 *
 * The end point is chosen by the squared distance as a quadratic in (s, t),
 *
 *   |w + s u − t v|² = ww + s (s uu + 2 uw) + t (t vv − 2 vw) − 2 s t uv,   u = b − a, v = d − c, w = a − c;
 *
 * the difference itself is then computed from the chosen end point, which preserves its digits.
 */
export function closestEdgeEdge(x: Float32Array, a: number, b: number, c: number, d: number): void {
  const ux = x[3 * b] - x[3 * a];
  const uy = x[3 * b + 1] - x[3 * a + 1];
  const uz = x[3 * b + 2] - x[3 * a + 2];
  const vx = x[3 * d] - x[3 * c];
  const vy = x[3 * d + 1] - x[3 * c + 1];
  const vz = x[3 * d + 2] - x[3 * c + 2];
  const wx = x[3 * a] - x[3 * c];
  const wy = x[3 * a + 1] - x[3 * c + 1];
  const wz = x[3 * a + 2] - x[3 * c + 2];
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const nn = nx * nx + ny * ny + nz * nz;
  const uu = ux * ux + uy * uy + uz * uz;
  const vv = vx * vx + vy * vy + vz * vz;
  let isThin = false;
  let s = 0;
  let t = 0;
  if (nn > 0) {
    // s = (v × w)·n / |n|², t = (u × w)·n / |n|²
    s = (nx * (vy * wz - vz * wy) + ny * (vz * wx - vx * wz) + nz * (vx * wy - vy * wx)) / nn;
    t = (nx * (uy * wz - uz * wy) + ny * (uz * wx - ux * wz) + nz * (ux * wy - uy * wx)) / nn;
    if (s > 0 && s < 1 && t > 0 && t < 1) {
      isThin = nn < THIN * uu * vv;
      if (!isThin) {
        const h = (nx * wx + ny * wy + nz * wz) / nn;
        const dx = h * nx;
        const dy = h * ny;
        const dz = h * nz;
        closest.w0 = 1 - s;
        closest.w1 = s;
        closest.w2 = 1 - t;
        closest.w3 = t;
        closest.x = dx;
        closest.y = dy;
        closest.z = dz;
        closest.squared = dx * dx + dy * dy + dz * dz;
        return;
      }
    }
  }
  const uv = ux * vx + uy * vy + uz * vz;
  const uw = ux * wx + uy * wy + uz * wz;
  const vw = vx * wx + vy * wy + vz * wz;
  const ww = wx * wx + wy * wy + wz * wz;
  const t0 = clampQuotient(vw, vv);
  const t1 = clampQuotient(vw + uv, vv);
  const s0 = clampQuotient(-uw, uu);
  const s1 = clampQuotient(uv - uw, uu);
  let end = 0;
  // a, b, c and d
  let best = ww + t0 * (t0 * vv - 2 * vw);
  const second = ww + (uu + 2 * uw) + t1 * (t1 * vv - 2 * vw) - 2 * t1 * uv;
  if (second < best) {
    best = second;
    end = 1;
  }
  const third = ww + s0 * (s0 * uu + 2 * uw);
  if (third < best) {
    best = third;
    end = 2;
  }
  if (ww + s1 * (s1 * uu + 2 * uw) + (vv - 2 * vw) - 2 * s1 * uv < best) end = 3;
  if (end < 2) {
    closestVertexEdge(x, end === 0 ? a : b, c, d);
    closest.w3 = closest.w2;
    closest.w2 = closest.w1;
    closest.w0 = 1 - end;
    closest.w1 = end;
  } else {
    closestVertexEdge(x, end === 2 ? c : d, a, b);
    closest.w0 = closest.w1;
    closest.w1 = closest.w2;
    closest.w2 = 3 - end;
    closest.w3 = end - 2;
    closest.x = -closest.x;
    closest.y = -closest.y;
    closest.z = -closest.z;
  }
  if (!isThin) return;
  // The difference of the points, unlike that of the planes, cannot be too small.
  const dx = wx + s * ux - t * vx;
  const dy = wy + s * uy - t * vy;
  const dz = wz + s * uz - t * vz;
  const squared = dx * dx + dy * dy + dz * dz;
  if (!(squared < closest.squared)) return;
  closest.w0 = 1 - s;
  closest.w1 = s;
  closest.w2 = 1 - t;
  closest.w3 = t;
  closest.x = dx;
  closest.y = dy;
  closest.z = dz;
  closest.squared = squared;
}

/** Fills `closest` at positions x; vertex ids in slot order, unused ones ignored. */
type ClosestPoints = (x: Float32Array, v0: number, v1: number, v2: number, v3: number) => void;

/** The closest points of a pair, by kind (pair-kinds.ts). */
export const CLOSEST_POINTS: readonly ClosestPoints[] = [
  closestVertexTriangle,
  closestEdgeEdge,
  closestVertexEdge,
  closestVertexVertex,
];

/** numerator/denominator clamped to [0, 1]; 0 for a segment of zero length. */
function clampQuotient(numerator: number, denominator: number): number {
  return numerator <= 0 ? 0 : numerator >= denominator ? 1 : numerator / denominator;
}
