import type { MeshInput } from '../../src/contract/mesh.js';
import type { LayerHint } from '../../src/contract/untangle.js';
import { TriangleTree } from '../../src/diagnose/triangle-tree.js';
import { type Point, Surfaces } from './surfaces.js';

/** A generated start with intersections, of which it is known which side is right. */
export interface Tangle {
  readonly mesh: MeshInput;
  readonly positions: Float64Array;
  readonly layers?: readonly LayerHint[];
  /** vertices that are on a wrong side in an answer; absent = either side is right */
  readonly countWrong?: (answer: ArrayLike<number>) => number;
}

export interface TangleGroup {
  readonly name: string;
  /** a hint or a body decides every contour, so that no side may be wrong */
  readonly isDecided: boolean;
  make(random: () => number): Tangle;
}

type Built = ReturnType<Surfaces['build']>;

/** A vertex lies over a sheet where the way to its nearest point is this nearly along the normal. */
const OVER = 0.8;

/** For vertices of `upon`: on which side of the other part's nearest triangle they are; 0 = they do not lie over it. */
function sidesOver({ mesh }: Built, x: Float64Array, below: number, upon: number): Int8Array {
  const triangles = mesh.triangles!;
  const [other, own] = [mesh.parts![below]!, mesh.parts![upon]!];
  const isOfOther = (t: number): boolean =>
    triangles[3 * t]! >= other.firstVertex && triangles[3 * t]! < other.firstVertex + other.vertexCount;
  const chosen = Uint32Array.from({ length: triangles.length / 3 }, (_, t) => t).filter(isOfOther);
  const tree = new TriangleTree(x, triangles, chosen);
  return Int8Array.from({ length: own.vertexCount }, (_, n) => {
    const [px, py, pz] = x.subarray(3 * (own.firstVertex + n), 3 * (own.firstVertex + n) + 3);
    const near = tree.nearest(px!, py!, pz!);
    const [a, b, c] = Array.from(triangles.subarray(3 * near.triangle, 3 * near.triangle + 3), (v) => 3 * v);
    const [u, w] = [b!, c!].map((k) => [0, 1, 2].map((axis) => x[k + axis]! - x[a! + axis]!));
    const n3 = [
      u![1]! * w![2]! - u![2]! * w![1]!,
      u![2]! * w![0]! - u![0]! * w![2]!,
      u![0]! * w![1]! - u![1]! * w![0]!,
    ];
    const height = (n3[0]! * (px! - near.x) + n3[1]! * (py! - near.y) + n3[2]! * (pz! - near.z)) / Math.hypot(...n3);
    return Math.abs(height) >= OVER * near.distance ? Math.sign(height) : 0;
  });
}

/** Counts vertices of parts that are not on the side of the part below on which they belong. @param layers [below, upon] */
const wrongOf =
  (built: Built, layers: readonly (readonly [number, number])[]) =>
  (answer: ArrayLike<number>): number => {
    let wrong = 0;
    for (const [below, upon] of layers) {
      const truth = sidesOver(built, built.truth, below, upon);
      const sides = sidesOver(built, Float64Array.from(answer), below, upon);
      sides.forEach((side, n) => {
        if (side * truth[n]! < 0) wrong++;
      });
    }
    return wrong;
  };

/** Everything is built with edges of length 1. */
const SIZE = 16;
const GRID = (SIZE + 1) ** 2;

type Random = () => number;

const between = (random: Random, low: number, high: number): number => low + random() * (high - low);

/** A bump of height 1 and radius r around a centre, flat at its rim. */
const bump = (x: number, y: number, [cx, cy]: readonly [number, number], r: number): number => {
  const d = Math.hypot(x - cx, y - cy) / r;
  return d < 1 ? (1 - d * d) ** 2 : 0;
};

const GAP = 0.3;

/** Vertices are shaken in their plane, so that nothing is degenerate. */
const shake = (random: Random): number => 0.1 * (random() - 0.5);

/** A layer upon another, pushed through it in some places. */
function pushedThrough(depth: number, bumps: number): TangleGroup {
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

/** Two layers that cross along a line that leaves them at their borders: more of the upper one is above than below. */
function crossingBorders(share: number, isHinted: boolean): TangleGroup {
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

/** A tube around a tube, dented through it at some places: a cuff. */
function cuff(layers: number, depth: number, isHinted: boolean): TangleGroup {
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

/** Counts vertices of the first part that are inside a round body, by more than its facets are flat. */
const insideOf =
  (count: number, depth: (x: number, y: number, z: number) => number) =>
  (answer: ArrayLike<number>): number => {
    let wrong = 0;
    for (let v = 0; v < count; v++) if (depth(answer[3 * v]!, answer[3 * v + 1]!, answer[3 * v + 2]!) > 0.1) wrong++;
    return wrong;
  };

/** A sphere through a sheet, by a share of its diameter. */
function sphereThrough(share: number, isKinematic: boolean): TangleGroup {
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

/** Two sheets pinched between two bodies that come together, each of which pokes through the sheet next to it. */
function pinched(depth: number): TangleGroup {
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
function bodyThroughTube(depth: number): TangleGroup {
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

/** A pocket upon a sheet, sewn to it by nothing, turned inside out through it in its middle. */
function pocket(): TangleGroup {
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

/** A collar that is folded down upon the tube it stands on, through it along one side. */
function collar(): TangleGroup {
  return {
    name: 'collar through neck, hinted',
    isDecided: true,
    make: (random) => {
      const scene = new Surfaces();
      const round = 24;
      const radius = round / (2 * Math.PI);
      const a = between(random, 0, 1);
      const ring = (u: number, r: number, z: number): Point => [
        r * Math.cos(2 * Math.PI * u),
        r * Math.sin(2 * Math.PI * u),
        z,
      ];
      scene.grid('neck', round, 8, (u, v) => ({ at: ring(u, radius + 0.02 * shake(random), 8 * v) }), { wraps: true });
      scene.grid(
        'collar',
        round,
        4,
        (u, v) => {
          const around = Math.min(Math.abs(u - a), 1 - Math.abs(u - a)) * round;
          const dent = 0.8 * bump(around, 0, [0, 0], 5) * (1 - v);
          return { at: ring(u, radius + 0.4 - dent + 0.02 * shake(random), 4.3 + 4 * v) };
        },
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

/** A tube against a copy of itself whose offset changes its sign everywhere. */
function offsetCopy(): TangleGroup {
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

export const TANGLES: readonly TangleGroup[] = [
  ...[0.5, 1, 3].flatMap((depth) => [pushedThrough(depth, 1), pushedThrough(depth, 3)]),
  crossingBorders(0.25, false),
  crossingBorders(0.25, true),
  crossingBorders(0.5, true),
  ...[0.5, 1].flatMap((depth) => [
    cuff(2, depth, false),
    cuff(2, depth, true),
    cuff(3, depth, false),
    cuff(3, depth, true),
  ]),
  ...[0.2, 0.4].flatMap((share) => [sphereThrough(share, false), sphereThrough(share, true)]),
  ...[0.3, 1].map(bodyThroughTube),
  ...[0.3, 0.5].map(pinched),
  pocket(),
  collar(),
  offsetCopy(),
];
