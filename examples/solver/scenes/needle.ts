import type { Body } from '../src/bodies.js';
import { longSteps } from './long-steps.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeRevolution, movedBy } from './shapes.js';
import type { MakeScene } from './types.js';

const SIDE = 0.6;
const LAYERS = 3;
const NEEDLE = { height: 0.3, base: 0.025, tip: 0.001 };

/** A stack of cloths falls onto a bed of needles, with large time steps (Fig. 10). */
export const needle: MakeScene = (size) => {
  const n = bySize(size, { small: 12, quarter: 28, full: 56 });
  const rings = bySize(size, { small: 6, quarter: 8, full: 12 });
  const cloths = Array.from(
    { length: LAYERS },
    (_, i): Body => ({
      name: `cloth ${i + 1}`,
      geometry: movedBy(makeGrid(n, n, SIDE, SIDE), [0, 0, NEEDLE.height + 0.03 * (i + 1)]),
      material: COTTON,
    }),
  );
  const profile = Array.from({ length: rings }, (_, i) => {
    const share = i / (rings - 1);
    return [NEEDLE.base + (NEEDLE.tip - NEEDLE.base) * share, NEEDLE.height * share] as const;
  });
  const needles = [-1, 0, 1].flatMap((row) =>
    [-1, 0, 1].map(
      (column): Body => ({
        name: `needle ${row} ${column}`,
        geometry: movedBy(makeRevolution(profile, 8), [0.17 * column, 0.17 * row, 0]),
        material: OBSTACLE,
      }),
    ),
  );
  return {
    name: 'needle',
    sentence: 'A stack of cloths falls onto needles, with large time steps.',
    paper: {
      name: 'Needle (Fig. 10)',
      size: '10k, 20k',
      averageSteps: 46,
      maximumSteps: 1304,
      averageCost: 0.036,
      maximumCost: 1.942,
    },
    timeStep: 1 / 20,
    frames: 60,
    ...longSteps(COTTON, SIDE / (n - 1)),
    friction: { static: 0.2, kinetic: 0.2 },
    parameters: { stepLimit: 2048 },
    bodies: [
      ...cloths,
      ...needles,
      { name: 'ground', geometry: movedBy(makeGrid(9, 9, 2, 2), [0, 0, -0.01]), material: OBSTACLE },
    ],
    view: [-0.4, 1, -0.5],
  };
};
