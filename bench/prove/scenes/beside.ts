import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/*
 * A pile of sheets that a table keeps from its targets, and far beside it a sheet that nothing touches: whatever the pile
 * contributes to Φ, that sheet reaches its target.
 */

const EDGE = 0.01;
/** δ of a mesh whose median edge is EDGE */
const DELTA = 0.1 * EDGE;
/** Edges of a side of the lowest sheet. */
const CELLS = 8;
/** Edges of a side of the free sheet. */
const FREE = 6;

/**
 * @param of.gap between the sheets of the pile, m
 * @param of.depth how far below their places their targets lie, m
 * @param of.way of the free sheet, m
 */
function besidePile(
  of: { readonly layers: number; readonly gap: number; readonly depth: number; readonly way: number },
  random: Random,
): ProveScene {
  const { layers, gap, depth, way } = of;
  const b = new Builder();
  const table = (u: number, v: number): Point => [0.12 * (u - 0.5), 0.12 * (v - 0.5), 0];
  b.sheet(10, 10, table, table, () => true);
  for (let layer = 1; layer <= layers; layer++) {
    const cells = CELLS - (layer % 3);
    const at =
      (drop: number) =>
      (u: number, v: number): Point => [
        CELLS * EDGE * (u - 0.5) + 0.13 * EDGE * (layer % 2),
        CELLS * EDGE * (v - 0.5) + 0.07 * EDGE * layer,
        gap * layer - drop,
      ];
    b.sheet(cells, cells, at(0), at(depth));
  }
  // It bends on its way, so that it makes no rigid motion.
  const bend = random.between(0.2, 0.4);
  const place = (u: number, v: number): Point => [0.5 + FREE * EDGE * u, FREE * EDGE * v, 0];
  const aim = (u: number, v: number): Point => {
    const [x, y, z] = place(u, v);
    return [x, y, z - way * (1 + bend * Math.sin(Math.PI * u))];
  };
  const first = b.sheet(FREE, FREE, place, aim);
  const free = Array.from({ length: (FREE + 1) ** 2 }, (_, v) => first + v);
  return { ...b.build(), free, isJittered: false };
}

/** The targets of the pile lie many leaps away: what its contacts lack after a step is more than all others gain. */
export function besideKeptPile(random: Random): ProveScene {
  const way = random.between(20, 40) * DELTA;
  return besidePile({ layers: 4, gap: EDGE / 8, depth: random.between(300, 600) * EDGE, way }, random);
}

/** The pile rests, and its targets lie some δ deep. */
export function besideRestingPile(random: Random): ProveScene {
  const way = random.between(0.06, 0.2) * DELTA;
  return besidePile({ layers: 6, gap: 0.127 * DELTA, depth: random.between(1, 4) * DELTA, way }, random);
}
