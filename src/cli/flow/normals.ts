import type { Positions } from '../../contract/mesh.js';

/** Corners of triangle t as offsets into positions. */
const cornersOf = (triangles: Uint32Array, t: number): readonly [number, number, number] => [
  3 * triangles[3 * t]!,
  3 * triangles[3 * t + 1]!,
  3 * triangles[3 * t + 2]!,
];

/**
 * Normals of vertices: the sum of the vector areas of the triangles around a vertex, at length 1. A vertex without
 * triangles, or whose areas cancel, has the zero vector.
 *
 * @param triangles uint32[3·T]
 * @param positions [3·V]
 * @returns float64[3·V]
 */
export function vertexNormals(triangles: Uint32Array, positions: Positions): Float64Array {
  const normals = new Float64Array(positions.length);
  for (let t = 0; t < triangles.length / 3; t++) {
    const [a, b, c] = cornersOf(triangles, t);
    const side = (from: number, to: number, axis: number): number => positions[to + axis]! - positions[from + axis]!;
    for (let axis = 0; axis < 3; axis++) {
      const [next, last] = [(axis + 1) % 3, (axis + 2) % 3];
      const twiceArea = side(a, b, next) * side(a, c, last) - side(a, b, last) * side(a, c, next);
      for (const corner of [a, b, c]) normals[corner + axis] = normals[corner + axis]! + twiceArea;
    }
  }
  for (let v = 0; v < normals.length; v += 3) {
    const length = Math.hypot(normals[v]!, normals[v + 1]!, normals[v + 2]!);
    for (let axis = 0; axis < 3; axis++) normals[v + axis] = length > 0 ? normals[v + axis]! / length : 0;
  }
  return normals;
}

/** Jacobi iterations of a step, as in equation (19). */
const SMOOTHING_ROUNDS = 3;

/**
 * Smooths in place, as in equation (19) of "Fast GPU-Based Two-Way Continuous Collision Handling" (Wang et al. 2023):
 * three times
 *
 *   y(v) ← y(v) + α Δy(v),   Δy(v) = Σ_u w_uv (y(u) − y(v)) / Σ_u w_uv
 *
 * with the cotangents of the two angles opposite an edge as its weight. The weights are those of the given positions,
 * divided by their sum, so that α has no unit; obtuse angles count as right ones, so that every y(v) stays between its
 * neighbours.
 *
 * @param y float64[3·V]
 * @param intensity α, 0 to 1
 */
export function smooth(triangles: Uint32Array, y: Float64Array, intensity: number): void {
  if (intensity === 0) return;
  const weights = cornerCotangents(triangles, y);
  const sums = new Float64Array(y.length / 3);
  const pull = new Float64Array(y.length);
  for (let round = 0; round < SMOOTHING_ROUNDS; round++) {
    sums.fill(0);
    pull.fill(0);
    for (let corner = 0; corner < triangles.length; corner++) {
      const first = corner - (corner % 3);
      const a = triangles[first + ((corner + 1) % 3)]!;
      const b = triangles[first + ((corner + 2) % 3)]!;
      const weight = weights[corner]!;
      sums[a] = sums[a]! + weight;
      sums[b] = sums[b]! + weight;
      for (let axis = 0; axis < 3; axis++) {
        const difference = weight * (y[3 * b + axis]! - y[3 * a + axis]!);
        pull[3 * a + axis] = pull[3 * a + axis]! + difference;
        pull[3 * b + axis] = pull[3 * b + axis]! - difference;
      }
    }
    for (let i = 0; i < y.length; i++) {
      const sum = sums[Math.floor(i / 3)]!;
      if (sum > 0) y[i] = y[i]! + (intensity * pull[i]!) / sum;
    }
  }
}

/** float64[3·T] cotangent of the angle at each corner; 0 if it is not acute, or the triangle has no area. */
function cornerCotangents(triangles: Uint32Array, y: Float64Array): Float64Array {
  return Float64Array.from(triangles, (vertex, corner) => {
    const first = corner - (corner % 3);
    const [o, a, b] = [
      3 * vertex,
      3 * triangles[first + ((corner + 1) % 3)]!,
      3 * triangles[first + ((corner + 2) % 3)]!,
    ];
    const [ux, uy, uz] = [y[a]! - y[o]!, y[a + 1]! - y[o + 1]!, y[a + 2]! - y[o + 2]!];
    const [vx, vy, vz] = [y[b]! - y[o]!, y[b + 1]! - y[o + 1]!, y[b + 2]! - y[o + 2]!];
    const twiceArea = Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
    return twiceArea > 0 ? Math.max(0, ux * vx + uy * vy + uz * vz) / twiceArea : 0;
  });
}
