import type { ElementSet, Relation } from './elements.js';

/** Vertex ids of side a then side b. Of two elements of one set, the one with the lower ids is side a. */
export function idsOf(relation: Relation, i: number, j: number): number[] {
  const { a, b } = relation;
  const [first, second] = orderSides(relation, i, j);
  const ids: number[] = [];
  for (let k = 0; k < a.size; k++) ids.push(a.vertices[first + k]);
  for (let k = 0; k < b.size; k++) ids.push(b.vertices[second + k]);
  return ids;
}

/**
 * Coordinates in the order of {@link idsOf}.
 * @param x float64[3·V]
 * @param points float64[12], filled as far as the pair has vertices
 */
export function gather(x: Float64Array, relation: Relation, i: number, j: number, points: Float64Array): void {
  const { a, b } = relation;
  const [first, second] = orderSides(relation, i, j);
  let at = 0;
  for (let k = 0; k < a.size; k++) at = copyPoint(x, a.vertices[first + k], points, at);
  for (let k = 0; k < b.size; k++) at = copyPoint(x, b.vertices[second + k], points, at);
}

function orderSides({ a, b }: Relation, i: number, j: number): [number, number] {
  const first = a.size * i;
  const second = b.size * j;
  return a === b && comesBefore(a, second, first) ? [second, first] : [first, second];
}

/** Offsets into the vertices of a set. Points are told apart by their first id, edges need both. */
function comesBefore({ vertices }: ElementSet, first: number, second: number): boolean {
  const difference = vertices[first] - vertices[second];
  return difference < 0 || (difference === 0 && vertices[first + 1] < vertices[second + 1]);
}

function copyPoint(x: Float64Array, vertex: number, points: Float64Array, at: number): number {
  points[at] = x[3 * vertex];
  points[at + 1] = x[3 * vertex + 1];
  points[at + 2] = x[3 * vertex + 2];
  return at + 3;
}
