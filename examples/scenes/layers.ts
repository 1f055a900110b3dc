import { assemble } from './assemble.js';
import { EDGE, gridPositions, gridTriangles, makeNoise, mapPoints, sideOf } from './shapes.js';
import type { Body, MakeScene } from './types.js';

const DEFAULT_VERTICES = 1800;
const GAP = 0.03;
/** Offset of the layers' grids: if they coincided, every pair would meet vertex on vertex. */
const TURN = (7 * Math.PI) / 180;
const JITTER = 0.15 * EDGE;

const makeLayer = (name: string, side: number, seed: number, turn: number, from: number, to: number): Body => {
  const noise = makeNoise(seed);
  const ripple = (x: number, y: number) => 0.003 * Math.sin(21 * x + seed) * Math.cos(17 * y - seed);
  const flat = mapPoints(gridPositions(side, side, EDGE), ([x, y]) => {
    const [jx, jy] = [x + JITTER * (2 * noise() - 1), y + JITTER * (2 * noise() - 1)];
    return [jx * Math.cos(turn) - jy * Math.sin(turn), jx * Math.sin(turn) + jy * Math.cos(turn), 0];
  });
  return {
    name,
    role: seed === 1 ? 'first' : 'second',
    isKinematic: false,
    start: mapPoints(flat, ([x, y]) => [x, y, from + ripple(x, y)]),
    target: mapPoints(flat, ([x, y]) => [x, y, to + ripple(x, y)]),
    triangles: gridTriangles(side, side, () => noise() < 0.5),
  };
};

/** Two cloths, one above the other; the target of each is the position of the other. */
export const makeLayers: MakeScene = (vertices = DEFAULT_VERTICES) => {
  const side = sideOf(vertices / 2);
  return assemble('layers', 'Two layers of cloth, 30 mm apart, which exchange their positions.', [
    makeLayer('lower', side, 1, 0, 0, GAP),
    makeLayer('upper', side, 2, TURN, GAP, 0),
  ]);
};
