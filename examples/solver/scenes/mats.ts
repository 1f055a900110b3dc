import type { Body } from '../src/bodies.js';
import { longSteps } from './long-steps.js';
import { OBSTACLE, RUBBER } from './materials.js';
import { bySize, makeBlock, makeGrid, movedBy, turnedBy } from './shapes.js';
import type { MakeScene } from './types.js';

const SIDE = 0.5;
const THICKNESS = 0.025;
const DROP = 0.09;

/** Elastic mats fall onto each other and pile up (Fig. 3a, 3b). */
export const mats: MakeScene = (size) => {
  const n = bySize(size, { small: 7, quarter: 15, full: 24 });
  const layers = bySize(size, { small: 2, quarter: 3, full: 3 });
  const count = bySize(size, { small: 4, quarter: 12, full: 19 });
  const bodies = Array.from(
    { length: count },
    (_, i): Body => ({
      name: `mat ${i + 1}`,
      // Every mat is turned a little against the one below.
      geometry: movedBy(turnedBy(makeBlock([n, n, layers], [SIDE, SIDE, THICKNESS]), 0.7 * i), [
        0.06 * Math.cos(2.4 * i),
        0.06 * Math.sin(2.4 * i),
        0.05 + DROP * i,
      ]),
      material: RUBBER,
    }),
  );
  return {
    name: 'mats',
    sentence: 'Elastic mats fall onto each other and pile up.',
    paper: {
      name: 'Mat (Fig. 3a)',
      size: '33k, 88K tet.',
      averageSteps: 9,
      maximumSteps: 128,
      averageCost: 0.02,
      maximumCost: 0.303,
    },
    timeStep: 1 / 100,
    frames: 300,
    ...longSteps(RUBBER, THICKNESS / layers),
    friction: { static: 0.3, kinetic: 0.3 },
    bodies: [...bodies, { name: 'ground', geometry: makeGrid(17, 17, 2, 2), material: OBSTACLE }],
    pile: [...bodies.keys()],
    view: [-0.5, 1, -0.4],
  };
};
