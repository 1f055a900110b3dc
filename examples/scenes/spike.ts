import { assemble } from './assemble.js';
import {
  EDGE,
  gridPositions,
  gridTriangles,
  makeNoise,
  mapPoints,
  offsetBy,
  type Point,
  ringSurface,
} from './shapes.js';
import type { Body, MakeScene } from './types.js';

const DEFAULT_VERTICES = 1250;
const CLOTH_HEIGHT = 0.02;
const DROP = 0.09;
const SPIKE_HEIGHT = 0.12;
const SPIKE_RADIUS = 0.06;
const SPIKE_SEGMENTS = 24;
/** The cloth that one spike needs around it, so that the cloth can hang freely. */
const PITCH = 0.3;

const makeSpike = (name: string, offset: Point): Body => {
  const rings = Math.round(SPIKE_HEIGHT / EDGE);
  const surface = ringSurface(
    SPIKE_SEGMENTS,
    rings,
    (turn, row) => {
      const share = (row + 1) / rings;
      const radius = SPIKE_RADIUS * share;
      return [radius * Math.cos(2 * Math.PI * turn), radius * Math.sin(2 * Math.PI * turn), -SPIKE_HEIGHT * share];
    },
    { first: [0, 0, 0], last: [0, 0, -SPIKE_HEIGHT] },
  );
  const start = offsetBy(surface.positions, offset);
  return { name, role: 'obstacle', isKinematic: true, start, target: start, triangles: surface.triangles };
};

/** A cloth that is pulled down as a whole, although spikes stand in its way. */
export const makeSpikeScene: MakeScene = (vertices = DEFAULT_VERTICES) => {
  const count = vertices / ((PITCH / EDGE) ** 2 + SPIKE_SEGMENTS * Math.round(SPIKE_HEIGHT / EDGE));
  const across = Math.max(1, Math.round(Math.sqrt(count)));
  const along = Math.max(1, Math.round(count / across));
  const [columns, rows] = [across, along].map((spikes) => Math.round((spikes * PITCH) / EDGE) + 1);
  const noise = makeNoise(3);
  const jitter = () => 0.15 * EDGE * (2 * noise() - 1);
  const start = mapPoints(gridPositions(columns, rows, EDGE), ([x, y]) => [x + jitter(), y + jitter(), CLOTH_HEIGHT]);
  const cloth: Body = {
    name: 'cloth',
    role: 'first',
    isKinematic: false,
    start,
    target: offsetBy(start, [0, 0, -DROP]),
    triangles: gridTriangles(columns, rows),
  };
  const at = (i: number, of: number) => (i - (of - 1) / 2) * PITCH;
  const spikes = Array.from({ length: across * along }, (_, i) =>
    makeSpike(`spike ${i + 1}`, [at(i % across, across), at(Math.floor(i / across), along), 0]),
  );
  return assemble('spike', 'A cloth is pulled down 90 mm although a spike stands in its way.', [cloth, ...spikes]);
};
