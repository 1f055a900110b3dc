import type { MeshInput } from '../../../src/contract/mesh.js';
import { Surfaces } from '../../untangle/surfaces.js';
import type { UntangleTerms } from '../doors/door.js';
import { distanceOf, pointsOf } from '../judge/nearest.js';
import { GENERATED } from '../scenes/generated.js';
import type { Random } from '../scenes/random.js';

/** A start with intersections, in metres. */
export interface TangledStart {
  readonly mesh: MeshInput;
  readonly start: Float64Array;
  readonly layers?: UntangleTerms['layers'];
  /** float64[3·V] positions in which edges have the lengths to which they were cut; absent = not known */
  readonly rest?: Float64Array;
  /** whether nothing prevents a free state */
  readonly becomesFree: boolean;
  /** counts vertices of a free answer, in any unit, on a side that a hint or body forbids; absent = nothing decides */
  readonly countWrong?: (answer: ArrayLike<number>) => number;
}

/** Edges of about a centimetre, the scale at which the method's defaults were chosen. */
const EDGE = 0.01;
const SIZE = 7;
const SHEET = (SIZE + 1) ** 2;

const built = (scene: Surfaces): Pick<TangledStart, 'mesh' | 'start' | 'rest'> => {
  const { mesh, positions, truth } = scene.build();
  return { mesh, start: positions.map((p) => EDGE * p), rest: truth.map((p) => EDGE * p) };
};

const flat = (scene: Surfaces, name: string, height: number, random: Random): void => {
  const shake = () => random.between(-0.05, 0.05);
  scene.grid(name, SIZE, SIZE, (u, v) => ({ at: [SIZE * u + shake(), SIZE * v + shake(), height] }));
};

/** A layer on top of another one, pushed through it. */
function dented(random: Random): TangledStart {
  const scene = new Surfaces();
  const [cx, cy, depth] = [random.between(3, 4), random.between(3, 4), random.between(0.3, 1)];
  flat(scene, 'lower', 0, random);
  scene.grid('upper', SIZE, SIZE, (u, v) => {
    const [x, y] = [SIZE * u + 0.3 + random.between(-0.05, 0.05), SIZE * v + 0.2];
    const near = Math.max(0, 1 - ((x - cx) ** 2 + (y - cy) ** 2) / 6) ** 2;
    return { at: [x, y, 0.3 - (0.3 + depth) * near], truth: [x, y, 0.3] };
  });
  return { ...built(scene), becomesFree: true };
}

/** Two layers that cross in the middle: the hint says which one is above. */
function crossed(random: Random): TangledStart {
  const scene = new Surfaces();
  flat(scene, 'lower', 0, random);
  scene.grid('upper', SIZE, SIZE, (u, v) => {
    const [x, y] = [SIZE * u + 0.3 + random.between(-0.05, 0.05), SIZE * v + 0.2];
    return { at: [x, y, 0.2 * (x - SIZE / 2)], truth: [x, y, 0.3] };
  });
  const isAbove = random.next() < 0.5;
  const side = isAbove ? 'ALONG_NORMALS' : 'AGAINST_NORMALS';
  const sheets = built(scene);
  const lower = trianglesBelow(sheets.mesh, SHEET);
  const countWrong = (x: ArrayLike<number>): number => {
    let wrong = 0;
    for (let v = SHEET; v < 2 * SHEET; v++) {
      const side = sideOver(x, lower, v);
      if (isAbove ? side < 0 : side > 0) wrong++;
    }
    return wrong;
  };
  return { ...sheets, layers: [{ inner: 'lower', outer: 'upper', side }], becomesFree: true, countWrong };
}

/** Triangles of the vertices below a number. */
function trianglesBelow({ triangles }: MeshInput, end: number): number[][] {
  const all = Array.from({ length: triangles!.length / 3 }, (_, t) => [...triangles!.subarray(3 * t, 3 * t + 3)]);
  return all.filter((triangle) => triangle.every((v) => v < end));
}

