import { longSteps } from './long-steps.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeRevolution, makeSphere, movedBy } from './shapes.js';
import type { MakeScene, PaperRow } from './types.js';

const SIDE = 1;
/** s: the cloth lies in the funnel before the ball comes down */
const REST = 0.8;
/** m/s */
const DESCENT = 0.4;
const BALL = { radius: 0.09, height: 0.55 };

/** [radius, z] along the wall: a wide cone, then a spout. */
const WALL: readonly (readonly [number, number])[] = [
  [0.52, 0.25],
  [0.15, -0.1],
  [0.15, -0.4],
];

const ROWS: Readonly<Record<number, Omit<PaperRow, 'name' | 'size'>>> = {
  20: { averageSteps: 27, maximumSteps: 675, averageCost: 0.087, maximumCost: 2.161 },
  40: { averageSteps: 23, maximumSteps: 437, averageCost: 0.055, maximumCost: 1.198 },
  80: { averageSteps: 12, maximumSteps: 165, averageCost: 0.04, maximumCost: 0.776 },
  160: { averageSteps: 10, maximumSteps: 95, averageCost: 0.029, maximumCost: 0.296 },
};

/** Points along a polyline, about `spacing` apart, corners included. */
function divide(line: typeof WALL, spacing: number): [number, number][] {
  const points: [number, number][] = [[...line[0]!] as [number, number]];
  line.slice(1).forEach(([r, z], i) => {
    const [r0, z0] = line[i]!;
    const count = Math.max(1, Math.round(Math.hypot(r - r0, z - z0) / spacing));
    for (let k = 1; k <= count; k++) points.push([r0 + ((r - r0) * k) / count, z0 + ((z - z0) * k) / count]);
  });
  return points;
}

/** A cloth sinks into a funnel, and a ball pushes it through (Fig. 15). @param rate time steps per second */
const funnelAt =
  (rate: number): MakeScene =>
  (size) => {
    const cloth = bySize(size, { small: 20, quarter: 104, full: 212 });
    const around = bySize(size, { small: 24, quarter: 48, full: 80 });
    return {
      name: `funnel-${rate}`,
      sentence: `A cloth sinks into a funnel and a ball pushes it through; ${rate} steps a second.`,
      paper: { name: `Funnel 1/${rate} (Fig. 15)`, size: '49K, 98K', ...ROWS[rate]! },
      timeStep: 1 / rate,
      frames: 4 * rate,
      ...longSteps(COTTON, SIDE / (cloth - 1)),
      friction: { static: 0.1, kinetic: 0.1 },
      parameters: { stepLimit: 65_536 },
      bodies: [
        {
          name: 'cloth',
          geometry: movedBy(makeGrid(cloth, cloth, SIDE, SIDE), [0, 0, 0.29]),
          material: COTTON,
        },
        {
          name: 'funnel',
          geometry: makeRevolution(divide(WALL, (2 * Math.PI * 0.3) / around), around),
          material: OBSTACLE,
        },
        {
          name: 'ball',
          geometry: movedBy(makeSphere(BALL.radius, bySize(size, { small: 3, quarter: 8, full: 12 })), [
            0,
            0,
            BALL.height,
          ]),
          material: OBSTACLE,
          motion: ([x, y, z], time) => [x, y, z - DESCENT * Math.max(0, time - REST)],
        },
      ],
      view: [-0.3, 1, -0.6],
    };
  };

export const FUNNELS: readonly MakeScene[] = Object.keys(ROWS).map((rate) => funnelAt(Number(rate)));
