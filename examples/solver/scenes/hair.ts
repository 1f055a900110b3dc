import type { Strands } from '../src/bodies.js';
import { bySize } from './shapes.js';
import type { MakeScene } from './types.js';

const LENGTH = 0.3;
/**
 * m, radius of the tress at its ends. If all strands are equally long, the inner ones of a twisted tress have a shorter
 * way than the outer ones. Their excess is 2 % of their length here; in a tress of four times the radius it is more
 * than a tenth, sinks to the lower end, and contracts the twist to a neck of a few millimetres.
 */
const RADIUS = 0.009;
/**
 * δ over the spacing of the strands at the ends: 0.2 mm at quarter size, as in the paper. Strands repel each other
 * within twice that distance, so that a dense bundle of them has two fifths of the radius of the tress, whatever their
 * number.
 */
const NEAR = 0.2;
/**
 * Radius of the twisted core over that of the tress: more than that of a dense bundle, for strands that lie in waves.
 */
const CORE = 0.5;
/** rad of the lower ends, s of the twist and of its reversal */
const TWIST = 4 * Math.PI;
const TWISTING = 2;

const STRAND: Strands = { kind: 'strands', density: 1e-3, stretching: 20, bending: 1 };

/** A tress is twisted at its lower end, and untwisted again (Fig. 3c, 3d). */
export const hair: MakeScene = (size) => {
  const rings = bySize(size, { small: 2, quarter: 9, full: 18 });
  const spacing = RADIUS / rings;
  const perStrand = bySize(size, { small: 21, quarter: 61, full: 61 });
  const roots: [number, number][] = [];
  for (let i = -rings; i <= rings; i++) {
    for (let j = -rings; j <= rings; j++) {
      const [x, y] = [spacing * (i + j / 2), (spacing * j * Math.sqrt(3)) / 2];
      if (Math.hypot(x, y) < spacing * (rings + 0.1)) roots.push([x, y]);
    }
  }
  const positions = new Float64Array(3 * roots.length * perStrand);
  const segments: number[] = [];
  roots.forEach(([x, y], strand) => {
    for (let k = 0; k < perStrand; k++) {
      const id = strand * perStrand + k;
      positions.set([x, y, -(LENGTH * k) / (perStrand - 1)], 3 * id);
      if (k > 0) segments.push(id - 1, id);
    }
  });
  return {
    name: 'hair',
    sentence: 'A tress is twisted at its lower end and loosened again.',
    paper: {
      name: 'Hair (Fig. 3c)',
      size: '63K, 62k edg.',
      averageSteps: 16,
      maximumSteps: 503,
      averageCost: 0.252,
      maximumCost: 15.821,
    },
    timeStep: 1 / 100,
    frames: 400,
    friction: { static: 0.2, kinetic: 0.2 },
    // A strand that is pushed along itself has no sideways restraint in the linear system, and moves far to the side in
    // the next target if contacts compress it: with one iteration the small tress stores seven times as much energy.
    iterations: 2,
    // As stiff as a strand is across under 0.25 N. With a tenth of it the strands of the core sink in, and are
    // stretched as the tress gets tighter.
    repulsionStiffness: 1e7,
    parameters: { activationDistance: NEAR * spacing },
    bodies: [
      {
        name: 'tress',
        geometry: { positions, segments: Uint32Array.from(segments) },
        material: STRAND,
        pins: roots.flatMap((_, strand) => [strand * perStrand, (strand + 1) * perStrand - 1]),
        motion: ([x, y, z], time) => {
          if (z === 0) return [x, y, z];
          const share = 1 - Math.abs(1 - Math.min(time / TWISTING, 2));
          const angle = TWIST * share;
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          return [c * x - s * y, s * x + c * y, z + riseAt(angle)];
        },
      },
    ],
    view: [-0.5, 1, -0.1],
  };
};

/**
 * How far the end of a tress that is twisted by an angle rises, so that its outermost strands keep their length, m.
 * Seen along the axis, they run straight until they touch the core, and around it from there on. If the end rises by
 * less, they compress the core: a stretch of two per cent is a force of 0.4 N, and the repulsion of a contact ends at
 * 20 mN.
 */
function riseAt(angle: number): number {
  const core = CORE * RADIUS;
  const straight = Math.min(angle, 2 * Math.acos(core / RADIUS));
  const across = 2 * RADIUS * Math.sin(straight / 2) + core * (angle - straight);
  return LENGTH - Math.sqrt(LENGTH * LENGTH - across * across);
}
