import type { Geometry, Vec } from '../src/bodies.js';
import type { Size } from './types.js';

/** The value for this size. */
export const bySize = <T>(size: Size, values: Readonly<Record<Size, T>>): T => values[size];

/** Transforms a geometry: every vertex moves to the result of `place`. */
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

/** Rotates a geometry about the z axis. @param angle rad */
export function turnedBy(geometry: Geometry, angle: number): Geometry {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return placed(geometry, ([x, y, z]) => [c * x - s * y, s * x + c * y, z]);
}

/**
 * A rectangle of columns × rows vertices in the plane z = 0, around the origin. Diagonals alternate, so that no
 * direction is stiffer than its mirror image.
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
      // Every other ring is turned by half a step, so that triangles are nearly equilateral.
      const angle = (2 * Math.PI * (k + (ring % 2) / 2)) / around;
      positions.set([radius * Math.cos(angle), radius * Math.sin(angle), z], 3 * (ring * around + k));
    }
  });
  return { positions, triangles: joinRings(profile.length, around) };
}

/** Triangles between rings of vertices, every other one of which is turned by half a step. */
function joinRings(rings: number, around: number): Uint32Array {
  const triangles: number[] = [];
  for (let ring = 0; ring + 1 < rings; ring++) {
    for (let k = 0; k < around; k++) {
      const [a, b] = [ring * around + k, ring * around + ((k + 1) % around)];
      const [c, d] = [a + around, b + around];
      triangles.push(...(ring % 2 === 0 ? [a, b, c, b, d, c] : [a, b, d, a, d, c]));
    }
  }
  return Uint32Array.from(triangles);
}

/**
 * A round tube along a line, open at both ends. Its frame is transported without twist, and rings are as far apart as
 * their vertices are.
 * @param line points that are much nearer to each other than the line's radius of curvature
 */
export function sweep(line: readonly Vec[], radius: number, around: number): Geometry {
  const spacing = (2 * Math.PI * radius) / around;
  const points = resample(line, spacing);
  const positions: number[] = [];
  let across: Vec = perpendicularTo(minus(points[1]!, points[0]!));
  points.forEach((point, ring) => {
    const along = minus(points[Math.min(ring + 1, points.length - 1)]!, points[Math.max(ring - 1, 0)]!);
    const binormal = unit(crossOf(along, across));
    across = unit(crossOf(binormal, along));
    for (let k = 0; k < around; k++) {
      const angle = (2 * Math.PI * (k + (ring % 2) / 2)) / around;
      const [c, s] = [radius * Math.cos(angle), radius * Math.sin(angle)];
      positions.push(...[0, 1, 2].map((i) => point[i]! + c * across[i]! + s * binormal[i]!));
    }
  });
  return { positions: Float64Array.from(positions), triangles: joinRings(points.length, around) };
}

/** Points on a polyline at equal distances, about `spacing`. */
export function resample(line: readonly Vec[], spacing: number): Vec[] {
  const lengths = line.slice(1).map((point, i) => Math.hypot(...minus(point, line[i]!)));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const count = Math.max(2, Math.round(total / spacing));
  const points: Vec[] = [];
  let [segment, passed] = [0, 0];
  for (let i = 0; i <= count; i++) {
    const at = (total * i) / count;
    while (segment + 1 < lengths.length && passed + lengths[segment]! < at) passed += lengths[segment++]!;
    const share = Math.min(1, (at - passed) / lengths[segment]!);
    const [from, to] = [line[segment]!, line[segment + 1]!];
    points.push([0, 1, 2].map((c) => from[c]! + share * (to[c]! - from[c]!)) as unknown as Vec);
  }
  return points;
}

const minus = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const crossOf = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Vec): Vec => {
  const length = Math.hypot(...a);
  return [a[0] / length, a[1] / length, a[2] / length];
};
const perpendicularTo = (a: Vec): Vec =>
  unit(Math.abs(a[2]) < 0.9 * Math.hypot(...a) ? [-a[1], a[0], 0] : [0, -a[2], a[1]]);

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
    // Points of neighbouring faces differ only by rounding.
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

/**
 * A block around the origin of columns × rows × layers vertices; every cell is five tetrahedra, alternately mirrored.
 */
export function makeBlock(counts: Vec, lengths: Vec): Geometry {
  const [columns, rows, layers] = counts;
  const idOf = (i: number, j: number, k: number): number => (k * rows + j) * columns + i;
  const positions = new Float64Array(3 * columns * rows * layers);
  const tetrahedra: number[] = [];
  for (let k = 0; k < layers; k++) {
    for (let j = 0; j < rows; j++) {
      for (let i = 0; i < columns; i++) {
        const place = [i, j, k].map((at, c) => lengths[c]! * (at / (counts[c]! - 1) - 0.5));
        positions.set(place, 3 * idOf(i, j, k));
        if (i + 1 === columns || j + 1 === rows || k + 1 === layers) continue;
        const corner = (bits: number): number => idOf(i + (bits & 1), j + ((bits >> 1) & 1), k + (bits >> 2));
        const flip = (i + j + k) % 2; // mirrored in x, so that diagonals of neighbouring cells agree
        for (const cell of FIVE) {
          const [a, b, c, d] = cell.map((bits) => corner(bits ^ flip)) as [number, number, number, number];
          tetrahedra.push(...(flip === 0 ? [a, b, c, d] : [a, c, b, d]));
        }
      }
    }
  }
  return { positions, tetrahedra: Uint32Array.from(tetrahedra) };
}

/** A cube as five tetrahedra of positive volume; bits of a corner are x, y, z. */
const FIVE = [
  [0, 1, 2, 4],
  [3, 2, 1, 7],
  [5, 1, 4, 7],
  [6, 4, 2, 7],
  [1, 2, 4, 7],
];
