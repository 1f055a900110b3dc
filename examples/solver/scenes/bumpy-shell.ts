import type { Vec } from '../src/bodies.js';
import type { ShellScene } from '../src/isometric/shell.js';
import { OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeSphere, movedBy, placed } from './shapes.js';
import type { Size } from './types.js';

/** Height above the floor, m: vertices of finer meshes lie nearer to the tips of the legs. */
const LIFT = { small: 0.25, quarter: 0.3, full: 0.3 };
/** Direction, height and width of limbs on a ball of radius 1: legs, arms, ears, a snout and a tail. */
const LIMBS: readonly (readonly [Vec, number, number])[] = [
  [[0.45, 0, -1], 0.9, 0.35],
  [[-0.45, 0, -1], 0.9, 0.35],
  [[1, 0.2, 0.2], 0.8, 0.3],
  [[-1, 0.2, 0.2], 0.8, 0.3],
  [[0.35, 0, 1], 0.5, 0.25],
  [[-0.35, 0, 1], 0.5, 0.25],
  [[0, 1, 0.4], 0.6, 0.3],
  [[0, -1, -0.4], 0.8, 0.3],
];

const bump = (direction: Vec): number => {
  const length = Math.hypot(...direction);
  let height = 1;
  for (const [limb, size, width] of LIMBS) {
    const cosine = limb.reduce((sum, value, c) => sum + value * direction[c]!, 0) / (length * Math.hypot(...limb));
    height += size * Math.exp(-(Math.acos(Math.min(1, Math.max(-1, cosine))) ** 2) / width ** 2);
  }
  return height;
};

/** A closed shell with limbs, curved at rest, that falls onto the floor (after Figs. 4.6 and 4.7 of Wang 2012). */
function bumpyShell(stiffness: 'soft' | 'stiff') {
  return (size: Size): ShellScene => ({
    name: `bumpy-shell-${stiffness}`,
    sentence: `A closed shell with limbs, of ${stiffness} bending, falls onto the floor.`,
    timeStep: 1 / 200,
    frames: bySize(size, { small: 50, quarter: 120, full: 120 }),
    surface: movedBy(
      placed(makeSphere(0.15, bySize(size, { small: 4, quarter: 11, full: 22 })), (v) => {
        const height = bump(v);
        return [v[0] * height, v[1] * height, v[2] * height];
      }),
      [0, 0, bySize(size, LIFT)],
    ),
    density: 0.4,
    bending: stiffness === 'soft' ? 1e-3 : 1e-1,
    friction: { static: 0.3, kinetic: 0.3 },
    strainTolerance: 1e-3,
    obstacles: [{ name: 'floor', geometry: makeGrid(5, 5, 2, 2), material: OBSTACLE }],
    view: [-0.5, 1, -0.3],
  });
}

export const BUMPY_SHELLS = [bumpyShell('soft'), bumpyShell('stiff')];
