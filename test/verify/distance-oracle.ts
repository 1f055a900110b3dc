/**
 * Distance of two convex hulls by enumeration: for every pair of faces (corner, side, triangle) of the two, the closest
 * points of their affine hulls from the normal equations, kept where all weights are positive. Slow and independent.
 */
export function enumerateDistance(x: ArrayLike<number>, a: readonly number[], b: readonly number[]): number {
  let best = Infinity;
  for (const faceA of facesOf(a)) {
    for (const faceB of facesOf(b)) best = Math.min(best, distanceOfFaces(x, faceA, faceB));
  }
  return best;
}

type Point = readonly number[];

function facesOf(ids: readonly number[]): number[][] {
  const faces: number[][] = [];
  for (let subset = 1; subset < 2 ** ids.length; subset++) faces.push(ids.filter((_, k) => (subset >> k) & 1));
  return faces;
}

function distanceOfFaces(x: ArrayLike<number>, a: readonly number[], b: readonly number[]): number {
  const point = (v: number): Point => [x[3 * v], x[3 * v + 1], x[3 * v + 2]];
  const minus = (p: Point, q: Point): Point => p.map((value, k) => value - q[k]);
  const dot = (p: Point, q: Point): number => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
  const origin = minus(point(a[0]), point(b[0]));
  // Point of a minus point of b = origin + Σ parameter · direction.
  const directions = [
    ...a.slice(1).map((v) => minus(point(v), point(a[0]))),
    ...b.slice(1).map((v) => minus(point(b[0]), point(v))),
  ];
  const matrix = directions.map((row) => [...directions.map((column) => dot(row, column)), -dot(row, origin)]);
  const parameters = solve(matrix);
  if (!parameters) return Infinity;
  const ofA = parameters.slice(0, a.length - 1);
  const ofB = parameters.slice(a.length - 1);
  for (const side of [ofA, ofB]) {
    if (side.some((value) => value < 0) || side.reduce((sum, value) => sum + value, 0) > 1) return Infinity;
  }
  const difference = origin.map((value, k) =>
    parameters.reduce((sum, parameter, m) => sum + parameter * directions[m][k], value),
  );
  return Math.hypot(...difference);
}

/**
 * Gaussian elimination of rows [A | b]; undefined where A is singular to rounding: then a smaller face has the
 * minimum.
 */
function solve(rows: number[][]): number[] | undefined {
  const n = rows.length;
  const largest = Math.max(0, ...rows.flatMap((row) => row.slice(0, n).map(Math.abs)));
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let row = column; row < n; row++) {
      if (Math.abs(rows[row][column]) > Math.abs(rows[pivot][column])) pivot = row;
    }
    if (Math.abs(rows[pivot][column]) <= 1e-12 * largest) return undefined;
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    for (let row = 0; row < n; row++) {
      if (row === column) continue;
      const factor = rows[row][column] / rows[column][column];
      for (let k = column; k <= n; k++) rows[row][k] -= factor * rows[column][k];
    }
  }
  return rows.map((row, k) => row[n] / row[k]);
}
