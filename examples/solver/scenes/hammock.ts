import type { Body } from '../src/bodies.js';
import { longSteps } from './long-steps.js';
import { COTTON } from './materials.js';
import { bySize, makeGrid, movedBy, placed, turnedBy } from './shapes.js';
import type { MakeScene } from './types.js';

/** m: the hammock, which hangs as an arc of `SAG` rad, and a napkin */
const HAMMOCK = { length: 1.4, width: 0.8 };
const SAG = 1.9;
const NAPKIN = 0.3;
/** m: of the lowest napkin above the lowest point of the hammock, and from one to the next */
const DROP = 0.12;
const SPACE = 0.03;

/** Napkins are dropped onto a hammock, all in one heap (Fig. 2, left, of Sifakis et al. 2008). */
export const hammock: MakeScene = (size) => {
  const count = bySize(size, { small: 6, quarter: 30, full: 30 });
  const n = bySize(size, { small: 6, quarter: 19, full: 38 });
  const [along, across] = bySize(size, { small: [15, 9], quarter: [43, 25], full: [85, 49] } as const);
  const flat = makeGrid(along, across, HAMMOCK.length, HAMMOCK.width);
  const radius = HAMMOCK.length / SAG;
  const napkins = Array.from(
    { length: count },
    (_, i): Body => ({
      name: `napkin ${i + 1}`,
      geometry: movedBy(turnedBy(makeGrid(n, n, NAPKIN, NAPKIN), 0.7 * i), [
        0.05 * Math.cos(2.4 * i),
        0.05 * Math.sin(2.4 * i),
        DROP + SPACE * i,
      ]),
      material: COTTON,
    }),
  );
  return {
    name: 'hammock',
    sentence: 'Napkins are dropped onto a hammock in one heap.',
    timeStep: 1 / 60,
    frames: 240,
    ...longSteps(COTTON, NAPKIN / (n - 1)),
    friction: { static: 0.3, kinetic: 0.3 },
    bodies: [
      {
        name: 'hammock',
        geometry: {
          // Only bent: every length along the arc is as at rest.
          ...placed(flat, ([x, y]) => [radius * Math.sin(x / radius), y, radius * (1 - Math.cos(x / radius))]),
          rest: flat.positions,
        },
        material: COTTON,
        pins: [...Array(across).keys()].flatMap((row) => [row * along, (row + 1) * along - 1]),
      },
      ...napkins,
    ],
    view: [-0.4, 1, -0.5],
  };
};
