import type { Body, Vec } from '../src/bodies.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeGrid, makeSphere, movedBy } from './shapes.js';
import type { MakeScene } from './types.js';

const LAYERS = 3;
/** m: a sheet, and the gap between two */
const SIDE = 0.9;
const SPACE = 0.03;
/** m: the spheres, and the distance of their surfaces before they close */
const RADIUS = 0.22;
const APART = 0.2;
/**
 * s: the sheets have settled on the spheres; m/s of each sphere towards the other, and rad/s about y, in opposite
 * directions
 */
const REST = 0.35;
const CLOSING = 0.275;
const SPIN = 2;

/** Position of a sphere: it closes in and turns, so that the sheets on it are drawn down between the two. */
const motion =
  (side: 1 | -1, nip: number) =>
  ([x, y, z]: Vec, time: number): Vec => {
    const since = Math.max(0, time - REST);
    const centre = side * (RADIUS + APART / 2);
    const angle = -side * SPIN * since;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const [u, w] = [x - centre, z];
    return [centre - side * CLOSING * Math.min(since, (APART - nip) / 2 / CLOSING) + c * u + s * w, y, c * w - s * u];
  };

/**
 * Sheets lie on two spheres that turn in opposite directions and close in on them, until they pinch the sheets (Fig. 2,
 * middle, of Sifakis et al. 2008). There the spheres overlap in the end, because they are simulated as cloth and yield.
 * Here they are obstacles, and stop when three sheets have just enough room: no answer can satisfy overlapping
 * obstacles.
 */
export const betweenSpheres: MakeScene = (size) => {
  const n = bySize(size, { small: 14, quarter: 45, full: 90 });
  const divisions = bySize(size, { small: 5, quarter: 14, full: 28 });
  // m: four contacts in a row, each twice as wide as the service's default aim, a fortieth of an edge.
  const nip = ((LAYERS + 1) * SIDE) / (n - 1) / 20;
  const sheets = Array.from(
    { length: LAYERS },
    (_, i): Body => ({
      name: `sheet ${i + 1}`,
      geometry: movedBy(makeGrid(n, n, SIDE, SIDE), [0, 0, RADIUS + SPACE * (i + 1)]),
      material: COTTON,
    }),
  );
  const sphere = (side: 1 | -1): Body => ({
    name: side === 1 ? 'right sphere' : 'left sphere',
    geometry: movedBy(makeSphere(RADIUS, divisions), [side * (RADIUS + APART / 2), 0, 0]),
    material: OBSTACLE,
    motion: motion(side, nip),
  });
  return {
    name: 'between-spheres',
    sentence: 'Sheets are drawn in between two spheres that turn, close in and pinch them.',
    timeStep: 1 / 60,
    // By then the sheets have left the spheres, and fall.
    frames: 80,
    friction: { static: 0.4, kinetic: 0.4 },
    bodies: [...sheets, sphere(1), sphere(-1)],
    view: [-0.3, 1, -0.3],
  };
};
