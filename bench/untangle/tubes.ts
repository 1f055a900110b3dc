import { wrongOf } from './known-sides.js';
import { type Point, Surfaces } from './surfaces.js';
import { between, bump, type Random, shake, type TangleGroup } from './tangle.js';

/** A tube around a tube, dented through it in some places: a cuff. */
export function cuff(layers: number, depth: number, isHinted: boolean): TangleGroup {
  return {
    name: `cuff of ${layers} layers, ${depth} edges${isHinted ? ', hinted' : ''}`,
    isDecided: isHinted,
    make: (random) => {
      const scene = new Surfaces();
      const round = 24;
      const radius = round / (2 * Math.PI);
      for (let layer = 0; layer < layers; layer++) {
        const [a, z] = [between(random, 0, 1), between(random, 3, 7)];
        scene.grid(
          `layer ${layer}`,
          round,
          10,
          (u, v) => {
            const w = 10 * v;
            const around = Math.min(Math.abs(u - a), 1 - Math.abs(u - a)) * round;
            const r = radius + layer * 0.4;
            const dent = layer === 0 ? 0 : bump(around, w, [0, z], 3) * (0.4 + depth);
            const at = (size: number): Point => [size * Math.cos(2 * Math.PI * u), size * Math.sin(2 * Math.PI * u), w];
            return { at: at(r - dent + 0.02 * shake(random)), truth: at(r) };
          },
          { wraps: true },
        );
      }
      const hints = Array.from({ length: layers - 1 }, (_, n) => ({ inner: `layer ${n}`, outer: `layer ${n + 1}` }));
      const built = scene.build();
      const upon = hints.map((_, n) => [n, n + 1] as const);
      return { ...built, layers: isHinted ? hints : [], countWrong: wrongOf(built, upon) };
    },
  };
}

/** The tube on which a collar stands. */
function neckOf(random: Random) {
  const scene = new Surfaces();
  const round = 24;
  const radius = round / (2 * Math.PI);
  const a = between(random, 0, 1);
  const ring = (u: number, r: number, z: number): Point => [
    r * Math.cos(2 * Math.PI * u),
    r * Math.sin(2 * Math.PI * u),
    z,
  ];
  const neck = scene.grid('neck', round, 8, (u, v) => ({ at: ring(u, radius + 0.02 * shake(random), 8 * v) }), {
    wraps: true,
  });
  /** depth of the collar's dent at a position around it */
  const dentAt = (u: number): number =>
    0.8 * bump(Math.min(Math.abs(u - a), 1 - Math.abs(u - a)) * round, 0, [0, 0], 5);
  return { scene, round, radius, ring, neck, dentAt };
}

/** A collar that is folded down upon the tube on which it stands, through it along one side. */
export function collar(): TangleGroup {
  return {
    name: 'collar through neck, hinted',
    isDecided: true,
    make: (random) => {
      const { scene, round, radius, ring, dentAt } = neckOf(random);
      scene.grid(
        'collar',
        round,
        4,
        (u, v) => ({ at: ring(u, radius + 0.4 - dentAt(u) * (1 - v) + 0.02 * shake(random), 4.3 + 4 * v) }),
        { wraps: true },
      );
      const layers = [{ inner: 'neck', outer: 'collar' }];
      const first = round * 9;
      const countWrong = (answer: ArrayLike<number>): number => {
        let wrong = 0;
        for (let v = first; v < first + round * 5; v++)
          if (Math.hypot(answer[3 * v]!, answer[3 * v + 1]!) < 0.93 * radius) wrong++;
        return wrong;
      };
      return { ...scene.build(), layers, countWrong };
    },
  };
}

/**
 * A collar that is sewn to the neck around its top and folded down upon it, through it along one side: one sheet that
 * crosses itself.
 */
export function foldedCollar(): TangleGroup {
  return {
    name: 'folded collar through neck, hinted',
    isDecided: true,
    make: (random) => {
      const { scene, round, radius, ring, neck, dentAt } = neckOf(random);
      scene.grid(
        'collar',
        round,
        5,
        (u, v) => {
          const row = Math.round(5 * v);
          if (row === 0) return neck(Math.round(round * u), 8);
          const dent = dentAt(u) * Math.max(0, v - 0.4);
          const at = (r: number): Point => ring(u, r, 8.3 - row);
          const r = radius + 0.4 + 0.02 * shake(random);
          return { at: at(r - 1.5 * dent), truth: at(r) };
        },
        { wraps: true },
      );
      const built = scene.build();
      return { ...built, layers: [{ inner: 'neck', outer: 'collar' }], countWrong: wrongOf(built, [[0, 1]]) };
    },
  };
}

/** A flat sleeve whose front is pushed through its back: one sheet that crosses itself. */
export function selfCrossingSleeve(depth: number): TangleGroup {
  return {
    name: `sleeve through itself, ${depth} edges`,
    isDecided: false,
    make: (random) => {
      const scene = new Surfaces();
      const [width, half, long] = [10, 0.4, 12];
      const round = 2 * (width + 2);
      const centre = [between(random, 4, width - 4), between(random, 4, long - 4)] as const;
      const radius = between(random, 2.5, 3.2);
      scene.grid(
        'sleeve',
        round,
        long,
        (u, v) => {
          const along = round * u;
          const z = long * v + shake(random);
          // The front, a fold, the back, and the other fold.
          if (along < width + 0.5) {
            const x = along + shake(random);
            const at = (y: number): Point => [x, y, z];
            return { at: at(half - (2 * half + depth) * bump(x, z, centre, radius)), truth: at(half) };
          }
          if (along < width + 1.5) return { at: [width + 0.6, 0, z] };
          if (along < 2 * width + 2.5) return { at: [2 * width + 2 - along + shake(random), -half, z] };
          return { at: [-0.6, 0, z] };
        },
        { wraps: true },
      );
      const built = scene.build();
      const columns = (from: number, to: number) => ({
        firstVertex: from * (long + 1),
        vertexCount: (to - from) * (long + 1),
      });
      // At the folds, vertices of both sides are next to each other.
      const [front, back] = [columns(1, width), columns(width + 2, 2 * width + 3)];
      return { ...built, countWrong: wrongOf(built, [[back, front]]) };
    },
  };
}
