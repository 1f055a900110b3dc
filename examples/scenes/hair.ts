import { assemble } from './assemble.js';
import { EDGE, fill, makeNoise, type Point } from './shapes.js';
import type { Body, MakeScene } from './types.js';

const DEFAULT_VERTICES = 1600;
const POINTS_PER_STRAND = 20;
/** The first points of a strand are held by the scalp. */
const ROOTS_PER_STRAND = 2;
const SPACING = 0.008;
/** Sideways displacement of a tip; the two bunches move in opposite directions. */
const SWEEP = 0.03;
/** Oblique to the rows: each strand must pass between several strands of the other bunch. */
const SWEEP_ANGLE = (25 * Math.PI) / 180;
/** Below half the spacing between a strand and its neighbours, so that the start is free. */
const WAVE = 0.0012;

interface Strand {
  readonly x: number;
  readonly y: number;
  readonly direction: 1 | -1;
  readonly phase: number;
}

const pointOf = (strand: Strand, i: number, swept: number): Point => {
  const share = Math.max(0, i - (ROOTS_PER_STRAND - 1)) / (POINTS_PER_STRAND - ROOTS_PER_STRAND);
  const away = swept * SWEEP * strand.direction * share * share;
  return [
    strand.x + WAVE * Math.sin(0.9 * i + strand.phase) + away * Math.cos(SWEEP_ANGLE),
    strand.y + WAVE * Math.cos(0.7 * i + 2 * strand.phase) + away * Math.sin(SWEEP_ANGLE),
    -i * EDGE + Math.abs(away) * 0.3 * share,
  ];
};

/** Two interleaved bunches of strands that are swept through each other. */
export const makeHair: MakeScene = (vertices = DEFAULT_VERTICES) => {
  const noise = makeNoise(5);
  const pairs = Math.max(32, Math.round(vertices / (2 * POINTS_PER_STRAND)));
  const columns = Math.ceil(Math.sqrt(pairs));
  const strands = Array.from({ length: 2 * pairs }, (_, i): Strand => {
    const cell = Math.floor(i / 2);
    const half = (i % 2) / 2;
    return {
      x: (cell % columns) * SPACING + half * SPACING,
      y: (Math.floor(cell / columns) + half) * SPACING,
      direction: i % 2 === 0 ? 1 : -1,
      phase: 2 * Math.PI * noise(),
    };
  });
  const free = POINTS_PER_STRAND - ROOTS_PER_STRAND;
  const freeCount = free * strands.length;
  const idOf = (strand: number, i: number) =>
    i < ROOTS_PER_STRAND ? freeCount + strand * ROOTS_PER_STRAND + i : strand * free + i - ROOTS_PER_STRAND;
  const place = (swept: number) => {
    const points = new Array<Point>(POINTS_PER_STRAND * strands.length);
    strands.forEach((strand, s) => {
      for (let i = 0; i < POINTS_PER_STRAND; i++) points[idOf(s, i)] = pointOf(strand, i, swept);
    });
    return fill(points.length, (vertex) => points[vertex]);
  };
  const segments = strands.flatMap((_, s) =>
    Array.from({ length: POINTS_PER_STRAND - 1 }, (_, i) => [idOf(s, i), idOf(s, i + 1)]).flat(),
  );
  const body: Body = {
    name: 'strands',
    role: 'first',
    isKinematic: false,
    kinematicTail: ROOTS_PER_STRAND * strands.length,
    start: place(0),
    target: place(1),
    segments,
  };
  return assemble('hair', 'Two interleaved bunches of strands are swept through each other; the roots are held.', [
    body,
  ]);
};