/** A vertex lies over a triangle if the way to it is this nearly along the normal. */
const OVER = 0.8;

/** The side of the nearest triangle on which a vertex is; 0 = it does not lie over it. */
function sideOver(x: ArrayLike<number>, triangles: readonly number[][], v: number): number {
  let [least, nearest] = [Number.POSITIVE_INFINITY, triangles[0]];
  for (const triangle of triangles) {
    const distance = distanceOf(pointsOf(x, [v]), pointsOf(x, triangle));
    if (distance < least) [least, nearest] = [distance, triangle];
  }
  const [a, b, c, p] = [...nearest, v].map((w) => [x[3 * w], x[3 * w + 1], x[3 * w + 2]]);
  const [q, r, s] = [b, c, p].map((end) => end.map((value, k) => value - a[k]));
  const n = [q[1] * r[2] - q[2] * r[1], q[2] * r[0] - q[0] * r[2], q[0] * r[1] - q[1] * r[0]];
  const height = (n[0] * s[0] + n[1] * s[1] + n[2] * s[2]) / Math.hypot(...n);
  return Math.abs(height) >= OVER * least ? Math.sign(height) : 0;
}

/**
 * Two sheets between two bodies, each of which pierces the sheet next to it; or one sheet and one body, which may have
 * a sheet above it that must not be met when the lower one is pushed out of the body.
 */
function bodies(count: 1 | 2, isCovered = false) {
  return (random: Random): TangledStart => {
    const scene = new Surfaces();
    const [cx, cy, radius] = [random.between(3, 4), random.between(3, 4), random.between(1.8, 2.2)];
    const heights = count === 1 ? [0] : [-0.6, 0.6];
    heights.forEach((height, k) => {
      flat(scene, `sheet ${k}`, height, random);
    });
    const deep = random.between(isCovered ? 0.6 : 0.3, count === 1 ? 1.2 : 0.5);
    if (isCovered) flat(scene, 'cover', deep + 0.12, random);
    heights.forEach((height, k) => {
      const away = height + (k === heights.length - 1 && count === 2 ? 1 : -1) * (radius - deep);
      scene.sphere(`body ${k}`, 12, 8, [cx, cy, away], radius, true);
    });
    const { mesh, ...rest } = built(scene);
    const balls = mesh.parts!.slice(-count);
    const countWrong = (x: ArrayLike<number>): number => {
      let wrong = 0;
      for (const { firstVertex, vertexCount } of balls) {
        const ids = Array.from({ length: vertexCount }, (_, n) => firstVertex + n);
        const centre = [0, 1, 2].map((c) => ids.reduce((sum, v) => sum + x[3 * v + c], 0) / vertexCount);
        const distanceOf = (v: number) => Math.hypot(...centre.map((p, c) => x[3 * v + c] - p));
        const own = ids.reduce((sum, v) => sum + distanceOf(v), 0) / vertexCount;
        // Faces of the body lie a little below its sphere.
        for (let v = 0; v < balls[0].firstVertex; v++) if (distanceOf(v) < 0.85 * own) wrong++;
      }
      return wrong;
    };
    return { mesh, ...rest, becomesFree: count === 1, countWrong };
  };
}

/** A case without a rule of its own: sheets that change places, rods and a grain, half-way and shaken. */
function interleaved(random: Random): TangledStart {
  const { mesh, start, target } = GENERATED.handkerchiefs(random);
  const halfway = start.map((p, i) => p + 0.25 * (target[i] - p) + EDGE * random.between(-0.2, 0.2));
  return { mesh, start: halfway, becomesFree: false };
}

/** A sheet crumpled in another one. */
function crumpled(random: Random): TangledStart {
  const { mesh, start } = GENERATED.tangle(random);
  return { mesh, start, becomesFree: false };
}

export const TANGLED_STARTS: Readonly<Record<string, (random: Random) => TangledStart>> = {
  dented,
  crossed,
  body: bodies(1),
  covered: bodies(1, true),
  pinched: bodies(2),
  crumpled,
  interleaved,
};
