import { assemble } from './assemble.js';
import { EDGE, fill, makeNoise, offsetBy, type Point, rasterOffsets, ringSurface } from './shapes.js';
import type { Body, MakeScene } from './types.js';

const DEFAULT_VERTICES = 2300;
const SPACING = 0.006;
const GRAINS_ACROSS = 12;
const LAYERS = 10;
const BOWL_RADIUS = 0.1;
const BOWL_SEGMENTS = 48;
const FALL = 0.11;
const PITCH = 0.25;

/** A hemisphere, open at the top, with one vertex at its lowest point. */
const makeBowl = () => {
  const rings = Math.round((Math.PI / 2) * (BOWL_RADIUS / EDGE));
  return ringSurface(
    BOWL_SEGMENTS,
    rings,
    (turn, row) => {
      const angle = (Math.PI / 2) * ((row + 1) / rings);
      const radius = BOWL_RADIUS * Math.sin(angle);
      return [
        radius * Math.cos(2 * Math.PI * turn),
        radius * Math.sin(2 * Math.PI * turn),
        -BOWL_RADIUS * Math.cos(angle),
      ];
    },
    { first: [0, 0, -BOWL_RADIUS] },
  );
};

const makeGrains = () => {
  const noise = makeNoise(7);
  const jitter = () => 0.3 * SPACING * (noise() - 0.5);
  const count = GRAINS_ACROSS * GRAINS_ACROSS * LAYERS;
  const centre = (GRAINS_ACROSS - 1) / 2;
  return fill(count, (i): Point => {
    const [column, row] = [i % GRAINS_ACROSS, Math.floor(i / GRAINS_ACROSS) % GRAINS_ACROSS];
    const layer = Math.floor(i / (GRAINS_ACROSS * GRAINS_ACROSS));
    return [
      (column - centre) * SPACING + jitter(),
      (row - centre) * SPACING + jitter(),
      layer * SPACING - 0.03 + jitter(),
    ];
  });
};

/** Loose grains that fall into a bowl and would fall through it. */
export const makeSand: MakeScene = (vertices = DEFAULT_VERTICES) => {
  const bowl = makeBowl();
  const grains = makeGrains();
  const perCopy = (bowl.positions.length + grains.length) / 3;
  const copies = rasterOffsets(Math.max(1, Math.round(vertices / perCopy)), PITCH, PITCH);
  const bodies = copies.flatMap((offset, i): Body[] => {
    const start = offsetBy(grains, offset);
    const rim = offsetBy(bowl.positions, offset);
    return [
      {
        name: `sand ${i + 1}`,
        role: 'second',
        isKinematic: false,
        start,
        target: offsetBy(start, [0, 0, -FALL]),
        particles: Array.from({ length: grains.length / 3 }, (_, grain) => grain),
      },
      {
        name: `bowl ${i + 1}`,
        role: 'obstacle',
        isKinematic: true,
        start: rim,
        target: rim,
        triangles: bowl.triangles,
      },
    ];
  });
  return assemble('sand', 'Loose grains fall 110 mm into a bowl, and would fall through it.', bodies);
};
