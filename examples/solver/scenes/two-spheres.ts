import type { Body, Cloth } from '../src/bodies.js';
import { bySize, makeSphere, movedBy } from './shapes.js';
import type { MakeScene } from './types.js';

/** m, m/s */
const RADIUS = 0.15;
const SPEED = 1;
/** m: gap between the two before they move, and the distance at which their centres pass each other */
const SPACE = 0.04;
const ASIDE = 0.06;

/** A ball of thin rubber: it dents, and hardly stretches. */
const BALL: Cloth = { kind: 'cloth', density: 0.4, stretching: 1500, poisson: 0.3, bending: 1e-3 };

/**
 * Two closed shells collide off-centre (Fig. 1 of Sifakis et al. 2008). Nothing else acts on them, so their total
 * momentum is constant.
 */
export const twoSpheres: MakeScene = (size) => {
  const divisions = bySize(size, { small: 4, quarter: 16, full: 32 });
  const ball = (side: 1 | -1): Body => ({
    name: side === 1 ? 'right ball' : 'left ball',
    geometry: movedBy(makeSphere(RADIUS, divisions), [side * (RADIUS + SPACE / 2), (side * ASIDE) / 2, 0]),
    material: BALL,
    velocity: [-side * SPEED, 0, 0],
  });
  return {
    name: 'two-spheres',
    sentence: 'Two closed shells collide off their centres.',
    timeStep: 1 / 60,
    frames: 60,
    gravity: [0, 0, 0],
    bodies: [ball(1), ball(-1)],
    view: [-0.3, 1, -0.4],
  };
};
