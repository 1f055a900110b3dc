/** Building blocks of the scenes: positions as float64[3·V] in metres, element lists as plain ids. */

export type Point = readonly [number, number, number];

/** Edge length of the scenes: the scale of garment meshes, for which the method's defaults were chosen. */
export const EDGE = 0.01;

/** mulberry32: numbers in [0, 1) that are the same on every machine. */
export function makeNoise(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const fill = (count: number, pointAt: (vertex: number) => Point): Float64Array => {
  const positions = new Float64Array(3 * count);
  for (let vertex = 0; vertex < count; vertex++) positions.set(pointAt(vertex), 3 * vertex);
  return positions;
};

export const mapPoints = (positions: Float64Array, move: (point: Point, vertex: number) => Point): Float64Array =>
  fill(positions.length / 3, (i) => move([positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]], i));

/**
 * Triangles of a grid of columns × rows vertices, vertex = row · columns + column.
 * @param flips which diagonal each cell gets
 * @param isClosed the last column is joined to the first
 */
export function gridTriangles(
  columns: number,
  rows: number,
  flips: (column: number, row: number) => boolean = (column, row) => (column + row) % 2 === 0,
  isClosed = false,
): number[] {
  const triangles: number[] = [];
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column < (isClosed ? columns : columns - 1); column++) {
      const right = (column + 1) % columns;
      const [a, b] = [row * columns + column, row * columns + right];
      const [c, d] = [a + columns, b + columns];
      if (flips(column, row)) triangles.push(a, b, d, a, d, c);
      else triangles.push(a, b, c, b, d, c);
    }
  }
  return triangles;
}

/** A flat grid around the origin; `height` gives z. */
export function gridPositions(
  columns: number,
  rows: number,
  spacing: number,
  height: (x: number, y: number) => number = () => 0,
): Float64Array {
  return fill(columns * rows, (vertex) => {
    const x = ((vertex % columns) - (columns - 1) / 2) * spacing;
    const y = (Math.floor(vertex / columns) - (rows - 1) / 2) * spacing;
    return [x, y, height(x, y)];
  });
}

/** Side of a square grid of about this many vertices, at least 3. */
export const sideOf = (vertices: number): number => Math.max(3, Math.round(Math.sqrt(vertices)));

/**
 * A surface of rings around an axis, optionally with a single vertex at either end.
 * @param ring point of angle (0…1) on ring `row`
 */
export function ringSurface(
  segments: number,
  rings: number,
  ring: (turn: number, row: number) => Point,
  ends: { readonly first?: Point; readonly last?: Point } = {},
): { readonly positions: Float64Array; readonly triangles: number[] } {
  const count = segments * rings;
  // Every other ring is rotated by half a segment, which gives near-equilateral triangles without a seam of long diagonals.
  const body = fill(count, (vertex) => {
    const row = Math.floor(vertex / segments);
    return ring(((vertex % segments) + (row % 2) / 2) / segments, row);
  });
  const triangles: number[] = [];
  for (let row = 0; row + 1 < rings; row++) {
    for (let i = 0; i < segments; i++) {
      const j = (i + 1) % segments;
      const [a, b] = [row * segments + i, row * segments + j];
      const [c, d] = [a + segments, b + segments];
      if (row % 2 === 0) triangles.push(a, b, c, b, d, c);
      else triangles.push(a, d, c, a, b, d);
    }
  }
  const caps: Point[] = [];
  if (ends.first) {
    for (let i = 0; i < segments; i++) triangles.push(count + caps.length, (i + 1) % segments, i);
    caps.push(ends.first);
  }
  if (ends.last) {
    const base = (rings - 1) * segments;
    for (let i = 0; i < segments; i++) triangles.push(count + caps.length, base + i, base + ((i + 1) % segments));
    caps.push(ends.last);
  }
  const positions = new Float64Array(3 * (count + caps.length));
  positions.set(body);
  positions.set(caps.flat(), 3 * count);
  return { positions, triangles };
}

/** Places `count` copies on a square grid; returns the offset of each in the plane. */
export function rasterOffsets(count: number, pitchX: number, pitchY: number): Point[] {
  const columns = Math.ceil(Math.sqrt(count));
  return Array.from({ length: count }, (_, i): Point => [(i % columns) * pitchX, Math.floor(i / columns) * pitchY, 0]);
}

export const offsetBy = (positions: Float64Array, by: Point): Float64Array =>
  mapPoints(positions, ([x, y, z]) => [x + by[0], y + by[1], z + by[2]]);
