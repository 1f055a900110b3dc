import type { Vec } from '../src/bodies.js';
import { bySize, makeGrid, makeSphere, movedBy } from './shapes.js';
import type { MakeScene } from './types.js';

const RADIUS = 0.25;
const CENTRE: Vec = [0, 0, 0.3];
const SIDE = 1.2;
/** rad/s */
const SPIN = 2;
/** s: the cloth has settled on the sphere before it begins to turn */
const REST = 0.5;

/**
 * A square cloth falls onto a sphere above the ground, which then turns and drags the cloth along by friction (Fig.
 * 13).
 */
export const rotatingSphere: MakeScene = (size) => {
  const cloth = bySize(size, { small: 24, quarter: 106, full: 214 });
  const divisions = bySize(size, { small: 6, quarter: 12, full: 20 });
  return {
    name: 'rotating-sphere',
    sentence: 'A square cloth falls onto a sphere that turns, and is dragged along by friction.',
    paper: {
      name: 'Sphere (Fig. 13)',
      size: '50k, 100k',
      averageSteps: 19,
      maximumSteps: 219,
      averageCost: 0.044,
      maximumCost: 0.475,
    },
    timeStep: 1 / 100,
    frames: 400,
    friction: { static: 0.5, kinetic: 0.4 },
    bodies: [
      {
        name: 'cloth',
        geometry: movedBy(makeGrid(cloth, cloth, SIDE, SIDE), [0, 0, CENTRE[2] + RADIUS + 0.02]),
        material: { kind: 'cloth', density: 0.2, stretching: 400, poisson: 0.3, bending: 2e-5 },
      },
      {
        name: 'sphere',
        geometry: movedBy(makeSphere(RADIUS, divisions), CENTRE),
        material: { kind: 'obstacle' },
        motion: ([x, y, z], time) => {
          const angle = SPIN * Math.max(0, time - REST);
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          return [c * x - s * y, s * x + c * y, z];
        },
      },
      { name: 'ground', geometry: makeGrid(9, 9, 3, 3), material: { kind: 'obstacle' } },
    ],
    view: [-0.4, 1, -0.5],
  };
};
