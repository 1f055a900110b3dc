import { distanceOf } from '../mesh/lengths.js';

/**
 * Groups of vertices at one place: every vertex of a group is within the tolerance of the group's lowest id. A vertex
 * that is near several groups belongs to the one with the lowest id.
 *
 * A spatial grid whose cells are many tolerances wide contains only the lowest ids, so that any number of vertices at
 * one place are compared with a single one; another cell is searched only if the vertex is within the tolerance of its
 * border.
 *
 * @param x float64[3·V]
 * @param vertices ids, ascending
 * @param tolerance ≥ 0, the caller's unit
 * @param isSame a further condition for two vertices of one group
 * @returns uint32[V]: the lowest id of the group of each vertex; the vertex itself if it is alone
 */
export function groupCoincident(
  x: Float64Array,
  vertices: Uint32Array,
  tolerance: number,
  isSame: (a: number, b: number) => boolean = () => true,
): Uint32Array {
  const lowest = Uint32Array.from({ length: x.length / 3 }, (_, v) => v);
  const cell = Math.max(CELL * tolerance, smallestCell(x, vertices));
  const cells = new Map<number, number[]>();
  const [low, high] = [
    [0, 0, 0],
    [0, 0, 0],
  ];
  for (const v of vertices) {
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.floor((x[3 * v + axis] - tolerance) / cell);
      high[axis] = Math.floor((x[3 * v + axis] + tolerance) / cell);
    }
    let found = -1;
    for (let i = low[0]; i <= high[0]; i++) {
      for (let j = low[1]; j <= high[1]; j++) {
        for (let k = low[2]; k <= high[2]; k++) {
          for (const other of cells.get(keyOf(i, j, k)) ?? []) {
            const isNearer = found < 0 || other < found;
            if (isNearer && distanceOf(x, v, other) <= tolerance && isSame(v, other)) found = other;
          }
        }
      }
    }
    if (found >= 0) {
      lowest[v] = found;
      continue;
    }
    const own = keyOf(...([0, 1, 2].map((axis) => Math.floor(x[3 * v + axis] / cell)) as [number, number, number]));
    const list = cells.get(own);
    if (list) list.push(v);
    else cells.set(own, [v]);
  }
  return lowest;
}

/** Side of a cell in tolerances: few vertices are so near to a border that two cells must be searched. */
const CELL = 64;

/**
 * The smallest side of a cell, > 0: with it the indices of cells are integers of at most 51 bits. It depends on the largest
 * coordinate alone, so that a single vertex far away makes cells no wider than that requires.
 */
function smallestCell(x: Float64Array, vertices: Uint32Array): number {
  let largest = 0;
  for (const v of vertices) {
    for (let axis = 0; axis < 3; axis++) largest = Math.max(largest, Math.abs(x[3 * v + axis]));
  }
  return Math.max(largest * 2 ** -50, Number.MIN_VALUE * 2 ** 60);
}

/** Cells may share a key, because the distance decides. Both halves of an index count: those of float32 numbers end in zeros. */
const keyOf = (i: number, j: number, k: number): number =>
  (Math.imul(mix(i), 73856093) ^ Math.imul(mix(j), 19349663) ^ Math.imul(mix(k), 83492791)) >>> 0;

const mix = (index: number): number => {
  const high = Math.floor(index / 2 ** 26);
  return Math.imul(high, 0x9e3779b1) ^ (index - high * 2 ** 26);
};
