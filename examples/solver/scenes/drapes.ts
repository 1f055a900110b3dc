import type { Body } from '../src/bodies.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeSphere, movedBy, placed } from './shapes.js';
import type { MakeScene } from './types.js';

const LAYERS = 5;
/** m: a drape, its height above the ground, and the gap between two */
const SIDE = 1;
const CLEARANCE = 0.1;
const SPACE = 0.04;
/** m, m/s: the sphere and its flight along y */
const BALL = { radius: 0.2, height: 0.4, from: -0.35, speed: 0.8 };
/** s: the sphere has passed through, and remains in place */
const FLIGHT = 3;

/**
 * A sphere flies through five drapes that hang from above a ground (Fig. 2, right, and Fig. 3 of Sifakis et al. 2008).
 */
export const drapes: MakeScene = (size) => {
  const n = bySize(size, { small: 12, quarter: 34, full: 68 });
  const sheet = placed(makeGrid(n, n, SIDE, SIDE), ([x, y]) => [x, 0, y + SIDE / 2 + CLEARANCE]);
  const layers = Array.from(
    { length: LAYERS },
    (_, i): Body => ({
      name: `drape ${i + 1}`,
      geometry: movedBy(sheet, [0, SPACE * i, 0]),
      material: COTTON,
      pins: [...Array(n).keys()].map((k) => n * (n - 1) + k),
    }),
  );
  return {
    name: 'drapes',
    sentence: 'A sphere flies through five drapes that hang side by side.',
    timeStep: 1 / 60,
    frames: 280,
    friction: { static: 0.2, kinetic: 0.2 },
    bodies: [
      ...layers,
      {
        name: 'sphere',
        geometry: movedBy(makeSphere(BALL.radius, bySize(size, { small: 4, quarter: 10, full: 18 })), [
          0,
          BALL.from,
          BALL.height,
        ]),
        material: OBSTACLE,
        motion: ([x, y, z], time) => [x, y + BALL.speed * Math.min(time, FLIGHT), z],
      },
      { name: 'ground', geometry: movedBy(makeGrid(9, 9, 4, 6), [0, 1, 0]), material: OBSTACLE },
    ],
    view: [-1, 0.6, -0.3],
  };
};
