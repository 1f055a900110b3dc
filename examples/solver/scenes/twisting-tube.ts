import { asStiffAs } from './long-steps.js';
import { COTTON } from './materials.js';
import { bySize, makeRevolution } from './shapes.js';
import type { MakeScene } from './types.js';

const RADIUS = 0.1;
const LENGTH = 1;
/** rad/s of each end, in opposite directions */
const TWIST = 2;

/** A tube of cloth is twisted at both ends, until its middle is squeezed and winds up (Fig. 12). */
export const twistingTube: MakeScene = (size) => {
  const around = bySize(size, { small: 20, quarter: 62, full: 125 });
  const rings = Math.round((around * LENGTH) / (2 * Math.PI * RADIUS)) + 1;
  const profile = Array.from({ length: rings }, (_, i) => [RADIUS, LENGTH * (i / (rings - 1) - 0.5)] as const);
  const count = around * rings;
  const ends = [...Array(around).keys()].flatMap((k) => [k, count - 1 - k]);
  return {
    name: 'twisting-tube',
    sentence: 'A tube of cloth is twisted at both ends until its middle winds up.',
    paper: {
      name: 'Tube (Fig. 12)',
      size: '25k, 51K',
      averageSteps: 19,
      maximumSteps: 54,
      averageCost: 0.308,
      maximumCost: 1.5,
    },
    timeStep: 1 / 100,
    frames: 500,
    gravity: [0, 0, 0],
    // Its layers are pressed together as hard as the cloth is stretched.
    repulsionStiffness: asStiffAs(COTTON, LENGTH / (rings - 1)),
    bodies: [
      {
        name: 'tube',
        geometry: makeRevolution(profile, around),
        material: COTTON,
        pins: ends,
        motion: ([x, y, z], time) => {
          const angle = Math.sign(z) * TWIST * time;
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          return [c * x - s * y, s * x + c * y, z];
        },
      },
    ],
    view: [-1, 0.3, -0.2],
  };
};
