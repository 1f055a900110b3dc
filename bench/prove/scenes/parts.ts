import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/* Scenes for parts of which some ignore each other. */

const EDGE = 0.01;

/** Indices in the list of parts. */
const [LEFT, RIGHT, LOOSE, HARD] = [0, 1, 2, 3];

/**
 * A cloth that is sewn together from two parts, a plate of two large triangles below it and a blade through its left
 * half. The left half and the hard parts ignore each other; the right half, whatever lies on either, and elements that
 * span the seam do not. The blade moves through the left half and reaches the seam from there; the cloth stays or
 * descends on the plate, and its left half would pull the seam along. A string from the plate to a loose point spans
 * two parts as well.
 */
export function sewnParts(random: Random): ProveScene {
  const b = new Builder();
  const n = 6;
  const side = n * EDGE;
  const fall = random.next() < 0.5 ? random.between(0.022, 0.03) : 0;
  const height = random.between(0.002, 0.004);
  const wave = random.between(0, 0.0015);
  const place = (u: number, v: number): Point => [
    side * (u - 0.5),
    side * (v - 0.5),
    height + wave * Math.sin(7 * u + 5 * v),
  ];
  const lowered = ([x, y, z]: Point, by: number): Point => [x, y, z - by];
  b.sheet(n, n, place, (u, v) => lowered(place(u, v), fall));
  const rows = 3 + random.below(2);
  const seam = side * (rows / n - 0.5);

  // On either half, beside the path of the blade.
  const anywhere = (k: number): number =>
    k % 2 === 0 ? random.between(seam + EDGE, side / 2) : random.between(-side / 2, seam - 2.6 * EDGE);
  const drop = fall + 0.02;
  for (let k = 0; k < 6; k++) {
    const at: Point = [0.008 * k - 0.02, anywhere(k), height + 0.004 + 0.001 * k];
    const rod: Point[] = [at, [at[0] + 0.007, at[1] + 0.001, at[2] + 0.002]];
    b.strand(
      rod,
      rod.map((p) => lowered(p, drop)),
    );
  }
  for (let k = 0; k < 6; k++) {
    const at: Point = [0.008 * k - 0.02, anywhere(k), height + 0.003];
    b.particle(at, lowered(at, drop));
  }
  const end = b.vertex([-0.6 * side, -0.3 * side, 0.02], [0.1 * side, -0.3 * side, 0.02 - fall]);

  const isHeld = random.next() < 0.5;
  const plate = (u: number, v: number): Point => [1.4 * side * (u - 0.5), 1.4 * side * (v - 0.5), -0.014];
  const corner = b.sheet(1, 1, plate, plate, () => isHeld);
  const distance = random.between(0.025, 0.035);
  const x = EDGE * (random.below(4) - 2 + random.between(0.3, 0.7));
  const blade = [
    [x, seam - 1.5 * EDGE, -0.0125],
    [x, seam - 1.5 * EDGE, 0.018],
    [x + 0.001, seam - 2.2 * EDGE, 0.02],
  ].map((at) => b.vertex(at as unknown as Point, [at[0], at[1] + distance, at[2]], isHeld));
  b.triangle(blade[0], blade[1], blade[2]);
  b.segment(corner, end);

  const { mesh, ...scene } = b.build();
  const firsts = [0, (rows + 1) * (n + 1), (n + 1) ** 2, corner, mesh.vertexCount];
  const parts = ['left', 'right', 'loose', 'hard'].map((name, p) => ({
    name,
    firstVertex: firsts[p],
    vertexCount: firsts[p + 1] - firsts[p],
    kinematic: false,
  }));
  const ignored = random.next() < 0.5 ? [HARD, LEFT] : [LEFT, HARD, LOOSE, LOOSE];
  if (ignored.includes(RIGHT)) throw new Error('The right half is promised against everything.');
  return { ...scene, mesh: { ...mesh, parts, ignoredPartPairs: Uint32Array.from(ignored) } };
}
