import { longSteps } from './long-steps.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeRevolution, movedBy } from './shapes.js';
import type { MakeScene } from './types.js';

const SIDE = 0.8;
const CONE = { height: 0.4, base: 0.15, tip: 0.002 };

/** A cloth falls onto a sharp cone with a very large time step (Fig. 18). */
export const cone: MakeScene = (size) => {
  const n = bySize(size, { small: 20, quarter: 50, full: 100 });
  const rings = bySize(size, { small: 10, quarter: 20, full: 40 });
  const profile = Array.from({ length: rings }, (_, i) => {
    const share = i / (rings - 1);
    return [CONE.base + (CONE.tip - CONE.base) * share, CONE.height * share] as const;
  });
  return {
    name: 'cone',
    sentence: 'A cloth falls onto a sharp cone, ten time steps a second.',
    timeStep: 1 / 10,
    frames: 30,
    ...longSteps(COTTON, SIDE / (n - 1)),
    parameters: { stepLimit: 2048 },
    bodies: [
      {
        name: 'cloth',
        geometry: movedBy(makeGrid(n, n, SIDE, SIDE), [0.03, 0.02, CONE.height + 0.1]),
        material: COTTON,
      },
      { name: 'cone', geometry: makeRevolution(profile, 24), material: OBSTACLE },
    ],
    view: [-0.4, 1, -0.5],
  };
};
