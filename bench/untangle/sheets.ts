import { wrongOf } from './known-sides.js';
import { Surfaces } from './surfaces.js';
import { between, bump, GAP, SIZE, shake, type TangleGroup } from './tangle.js';

/** A layer upon another one, pushed through it in some places. */
export function pushedThrough(depth: number, bumps: number): TangleGroup {
  return {
    name: `layer through, ${depth} edges, ${bumps} ${bumps === 1 ? 'bump' : 'bumps'}`,
    isDecided: false,
    make: (random) => {
      const scene = new Surfaces();
      const centres = Array.from(
        { length: bumps },
        () => [between(random, 4, SIZE - 4), between(random, 4, SIZE - 4)] as const,
      );
      const radius = between(random, 2.5, 3.5);
      scene.grid('lower', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + shake(random), SIZE * v + shake(random), 0] }));
      scene.grid('upper', SIZE, SIZE, (u, v) => {
        const [x, y] = [SIZE * u + shake(random), SIZE * v + shake(random)];
        const down = Math.max(...centres.map((centre) => bump(x, y, centre, radius)));
        return { at: [x, y, GAP - (GAP + depth) * down], truth: [x, y, GAP] };
      });
      const built = scene.build();
      return { ...built, countWrong: wrongOf(built, [[0, 1]]) };
    },
  };
}

/**
 * Two layers that cross along a line that leaves them at their borders: a larger part of the upper one is above than
 * below.
 */
export function crossingBorders(share: number, isHinted: boolean): TangleGroup {
  return {
    name: `crossing borders, ${share}${isHinted ? ', hinted' : ''}`,
    isDecided: isHinted,
    make: (random) => {
      const scene = new Surfaces();
      const slope = between(random, 0.1, 0.25);
      scene.grid('lower', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + shake(random), SIZE * v + shake(random), 0] }));
      scene.grid('upper', SIZE, SIZE, (u, v) => {
        const [x, y] = [SIZE * u + 0.3 + shake(random), SIZE * v + 0.2 + shake(random)];
        return { at: [x, y, slope * (x - share * SIZE)], truth: [x, y, GAP] };
      });
      const built = scene.build();
      const layers = isHinted ? [{ inner: 'lower', outer: 'upper' }] : [];
      return { ...built, layers, countWrong: wrongOf(built, [[0, 1]]) };
    },
  };
}

/** A pocket upon a sheet, not sewn to it, turned inside out through it in its middle. */
export function pocket(): TangleGroup {
  return {
    name: 'pocket inside out, hinted',
    isDecided: true,
    make: (random) => {
      const scene = new Surfaces();
      const depth = between(random, 0.8, 1.5);
      scene.grid('shell', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + shake(random), SIZE * v + shake(random), 0] }));
      scene.grid('pocket', 8, 8, (u, v) => {
        const [x, y] = [4 + 8 * u + shake(random), 4 + 8 * v + shake(random)];
        const belly = Math.sin(Math.PI * u) * Math.sin(Math.PI * v);
        return { at: [x, y, GAP - (GAP + depth) * Math.min(1, 1.5 * belly)], truth: [x, y, GAP] };
      });
      const layers = [{ inner: 'shell', outer: 'pocket' }];
      const built = scene.build();
      return { ...built, layers, countWrong: wrongOf(built, [[0, 1]]) };
    },
  };
}

/**
 * A pocket that is sewn to a sheet around its rim, half of which passes through the sheet: the contour begins and ends
 * at the seam.
 */
export function sewnPocket(): TangleGroup {
  return {
    name: 'sewn pocket half inside out, hinted',
    isDecided: true,
    make: (random) => {
      const scene = new Surfaces();
      const depth = between(random, 0.8, 1.5);
      const [from, size] = [4, 8];
      const shell = scene.grid('shell', SIZE, SIZE, (u, v) => ({
        at: [SIZE * u + shake(random), SIZE * v + shake(random), 0],
      }));
      scene.grid('pocket', size, size, (u, v) => {
        const [i, j] = [Math.round(size * u), Math.round(size * v)];
        if (i % size === 0 || j % size === 0) return shell(from + i, from + j);
        const [x, y] = [from + i + shake(random), from + j + shake(random)];
        const belly = Math.min(1, 1.5 * Math.sin(Math.PI * u) * Math.sin(Math.PI * v));
        return { at: [x, y, (u < 0.5 ? GAP : -depth) * belly], truth: [x, y, GAP * belly] };
      });
      const built = scene.build();
      return { ...built, layers: [{ inner: 'shell', outer: 'pocket' }], countWrong: wrongOf(built, [[0, 1]]) };
    },
  };
}

/** A tube and a copy of it whose offset changes its sign everywhere. */
export function offsetCopy(): TangleGroup {
  return {
    name: 'offset copy',
    isDecided: false,
    make: (random) => {
      const scene = new Surfaces();
      const [p, q] = [random() * 2 * Math.PI, random() * 2 * Math.PI];
      const rise = (x: number, y: number) => 0.5 * Math.sin(0.5 * x + p) * Math.sin(0.4 * y + q);
      scene.grid('garment', SIZE, SIZE, (u, v) => ({ at: [SIZE * u, SIZE * v, rise(SIZE * u, SIZE * v)] }));
      scene.grid('copy', SIZE, SIZE, (u, v) => {
        const [x, y] = [SIZE * u + 0.21, SIZE * v + 0.13];
        const offset = 0.25 * Math.sin(1.1 * x + q) * Math.cos(0.9 * y + p) + 0.1;
        return { at: [x, y, rise(x, y) + offset] };
      });
      return scene.build();
    },
  };
}
