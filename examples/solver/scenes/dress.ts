import type { Body, Vec } from '../src/bodies.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeRevolution } from './shapes.js';
import type { MakeScene } from './types.js';
import { wornOver } from './worn.js';

const LAYERS = 3;
/** m: the waist, from which the layers hang, and their hems */
const WAIST = { radius: 0.13, height: 1 };
const HEM = { radius: 0.34, height: 0.45 };
const SPACE = 0.012;

/** The body from its feet to its chest: [radius, z]. */
const BODY: readonly (readonly [number, number])[] = [
  [0.1, 0.2],
  [0.12, 0.5],
  [0.15, 0.8],
  [0.14, 0.9],
  [0.115, 1],
  [0.12, 1.2],
];

/** Points of the body's outline, `count` between every two. */
const refine = (count: number): [number, number][] =>
  BODY.slice(1).flatMap(([r, z], i) => {
    const [r0, z0] = BODY[i]!;
    const first = i === 0 ? 0 : 1;
    return Array.from({ length: count + 1 - first }, (_, k): [number, number] => {
      const share = (k + first) / count;
      return [r0 + (r - r0) * share, z0 + (z - z0) * share];
    });
  });

/** m and rad: the dance of the body at a time, s */
function dance([x, y, z]: Vec, time: number): Vec {
  const eased = Math.min(1, time / 0.5);
  const angle = eased * 0.9 * Math.sin(3 * time);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const sway = eased * 0.12 * Math.sin(2 * time);
  return [c * x - s * y + sway, s * x + c * y, z + eased * 0.04 * Math.sin(6 * time)];
}

/** A skirt of several layers on a body that turns, sways and jumps (Fig. 21, left: dress). */
export const dress: MakeScene = (size) => {
  const around = bySize(size, { small: 24, quarter: 62, full: 124 });
  const rings = bySize(size, { small: 9, quarter: 38, full: 76 });
  const layers = Array.from({ length: LAYERS }, (_, layer): Body => {
    const profile = Array.from({ length: rings }, (__, i) => {
      const share = i / (rings - 1);
      const radius = WAIST.radius + (HEM.radius - WAIST.radius) * share + SPACE * layer;
      return [radius, WAIST.height + (HEM.height - WAIST.height) * share] as const;
    });
    return {
      name: `layer ${layer + 1}`,
      geometry: makeRevolution(profile, around),
      material: COTTON,
      pins: Array(around).keys(),
      motion: dance,
    };
  });
  const body = makeRevolution(refine(bySize(size, { small: 2, quarter: 6, full: 12 })), around);
  return {
    name: 'dress',
    sentence: 'A skirt of three layers on a body that turns, sways and jumps.',
    paper: {
      name: 'Dress (Fig. 21a)',
      size: '30K, 60K',
      averageSteps: 39,
      maximumSteps: 142,
      averageCost: 0.133,
      maximumCost: 0.511,
    },
    timeStep: 1 / 100,
    frames: 400,
    friction: { static: 0.2, kinetic: 0.2 },
    // Much less than the gap between two layers, at every size of the scene.
    parameters: { activationDistance: 0.002 },
    bodies: [...layers, { name: 'body', geometry: body, material: OBSTACLE, motion: dance }],
    ...wornOver(
      layers.map(({ geometry }) => geometry),
      body,
      around,
    ),
    view: [-0.3, 1, -0.2],
  };
};
