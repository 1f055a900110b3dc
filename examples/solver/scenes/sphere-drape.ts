import type { ShellScene } from '../src/isometric/shell.js';
import { OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeSphere, movedBy } from './shapes.js';
import type { Size } from './types.js';

const RADIUS = 0.25;
const SIDE = 1;

/** A sheet that does not stretch and hardly bends falls onto a sphere (Figs. 4.1 to 4.4 of Wang 2012). */
export function sphereDrape(size: Size): ShellScene {
  const sheet = bySize(size, { small: 9, quarter: 26, full: 51 });
  return {
    name: 'sphere-drape',
    sentence: 'A stiff sheet that does not stretch falls onto a sphere.',
    timeStep: 1 / 200,
    frames: bySize(size, { small: 60, quarter: 200, full: 200 }),
    surface: movedBy(makeGrid(sheet, sheet, SIDE, SIDE), [0.02, 0.01, RADIUS + 0.01]),
    density: 0.2,
    bending: 0.02,
    friction: { static: 0.3, kinetic: 0.3 },
    strainTolerance: 1e-4,
    obstacles: [
      {
        name: 'sphere',
        geometry: makeSphere(RADIUS, bySize(size, { small: 6, quarter: 12, full: 24 })),
        material: OBSTACLE,
      },
    ],
    view: [-0.4, 1, -0.5],
  };
}
