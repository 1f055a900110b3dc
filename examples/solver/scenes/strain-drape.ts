import type { Cloth } from '../src/bodies.js';
import { OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeSphere, movedBy, placed } from './shapes.js';
import type { MakeScene } from './types.js';

const SIDE = 1;
/** m, m/s, s: the ball that flies through the plane y = 0, in which the other cloth hangs */
const BALL = { radius: 0.15, from: -0.4, height: -0.55, speed: 1 };
const FLIGHT = 1.6;

/** A cloth far too soft to support itself: only the limits maintain its shape. */
const softWithin = (percent: number): Cloth => ({
  kind: 'cloth',
  density: 0.2,
  stretching: 10,
  poisson: 0.3,
  bending: 2e-5,
  strainLimits: [1 - percent / 100, 1 + percent / 100],
});

/** 2 · 64² triangles at full size, 2 · 32² at a quarter, as in the paper. */
const clothOf = (n: number, percent: number) => ({
  name: 'cloth',
  geometry: makeGrid(n, n, SIDE, SIDE),
  material: softWithin(percent),
  pins: [n * (n - 1), n * n - 1],
});

/**
 * A cloth with strain limits falls from two pins (Fig. 9 of Wang et al. 2016).
 *
 * @param percent by which elements may deform
 */
const strainDrape =
  (percent: number): MakeScene =>
  (size) => ({
    name: `strain-${percent}`,
    sentence: `A cloth whose elements deform by ${percent} % at most hangs from two corners.`,
    timeStep: 1 / 100,
    frames: 150,
    bodies: [clothOf(bySize(size, { small: 13, quarter: 33, full: 65 }), percent)],
    view: [-0.4, 1, -0.3],
  });

/** The same body upright, its pins at z = 0. */
const hanging = ({ geometry, ...body }: ReturnType<typeof clothOf>) => ({
  ...body,
  geometry: placed(geometry, ([x, y]) => [x, 0, y - SIDE / 2]),
});

/** A ball hits such a hanging cloth (Fig. 7 of Wang et al. 2016). */
const strainBall: MakeScene = (size) => ({
  name: 'strain-ball',
  sentence: 'A ball hits a hanging cloth whose elements deform by 5 % at most.',
  timeStep: 1 / 100,
  frames: 200,
  friction: { static: 0.2, kinetic: 0.2 },
  bodies: [
    hanging(clothOf(bySize(size, { small: 13, quarter: 33, full: 65 }), 5)),
    {
      name: 'ball',
      geometry: movedBy(makeSphere(BALL.radius, bySize(size, { small: 4, quarter: 8, full: 16 })), [
        0,
        BALL.from,
        BALL.height,
      ]),
      material: OBSTACLE,
      motion: ([x, y, z], time) => [x, y + BALL.speed * Math.min(time, FLIGHT), z],
    },
  ],
  view: [-0.6, 1, -0.3],
});

export const STRAIN_LIMITED: readonly MakeScene[] = [...[10, 5, 1].map(strainDrape), strainBall];
