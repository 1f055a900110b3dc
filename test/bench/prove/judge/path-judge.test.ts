import t from 'tap';
import { findMeeting } from '../../../../bench/prove/judge/moving-pair.js';
import { distanceOf, type Vector } from '../../../../bench/prove/judge/nearest.js';
import { findCollisions, findReturn } from '../../../../bench/prove/judge/path-judge.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';
import { boxesOf, sweepPairs } from '../../../../bench/prove/judge/sweep.js';
import { seeded } from '../../../support/random.js';

const TRIANGLE: readonly Vector[] = [
  [0, 0, 0],
  [1, 0, 0],
  [0, 1, 0],
];

t.test('a point that flies through a triangle is found, with a time before the meeting', async (t) => {
  const time = findMeeting([[0.2, 0.2, 1], ...TRIANGLE], [[0.2, 0.2, -3], ...TRIANGLE], 1);
  t.ok(time !== undefined && time <= 0.25 && time > 0.2, `${time}`);
});

t.test('a point that passes beside it is free', async (t) => {
  t.equal(findMeeting([[0.6, 0.6, 1], ...TRIANGLE], [[0.6, 0.6, -3], ...TRIANGLE], 1), undefined);
  t.equal(findMeeting([[0.2, 0.2, 1], ...TRIANGLE], [[0.2, 0.2, 1e-9], ...TRIANGLE], 1), undefined);
});

t.test('touching at the end, at the start, and for a moment in between counts', async (t) => {
  t.not(findMeeting([[0.2, 0.2, 1], ...TRIANGLE], [[0.2, 0.2, 0], ...TRIANGLE], 1), undefined);
  t.not(findMeeting([[0.2, 0.2, 0], ...TRIANGLE], [[0.2, 0.2, 1], ...TRIANGLE], 1), undefined);
  t.not(
    findMeeting(
      [
        [-1, 1, 0],
        [0, 0, 0],
      ],
      [
        [1, -1, 0],
        [0, 0, 0],
      ],
      1,
    ),
    undefined,
  );
});

/** Planted: both pass through one place at one time; everything else is random. */
t.test('planted meetings at random moments are never missed', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const point = (): Vector => [random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)];
  let missed = 0;
  for (let n = 0; n < 600; n++) {
    const sizeA = 1 + (n % 2);
    const start = Array.from({ length: 4 }, point);
    const end = Array.from({ length: 4 }, point);
    const when = random();
    const at = start.map((p, k) => p.map((c, i) => c + when * (end[k][i] - c)));
    const mix = (corners: number[][]) => {
      const weights = corners.map(() => random() + 0.05);
      const sum = weights.reduce((s, w) => s + w, 0);
      return [0, 1, 2].map((i) => corners.reduce((s, c, k) => s + (weights[k] / sum) * c[i], 0));
    };
    const [p, q] = [mix(at.slice(0, sizeA)), mix(at.slice(sizeA))];
    const shift = (x: Vector, k: number): Vector =>
      k < sizeA ? [x[0] + q[0] - p[0], x[1] + q[1] - p[1], x[2] + q[2] - p[2]] : x;
    const time = findMeeting(start.map(shift), end.map(shift), sizeA);
    // The first meeting may be an earlier one; a bound after the planted one is a miss.
    if (time === undefined || time > when + 1e-12) missed++;
  }
  t.equal(missed, 0);
});

t.test('dense sampling contradicts no pair that was found free', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  let free = 0;
  let contradicted = 0;
  for (let n = 0; n < 300; n++) {
    const start = Array.from({ length: 4 }, (): Vector => [random(), random(), random()]);
    const end = Array.from({ length: 4 }, (): Vector => [random(), random(), random()]);
    if (findMeeting(start, end, 1) !== undefined) continue;
    free++;
    // Free means that the point stays on one side whenever it is over the triangle.
    let before = 0;
    for (let k = 0; k <= 2000; k++) {
      const x = start.map((p, i) => p.map((c, j) => c + (k / 2000) * (end[i][j] - c)));
      const side = sideOver(x);
      if (side !== 0 && before !== 0 && side !== before) contradicted++;
      before = side;
    }
  }
  t.ok(free > 100, `${free} free`);
  t.equal(contradicted, 0);
});

/** Sign of the height of point 0 over triangle 1 2 3; 0 where it is not over it. */
function sideOver([p, a, b, c]: number[][]): number {
  const minus = (u: number[], v: number[]) => u.map((s, i) => s - v[i]);
  const cross = (u: number[], v: number[]) => [
    u[1] * v[2] - u[2] * v[1],
    u[2] * v[0] - u[0] * v[2],
    u[0] * v[1] - u[1] * v[0],
  ];
  const dot = (u: number[], v: number[]) => u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  const n = cross(minus(b, a), minus(c, a));
  const over = [
    [a, b],
    [b, c],
    [c, a],
  ].every(([from, to]) => dot(n, cross(minus(to, from), minus(p, from))) > 0);
  return over ? Math.sign(dot(n, minus(p, a))) : 0;
}

t.test('a whole mesh: a grain through a cloth and a rod through a rod', async (t) => {
  const surface = readSurface({
    vertexCount: 8,
    triangles: Uint32Array.of(0, 1, 2),
    particles: Uint32Array.of(3),
    segments: Uint32Array.of(4, 5, 6, 7),
  });
  const start = [...TRIANGLE.flat(), 0.2, 0.2, 0.5, 3, -1, 0, 3, 1, 0, 2, 0, 1, 4, 0, 1];
  const end = [...TRIANGLE.flat(), 0.2, 0.2, -0.5, 3, -1, 0, 3, 1, 0, 2, 0, -1, 4, 0, -1];
  const found = findCollisions(surface, start, end, { kinematicPairs: 'SKIP' });
  t.same(
    found.map(({ a, b }) => [a, b]).sort(),
    [
      [[3], [0, 1, 2]],
      [
        [4, 5],
        [6, 7],
      ],
    ].sort(),
  );
  t.same(findCollisions(surface, start, start, { kinematicPairs: 'SKIP' }), []);
});

