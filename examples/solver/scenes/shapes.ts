import type { Geometry, Vec } from '../src/bodies.js';
import type { Size } from './types.js';

/** The value for this size. */
export const bySize = <T>(size: Size, values: Readonly<Record<Size, T>>): T => values[size];

/** Places a geometry: every vertex goes where `place` puts it. */
export function placed(geometry: Geometry, place: (vertex: Vec) => Vec): Geometry {
  const positions = geometry.positions.slice();
  for (let i = 0; i < positions.length; i += 3) {
    positions.set(place([positions[i]!, positions[i + 1]!, positions[i + 2]!]), i);
  }
  return { ...geometry, positions };
}

/** Moves a geometry by a vector. */
export const movedBy = (geometry: Geometry, [x, y, z]: Vec): Geometry =>
  placed(geometry, ([a, b, c]) => [a + x, b + y, c + z]);

/**
 * A rectangle of columns × rows vertices in the plane z = 0, around the origin. Diagonals alternate, so that no direction
 * is stiffer than its mirror image.
 */
export function makeGrid(columns: number, rows: number, width: number, depth: number): Geometry {
  const positions = new Float64Array(3 * columns * rows);
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++) {
      positions.set([width * (i / (columns - 1) - 0.5), depth * (j / (rows - 1) - 0.5), 0], 3 * (j * columns + i));
    }
  }
  const triangles: number[] = [];
  for (let j = 0; j + 1 < rows; j++) {
    for (let i = 0; i + 1 < columns; i++) {
      const a = j * columns + i;
      const [b, c, d] = [a + 1, a + columns + 1, a + columns];
      triangles.push(...((i + j) % 2 === 0 ? [a, b, c, a, c, d] : [a, b, d, b, c, d]));
    }
  }
  return { positions, triangles: Uint32Array.from(triangles) };
}

/**
 * A surface of revolution around the z axis, open at both ends.
 * @param profile [radius, z] of every ring, radius > 0
 */
export function makeRevolution(profile: readonly (readonly [number, number])[], around: number): Geometry {
  const positions = new Float64Array(3 * profile.length * around);
  profile.forEach(([radius, z], ring) => {
    for (let k = 0; k < around; k++) {
      // Every other ring is turned by half a step: triangles are nearly equilateral.
      const angle = (2 * Math.PI * (k + (ring % 2) / 2)) / around;
      positions.set([radius * Math.cos(angle), radius * Math.sin(angle), z], 3 * (ring * around + k));
    }
  });
  const triangles: number[] = [];
  for (let ring = 0; ring + 1 < profile.length; ring++) {
    for (let k = 0; k < around; k++) {
      const [a, b] = [ring * around + k, ring * around + ((k + 1) % around)];
      const [c, d] = [a + around, b + around];
      triangles.push(...(ring % 2 === 0 ? [a, b, c, b, d, c] : [a, b, d, a, d, c]));
    }
  }
  return { positions, triangles: Uint32Array.from(triangles) };
}

/** A closed sphere: an icosahedron whose faces are divided into divisions² triangles each. */
export function makeSphere(radius: number, divisions: number): Geometry {
  const golden = (1 + Math.sqrt(5)) / 2;
  const corners: Vec[] = [];
  for (const s of [-1, 1]) for (const t of [-golden, golden]) corners.push([0, s, t], [s, t, 0], [t, 0, s]);
  const near = (a: Vec, b: Vec): boolean => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 2.1; // an edge is 2 long
  const positions: number[] = [];
  const ids = new Map<string, number>();
  const idOf = (point: Vec): number => {
    const scale = radius / Math.hypot(...point);
    const place = point.map((value) => value * scale);
    // Points of neighbouring faces differ by rounding only.
    const key = place.map((value) => Math.round((value / radius) * 1e6)).join();
    const known = ids.get(key);
    if (known !== undefined) return known;
    ids.set(key, positions.length / 3);
    positions.push(...place);
    return positions.length / 3 - 1;
  };
  const triangles: number[] = [];
  for (let a = 0; a < 12; a++) {
    for (let b = a + 1; b < 12; b++) {
      for (let c = b + 1; c < 12; c++) {
        const [p, q, r] = [corners[a]!, corners[b]!, corners[c]!];
        if (!near(p, q) || !near(q, r) || !near(r, p)) continue;
        const isOutward = determinant(p, q, r) > 0;
        const point = (i: number, j: number): number =>
          idOf([0, 1, 2].map((k) => p[k]! * (divisions - i - j) + q[k]! * i + r[k]! * j) as unknown as Vec);
        for (let i = 0; i < divisions; i++) {
          for (let j = 0; i + j < divisions; j++) {
            const faces = [[point(i, j), point(i + 1, j), point(i, j + 1)]];
            if (i + j + 2 <= divisions) faces.push([point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)]);
            for (const face of faces) triangles.push(...(isOutward ? face : face.reverse()));
          }
        }
      }
    }
  }
  return { positions: Float64Array.from(positions), triangles: Uint32Array.from(triangles) };
}

const determinant = (p: Vec, q: Vec, r: Vec): number =>
  p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) + p[2] * (q[0] * r[1] - q[1] * r[0]);
