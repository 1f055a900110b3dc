import { insideOf } from './known-sides.js';
import { Surfaces } from './surfaces.js';
import { between, bump, GAP, GRID, SIZE, shake, type TangleGroup } from './tangle.js';

/** A sphere through a sheet, by a share of its diameter. */
export function sphereThrough(share: number, isKinematic: boolean): TangleGroup {
  return {
    name: `${isKinematic ? 'body' : 'sphere'} through cloth, ${share}`,
    isDecided: isKinematic,
    make: (random) => {
      const scene = new Surfaces();
      const radius = between(random, 2.5, 3.5);
      const [cx, cy] = [SIZE / 2 + between(random, -1, 1), SIZE / 2 + between(random, -1, 1)];
      const cz = -radius * (1 - 2 * share);
      scene.grid('cloth', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + shake(random), SIZE * v + shake(random), 0] }));
      scene.sphere('sphere', 18, 10, [cx, cy, cz], radius, isKinematic);
      const depth = (x: number, y: number, z: number) => 0.95 * radius - Math.hypot(x - cx, y - cy, z - cz);
      return { ...scene.build(), ...(isKinematic ? { countWrong: insideOf(GRID, depth) } : {}) };
    },
  };
}

/** Two sheets pinched between two approaching bodies, each of which pokes through the sheet next to it. */
export function pinched(depth: number): TangleGroup {
  return {
    name: `pinched between two bodies, ${depth} edges`,
    isDecided: true,
    make: (random) => {
      const scene = new Surfaces();
      const [cx, cy] = [SIZE / 2 + between(random, -1, 1), SIZE / 2 + between(random, -1, 1)];
      const radius = between(random, 2.5, 3);
      const gap = 2.4;
      for (const z of [-gap / 4, gap / 4]) {
        scene.grid(z < 0 ? 'lower' : 'upper', SIZE, SIZE, (u, v) => ({
          at: [SIZE * u + shake(random), SIZE * v + shake(random), z],
        }));
      }
      const away = gap / 4 + radius - depth;
      scene.sphere('below', 18, 10, [cx, cy, -away], radius, true);
      scene.sphere('above', 18, 10, [cx, cy, away], radius, true);
      const inside = (z: number) => (x: number, y: number, w: number) =>
        0.95 * radius - Math.hypot(x - cx, y - cy, w - z);
      const counts = [inside(-away), inside(away)].map((within) => insideOf(2 * GRID, within));
      return { ...scene.build(), countWrong: (answer) => counts.reduce((sum, count) => sum + count(answer), 0) };
    },
  };
}

/** A garment around a body that pokes through it: the body decides. */
export function bodyThroughTube(depth: number): TangleGroup {
  return {
    name: `body through sleeve, ${depth} edges`,
    isDecided: true,
    make: (random) => {
      const scene = new Surfaces();
      const round = 24;
      const radius = round / (2 * Math.PI);
      const [a, z] = [between(random, 0, 1), between(random, 3, 7)];
      scene.grid(
        'sleeve',
        round,
        10,
        (u, v) => {
          const w = 10 * v;
          const around = Math.min(Math.abs(u - a), 1 - Math.abs(u - a)) * round;
          const r = radius - bump(around, w, [0, z], 3) * (GAP + depth) + 0.02 * shake(random);
          return { at: [r * Math.cos(2 * Math.PI * u), r * Math.sin(2 * Math.PI * u), w - 5] };
        },
        { wraps: true },
      );
      capsule(scene, 'body', radius - GAP, 9);
      const inside = insideOf(round * 11, (x, y) => 0.95 * (radius - GAP) - Math.hypot(x, y));
      return { ...scene.build(), countWrong: inside };
    },
  };
}

/** Two cubes pushed into each other at a corner. Either may yield, so no side is wrong. */
export function cubes(depth: number): TangleGroup {
  return {
    name: `cubes into each other, ${depth} edges`,
    isDecided: false,
    make: (random) => {
      const scene = new Surfaces();
      const n = 6;
      const [turn, dx, dy] = [between(random, 0.1, 0.6), between(random, 2, 4), between(random, 2, 4)];
      scene.cube('lower', n, (u, v, w) => [n * u, n * v, n * w]);
      scene.cube('upper', n, (u, v, w) => {
        const [x, y, z] = [n * u, n * v, n * w];
        const [c, s] = [Math.cos(turn), Math.sin(turn)];
        // A rotation about the x axis tips it onto an edge, one about the y axis onto a corner.
        const [q, r] = [c * y - s * z, s * y + c * z];
        return [dx + c * x - s * r, dy + q, n - depth + s * x + c * r];
      });
      return scene.build();
    },
  };
}

/** A closed kinematic tube with flat ends, around the z axis. */
function capsule(
  scene: Surfaces,
  name: string,
  radius: number,
  half: number,
  centre: readonly [number, number] = [0, 0],
): void {
  const round = 20;
  const long = 2 * half;
  scene.ball(name, round, long, (u, v) => {
    const cap = Math.min(1, Math.min(v, 1 - v) * long);
    const r = radius * Math.sin((Math.PI / 2) * cap);
    return [centre[0] + r * Math.cos(2 * Math.PI * u), centre[1] + r * Math.sin(2 * Math.PI * u), half * (2 * v - 1)];
  });
}
