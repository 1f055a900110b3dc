import { assemble } from '../../examples/scenes/assemble.js';
import {
  EDGE,
  gridPositions,
  gridTriangles,
  makeNoise,
  mapPoints,
  offsetBy,
  type Point,
  ringSurface,
} from '../../examples/scenes/shapes.js';
import type { Body, Scene } from '../../examples/scenes/types.js';

const LAYERS = 8;
const SIDE = 24;
/** Between layers; δ is 1 mm. */
const GAP = 0.002;
const WAVE = 0.003;
const DROP = 0.004;
const BALL_RADIUS = 0.05;
/** How far the ball rises into the stack. */
const RISE = 0.01;

const makeBall = (): { readonly positions: Float64Array; readonly triangles: number[] } => {
  const rings = Math.round((Math.PI * BALL_RADIUS) / EDGE) - 1;
  const segments = Math.round((2 * Math.PI * BALL_RADIUS) / EDGE);
  const at = (turn: number, row: number): Point => {
    const polar = (Math.PI * (row + 1)) / (rings + 1);
    const angle = 2 * Math.PI * turn;
    return [
      BALL_RADIUS * Math.sin(polar) * Math.cos(angle),
      BALL_RADIUS * Math.sin(polar) * Math.sin(angle),
      -BALL_RADIUS * Math.cos(polar),
    ];
  };
  return ringSurface(segments, rings, at, { first: [0, 0, -BALL_RADIUS], last: [0, 0, BALL_RADIUS] });
};

/** Eight wavy sheets, two δ apart, sink while a ball rises into them from below. */
export function makeStack(): Scene {
  const noise = makeNoise(8);
  const triangles = gridTriangles(SIDE, SIDE);
  const sheet = gridPositions(SIDE, SIDE, EDGE, (x, y) => WAVE * Math.sin(40 * x) * Math.cos(30 * y));
  const sheets = Array.from({ length: LAYERS }, (_, layer): Body => {
    // A fifth of the gap of disorder, so that no two sheets lie vertex over vertex.
    const start = mapPoints(sheet, ([x, y, z]) => [
      x + 0.2 * EDGE * (noise() - 0.5),
      y + 0.2 * EDGE * (noise() - 0.5),
      z + layer * GAP + 0.2 * GAP * (noise() - 0.5),
    ]);
    const role = layer % 2 === 0 ? 'first' : 'second';
    return {
      name: `sheet ${layer + 1}`,
      role,
      isKinematic: false,
      start,
      target: offsetBy(start, [0, 0, -DROP]),
      triangles,
    };
  });
  const ball = makeBall();
  const start = offsetBy(ball.positions, [0, 0, -BALL_RADIUS - WAVE - GAP]);
  const target = offsetBy(start, [0, 0, RISE]);
  const body: Body = {
    name: 'ball',
    role: 'obstacle',
    isKinematic: true,
    start,
    target,
    triangles: ball.triangles,
  };
  return assemble('stack', 'Eight sheets sink while a ball rises into them.', [...sheets, body]);
}
