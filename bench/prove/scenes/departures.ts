import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

const EDGE = 0.01;

/**
 * Grains, strands and a cloth around two sheets. Some leave for places thousands of edges away, in any direction: on free
 * ways, through the sheets, and across each other's ways.
 */
export function departures(random: Random): ProveScene {
  const b = new Builder();
  const side = 8 * EDGE;
  const away = (): Point => {
    const distance = 10 ** random.between(0.3, 2);
    const straight = random.below(4);
    const along = (c: number) => (straight === 3 || straight === c ? distance * random.between(-1, 1) : 0);
    return [along(0), along(1), along(2)];
  };
  const leaving = random.pick([0.05, 0.3, 1]);
  const aim = (at: Point): Point => {
    const by: Point = random.next() < leaving ? away() : [0, 0, random.between(-EDGE, EDGE)];
    return [at[0] + by[0], at[1] + by[1], at[2] + by[2]];
  };
  for (const height of [-0.03, 0.03]) {
    const isHeld = random.next() < 0.5;
    const flat = (u: number, v: number): Point => [side * (u - 0.5), side * (v - 0.5), height];
    b.sheet(8, 8, flat, flat, () => isHeld);
  }
  const wave = random.between(0, 0.3) * EDGE;
  const cloth = (u: number, v: number): Point => [
    0.9 * side * (u - 0.5),
    0.9 * side * (v - 0.5),
    wave * Math.sin(6 * u + 3 * v),
  ];
  const middle = random.below(49);
  b.sheet(6, 6, cloth, (u, v) => {
    const at = cloth(u, v);
    return Math.round(6 * u) + 7 * Math.round(6 * v) === middle ? aim(at) : at;
  });
  for (let k = 0; k < 6; k++) {
    const points = [0, 1, 2, 3, 4, 5].map(
      (n): Point => [EDGE * (k - 2.5), EDGE * (n - 2.5), 0.015 + 0.001 * Math.sin(k + n)],
    );
    const by = away();
    const goes = random.next() < leaving;
    b.strand(
      points,
      points.map(([x, y, z]) => (goes ? [x + by[0], y + by[1], z + by[2]] : [x, y, z])),
    );
  }
  for (let k = 0; k < 16; k++) {
    const at: Point = [EDGE * ((k % 4) - 1.4), EDGE * (Math.floor(k / 4) - 1.6), -0.015];
    b.particle(at, aim(at));
  }
  return b.build();
}