t.test('approaches to a distance are never missed, and a distance that is kept is proven', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const point = (): Vector => [random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)];
  for (const [sizeA, count] of [
    [1, 2],
    [1, 3],
    [1, 4],
    [2, 4],
  ]) {
    for (let n = 0; n < 40; n++) {
      const [start, end] = [0, 1].map(() => Array.from({ length: count }, point));
      const distanceAt = (time: number): number => {
        const x = start.map((p, k): Vector => {
          const [px, py, pz] = p.map((c, i) => c + time * (end[k][i] - c));
          return [px, py, pz];
        });
        return distanceOf(x.slice(0, sizeA), x.slice(sizeA));
      };
      const distances = Array.from({ length: 401 }, (_, k) => distanceAt(k / 400));
      const least = Math.min(...distances);
      t.not(findMeeting(start, end, sizeA, 1.000001 * least), undefined, 'as near as that at a sample');
      // Corners move by at most 2√3 each, so distances by at most 4√3/800 from a sample on.
      const kept = least - (4 * Math.sqrt(3)) / 800;
      if (kept > 0) t.equal(findMeeting(start, end, sizeA, kept), undefined, 'farther apart all the time');
    }
  }
});

t.test('a grain that passes close to a rod comes too near, and does not meet it', async (t) => {
  const surface = readSurface({ vertexCount: 3, segments: Uint32Array.of(0, 1), particles: Uint32Array.of(2) });
  const at = (height: number) => [-1, 0, 0, 1, 0, 0, 0.2, 1e-7, height];
  const find = (apart: number) => findCollisions(surface, at(0.1), at(-0.1), { kinematicPairs: 'SKIP' }, apart);
  t.same(find(0), []);
  t.same(find(0.9e-7), []);
  t.match(find(1e-3), [{ a: [2], b: [0, 1], meets: false }]);
  const through = findCollisions(
    surface,
    [-1, 0, 0, 1, 0, 0, 0.2, 0, 0.1],
    [-1, 0, 0, 1, 0, 0, 0.2, 0, -0.1],
    { kinematicPairs: 'SKIP' },
    1e-3,
  );
  t.match(through, [{ meets: true }]);
});

t.test('the sweep of boxes equals brute force', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let n = 0; n < 40; n++) {
    const x = Float64Array.from({ length: 180 }, () => random.int(12));
    const elements = (first: number) => Array.from({ length: 15 }, (_, k) => [first + 2 * k, first + 2 * k + 1]);
    const lists = n % 2 === 0 ? [elements(0), elements(30)] : [elements(0)];
    const [a, b = a] = lists.map((list) => boxesOf(list, [x]));
    const found: string[] = [];
    sweepPairs(a, b, (i, j) => found.push(`${i} ${j}`));
    const truth: string[] = [];
    for (let i = 0; i < 15; i++) {
      for (let j = a === b ? i + 1 : 0; j < 15; j++) {
        if ([0, 1, 2].every((c) => a[6 * i + c] <= b[6 * j + 3 + c] && b[6 * j + c] <= a[6 * i + 3 + c])) {
          truth.push(`${i} ${j}`);
        }
      }
    }
    t.same(found.sort(), truth.sort());
  }
});

t.test('kinematic pairs count under SKIP where a promised edge and triangle can begin to meet in them', async (t) => {
  const start = new Float64Array([0, 0, 0, 1, 0, 0, 0.5, 1, 0, 0.5, -0.2, 0.3, 0.5, -0.2, -0.3, 0.5, -1, 0]);
  const end = start.map((value, k) => (k > 8 && k % 3 === 1 ? value + 0.5 : value));
  const meet = (kinematic: number[], kinematicPairs: 'SKIP' | 'PROTECT'): string[] => {
    const surface = readSurface({
      vertexCount: 6,
      triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
      kinematic: Uint8Array.from({ length: 6 }, (_, v) => (kinematic.includes(v) ? 1 : 0)),
    });
    return findCollisions(surface, start, end, { kinematicPairs }).map(({ a, b }) => `${a} with ${b}`);
  };
  const sides = '0,1 with 3,4';
  t.ok(meet([0, 1, 3, 4, 5], 'SKIP').includes(sides), 'one triangle has a dynamic corner');
  t.same(meet([0, 1, 2, 3, 4, 5], 'SKIP'), [], 'all kinematic');
  t.ok(meet([0, 1, 2, 3, 4, 5], 'PROTECT').includes(sides));
});

t.test('a path that leaves its answer and comes back to it is found, unless it moves by rounding alone', async (t) => {
  const [a, b, answer] = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 2, 0],
  ];
  const rounded = [1, 2 + 1e-7, 0];
  t.equal(findReturn([a, b, answer], 1e-3), undefined);
  t.equal(findReturn([answer], 1e-3), undefined);
  t.equal(findReturn([a, answer, answer], 1e-3), undefined, 'a step that moves nothing');
  t.equal(findReturn([a, answer, rounded, answer], 1e-3), undefined);
  t.equal(findReturn([a, b, a, answer], 1e-3), undefined, 'a return to another state');
  t.equal(findReturn([a, answer, b, answer], 1e-3), 1);
  t.equal(findReturn([answer, rounded, b, answer], 1e-3), 0);
});
