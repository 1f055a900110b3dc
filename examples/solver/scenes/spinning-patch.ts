import { longSteps } from './long-steps.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeRevolution, movedBy } from './shapes.js';
import type { MakeScene } from './types.js';

const SIDE = 0.6;
const SPIKE = { height: 0.25, base: 0.12, tip: 0.002, faces: 5 };
const TIME_STEP = 1 / 10;
/** m: how far the patch falls in the first time step */
const FALL = 0.1;

/**
 * A patch falls onto a spike of five faces while it spins (Fig. 16, 17).
 *
 * @param degrees of the spin within one time step
 */
const spinningBy =
  (degrees: number): MakeScene =>
  (size) => {
    const n = bySize(size, { small: 17, quarter: 40, full: 80 });
    const angle = (degrees * Math.PI) / 180;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const rings = bySize(size, { small: 6, quarter: 10, full: 16 });
    const profile = Array.from({ length: rings }, (_, i) => {
      const share = i / (rings - 1);
      return [SPIKE.base + (SPIKE.tip - SPIKE.base) * share, SPIKE.height * share] as const;
    });
    return {
      name: `spin-${degrees}`,
      sentence: `A patch falls onto a spike and turns by ${degrees}° in the first time step.`,
      timeStep: TIME_STEP,
      frames: 10,
      ...longSteps(COTTON, SIDE / (n - 1)),
      parameters: { stepLimit: 2048 },
      bodies: [
        {
          name: 'patch',
          geometry: movedBy(makeGrid(n, n, SIDE, SIDE), [0, 0, SPIKE.height + 0.02]),
          material: COTTON,
          // The chord of the rotation: without elastic forces the first target is the patch rotated as a whole.
          velocity: ([x, y]) => [(c * x - s * y - x) / TIME_STEP, (s * x + c * y - y) / TIME_STEP, -FALL / TIME_STEP],
        },
        { name: 'spike', geometry: makeRevolution(profile, SPIKE.faces), material: OBSTACLE },
      ],
      view: [-0.4, 1, -0.7],
    };
  };

export const SPINS: readonly MakeScene[] = [0, 45, 90, 135].map(spinningBy);
