import { EDGE_EDGE, type PairCode, VERTEX_EDGE, VERTEX_TRIANGLE } from './pair-kinds.js';

export type Vector = readonly [number, number, number];

/** v over its length; `size` is its largest absolute component, > 0. Scaled first, so no square over- or underflows. */
export function toUnit(x: number, y: number, z: number, size: number): [number, number, number] {
  const sx = x / size;
  const sy = y / size;
  const sz = z / size;
  const length = Math.sqrt(sx * sx + sy * sy + sz * sz);
  return [sx / length, sy / length, sz / length];
}

export function largestComponent([x, y, z]: Vector): number {
  return Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
}

/** A unit vector orthogonal to the elements of a pair as far as they span a plane or a line; z without any extent. */
export function findCommonNormal(code: PairCode, points: Float64Array): [number, number, number] {
  const axes: Vector[] = [];
  if (code === VERTEX_TRIANGLE) axes.push(between(points, 1, 2), between(points, 1, 3), between(points, 2, 3));
  else if (code === EDGE_EDGE) axes.push(between(points, 0, 1), between(points, 2, 3));
  else if (code === VERTEX_EDGE) axes.push(between(points, 1, 2));
  let normal: Vector = [0, 0, 0];
  for (let i = 0; i < axes.length; i++) {
    for (let j = i + 1; j < axes.length; j++) {
      const candidate = cross(axes[i], axes[j]);
      if (largestComponent(candidate) > largestComponent(normal)) normal = candidate;
    }
  }
  if (largestComponent(normal) === 0) {
    const longest = axes.reduce(
      (best, axis) => (largestComponent(axis) > largestComponent(best) ? axis : best),
      normal,
    );
    normal = cross(longest, leastAxis(longest));
  }
  const size = largestComponent(normal);
  return size === 0 ? [0, 0, 1] : toUnit(normal[0], normal[1], normal[2], size);
}

function between(points: Float64Array, i: number, j: number): Vector {
  return [points[3 * j] - points[3 * i], points[3 * j + 1] - points[3 * i + 1], points[3 * j + 2] - points[3 * i + 2]];
}

function cross([ax, ay, az]: Vector, [bx, by, bz]: Vector): Vector {
  return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
}

/** The coordinate axis that v is most nearly orthogonal to. */
function leastAxis([x, y, z]: Vector): Vector {
  const [sx, sy, sz] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  if (sx <= sy && sx <= sz) return [1, 0, 0];
  return sy <= sz ? [0, 1, 0] : [0, 0, 1];
}
