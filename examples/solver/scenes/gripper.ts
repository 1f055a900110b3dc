import type { Geometry, Vec } from '../src/bodies.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, movedBy, placed } from './shapes.js';
import type { MakeScene } from './types.js';

/** m: the towel, folded once across its length */
const TOWEL = { length: 0.6, width: 0.35 };
/** m: radius of the discs of the gripper, and what of the folded towel lies before their centre */
const DISC = { radius: 0.03, from: 0.1 };
/** m: distance of the layers between the discs once they are closed */
const HELD = 0.0002;
/** s: the gripper closes until then, and lifts the towel until then; m: how high */
const CLOSED = 0.3;
const LIFTED = 1.5;
const HEIGHT = 0.35;

/** A gripper takes both layers of a folded towel, which lies on a table, and lifts them. */
export const gripper: MakeScene = (size) => {
  const [along, across] = bySize(size, { small: [31, 18], quarter: [73, 43], full: [145, 85] } as const);
  const spacing = TOWEL.length / (along - 1);
  const radius = Math.max(0.006, (0.5 * spacing) / Math.PI);
  const towel = folded(makeGrid(along, across, TOWEL.length, TOWEL.width), radius);
  const middle = 2 * radius;
  const end = Math.max(...xsOf(towel));
  const isHeld = ([x, y]: Vec): boolean => Math.hypot(x - (end - DISC.from), y) < DISC.radius;
  return {
    name: 'gripper',
    sentence: 'A gripper takes both layers of a folded towel and lifts them from a table.',
    timeStep: 1 / 100,
    frames: 200,
    friction: { static: 0.3, kinetic: 0.3 },
    bodies: [
      {
        name: 'towel',
        geometry: towel,
        material: COTTON,
        pins: verticesOf(towel).flatMap((vertex, v) => (isHeld(vertex) ? [v] : [])),
        motion: ([x, y, z], time) => {
          const closed = smooth(time / CLOSED);
          const lifted = HEIGHT * smooth((time - CLOSED) / (LIFTED - CLOSED));
          const side = Math.sign(z - middle);
          return [x, y, (1 - closed) * z + closed * (middle + (side * HELD) / 2) + lifted];
        },
      },
      { name: 'table', geometry: makeGrid(9, 9, 1.2, 1.2), material: OBSTACLE },
    ],
    view: [-0.5, 1, -0.3],
  };
};

/** Folds a sheet over the middle of its length; the fold is half a circle, and the lower half lies a radius above z = 0. */
function folded(sheet: Geometry, radius: number): Geometry {
  const arc = Math.PI * radius;
  const shape = placed(sheet, ([s, y]) => {
    const angle = s / radius;
    if (s < -arc / 2) return [-s - arc / 2, y, radius];
    if (s > arc / 2) return [s - arc / 2, y, 3 * radius];
    return [-radius * Math.cos(angle), y, radius * (2 + Math.sin(angle))];
  });
  const center = (Math.max(...xsOf(shape)) + Math.min(...xsOf(shape))) / 2;
  return { ...movedBy(shape, [-center, 0, 0]), rest: sheet.positions };
}

/** Rises from 0 to 1 with no velocity at either end. */
function smooth(share: number): number {
  const s = Math.min(1, Math.max(0, share));
  return s * s * (3 - 2 * s);
}

const verticesOf = ({ positions }: Geometry): Vec[] =>
  Array.from({ length: positions.length / 3 }, (_, v) => [
    positions[3 * v]!,
    positions[3 * v + 1]!,
    positions[3 * v + 2]!,
  ]);

const xsOf = (geometry: Geometry): number[] => verticesOf(geometry).map(([x]) => x);
