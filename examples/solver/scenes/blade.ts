import type { Body } from '../src/bodies.js';
import { longSteps } from './long-steps.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, movedBy, placed } from './shapes.js';
import type { MakeScene } from './types.js';

const SIDE = 0.5;
const PATCHES = 5;
/** m: a blade of two faces that meet in an edge as sharp as floating-point numbers allow */
const BLADE = { length: 0.8, height: 0.3, thickness: 0.02 };

/** Five square cloths drop onto a sharp blade, drape, slide and pile up (Fig. 19). */
export const blade: MakeScene = (size) => {
  const n = bySize(size, { small: 12, quarter: 54, full: 108 });
  const along = bySize(size, { small: 9, quarter: 25, full: 49 });
  const cloths = Array.from(
    { length: PATCHES },
    (_, i): Body => ({
      name: `patch ${i + 1}`,
      geometry: movedBy(makeGrid(n, n, SIDE, SIDE), [
        0.05 * Math.cos(2 * i),
        0.05 * Math.sin(2 * i),
        BLADE.height + 0.04 * (i + 1),
      ]),
      material: COTTON,
    }),
  );
  // A strip, folded along its middle line.
  const faces = placed(makeGrid(along, 5, BLADE.length, 1), ([x, y]) => [
    x,
    y * BLADE.thickness,
    BLADE.height * (1 - 2 * Math.abs(y)),
  ]);
  return {
    name: 'blade',
    sentence: 'Five square cloths drop onto a sharp blade, drape and slide.',
    paper: {
      name: 'Blade (Fig. 19)',
      size: '59k, 116k',
      averageSteps: 55,
      maximumSteps: 779,
      averageCost: 0.267,
      maximumCost: 4.463,
    },
    timeStep: 1 / 20,
    frames: 80,
    ...longSteps(COTTON, SIDE / (n - 1)),
    friction: { static: 0.1, kinetic: 0.1 },
    parameters: { stepLimit: 2048 },
    bodies: [
      ...cloths,
      { name: 'blade', geometry: faces, material: OBSTACLE },
      { name: 'ground', geometry: movedBy(makeGrid(9, 9, 2, 2), [0, 0, -0.01]), material: OBSTACLE },
    ],
    view: [-1, 0.6, -0.4],
  };
};
