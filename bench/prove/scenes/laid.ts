import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

const EDGE = 0.01;
const CELLS = 6;

/** A flat sheet above a kinematic table with its target below: it rests as near as the contact offset allows. */
export function laidSheet(random: Random): ProveScene {
  const b = new Builder();
  const side = CELLS * EDGE;
  const [above, below] = [random.between(0.3, 0.8) * EDGE, random.between(0.2, 0.8) * EDGE];
  const table = (u: number, v: number): Point => [1.5 * side * (u - 0.5), 1.5 * side * (v - 0.5), 0];
  b.sheet(CELLS, CELLS, table, table, () => true);
  const first = (CELLS + 1) ** 2;
  const at =
    (height: number) =>
    (u: number, v: number): Point => [side * (u - 0.5), side * (v - 0.5), height];
  b.sheet(CELLS, CELLS, at(above), at(-below));
  const vertices = Array.from({ length: first }, (_, v) => first + v);
  const corners = [0, CELLS, CELLS * (CELLS + 1)] as const;
  return { ...b.build(), resting: { vertices, on: corners }, isJittered: false };
}
