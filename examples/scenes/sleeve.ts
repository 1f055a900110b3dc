import { assemble } from './assemble.js';
import { EDGE, mapPoints, offsetBy, type Point, rasterOffsets, ringSurface } from './shapes.js';
import type { Body, MakeScene } from './types.js';

const DEFAULT_VERTICES = 2100;
const BODY_RADIUS = 0.04;
const BODY_LENGTH = 0.36;
const SLEEVE_RADIUS = 0.046;
const SLEEVE_LENGTH = 0.24;
const PITCH = 0.5;
/** Sideways displacement of the body's middle; its ends stay. */
const BEND = 0.05;

const circle = (radius: number, turn: number, x: number): Point => [
  x,
  radius * Math.cos(2 * Math.PI * turn),
  radius * Math.sin(2 * Math.PI * turn),
];

const makeArm = () => {
  const segments = Math.round((2 * Math.PI * BODY_RADIUS) / EDGE);
  const straight = Math.round(BODY_LENGTH / EDGE);
  const quarter = Math.round((Math.PI * BODY_RADIUS) / 2 / EDGE);
  // Rings along a half circle at either end, a cylinder between them.
  const rows: { radius: number; x: number }[] = [];
  for (let i = 1; i < quarter; i++) {
    const angle = (Math.PI / 2) * (i / quarter);
    rows.push({ radius: BODY_RADIUS * Math.sin(angle), x: -BODY_LENGTH / 2 - BODY_RADIUS * Math.cos(angle) });
  }
  for (let i = 0; i <= straight; i++) rows.push({ radius: BODY_RADIUS, x: BODY_LENGTH * (i / straight - 0.5) });
  for (let i = quarter - 1; i > 0; i--) {
    const angle = (Math.PI / 2) * (i / quarter);
    rows.push({ radius: BODY_RADIUS * Math.sin(angle), x: BODY_LENGTH / 2 + BODY_RADIUS * Math.cos(angle) });
  }
  const tip = BODY_LENGTH / 2 + BODY_RADIUS;
  return ringSurface(segments, rows.length, (turn, row) => circle(rows[row].radius, turn, rows[row].x), {
    first: [-tip, 0, 0],
    last: [tip, 0, 0],
  });
};

const makeSleeve = () => {
  const segments = Math.round((2 * Math.PI * SLEEVE_RADIUS) / EDGE);
  const rings = Math.round(SLEEVE_LENGTH / (EDGE * 0.87)) + 1;
  return ringSurface(segments, rings, (turn, row) =>
    circle(SLEEVE_RADIUS, turn, SLEEVE_LENGTH * (row / (rings - 1) - 0.5)),
  );
};

/** Bends the axis upwards: most in the middle, not at all at the ends. */
const bend = ([x, y, z]: Point): Point => {
  const share = Math.cos(Math.PI * Math.min(0.5, Math.abs(x) / (BODY_LENGTH + 2 * BODY_RADIUS)));
  return [x, y, z + BEND * share * share];
};

/** A sleeve around an arm that bends; the target of the sleeve is its start. */
export const makeSleeveScene: MakeScene = (vertices = DEFAULT_VERTICES) => {
  const arm = makeArm();
  const sleeve = makeSleeve();
  const perCopy = (arm.positions.length + sleeve.positions.length) / 3;
  const copies = rasterOffsets(Math.max(1, Math.round(vertices / perCopy)), PITCH, PITCH);
  const bodies = copies.flatMap((offset, i): Body[] => {
    const start = offsetBy(sleeve.positions, offset);
    return [
      { name: `sleeve ${i + 1}`, role: 'first', isKinematic: false, start, target: start, triangles: sleeve.triangles },
      {
        name: `arm ${i + 1}`,
        role: 'obstacle',
        isKinematic: true,
        start: offsetBy(arm.positions, offset),
        target: offsetBy(mapPoints(arm.positions, bend), offset),
        triangles: arm.triangles,
      },
    ];
  });
  return assemble('sleeve', 'An arm bends by 50 mm inside a sleeve whose target is its start.', bodies);
};
