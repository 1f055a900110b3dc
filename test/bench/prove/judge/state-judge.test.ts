import t from 'tap';
import { elementsMeet, toWholePoints } from '../../../../bench/prove/judge/exact-meeting.js';
import { findMeetings, hasCommonPoint } from '../../../../bench/prove/judge/state-judge.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';
import { seeded } from '../../../support/random.js';
import { hullsMeet } from '../../../verify/oracle.js';

/** The double that is `by` ulps above a positive one. */
const step = (x: number, by: bigint): number => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + by);
  return view.getFloat64(0);
};

const nextUp = (x: number): number => step(x, 1n);
const nextDown = (x: number): number => step(x, -1n);

const SIZES = [
  [1, 1],
  [1, 2],
  [1, 3],
  [2, 2],
  [2, 3],
] as const;

t.test(
  'agrees with an exact brute force on small whole coordinates, where everything degenerate happens',
  async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}`);
    const tally = { meet: 0, apart: 0, wrong: 0 };
    for (let n = 0; n < 4000; n++) {
      const [sizeA, sizeB] = SIZES[n % SIZES.length];
      const span = 2 + random.int(3);
      const x = Float64Array.from({ length: 15 }, () => random.int(span));
      const a = [0, 1].slice(0, sizeA);
      const b = [2, 3, 4].slice(0, sizeB);
      const truth = hullsMeet(x, a, b);
      const points = toWholePoints(x, [...a, ...b]);
      if (hasCommonPoint(x, a, b) !== truth || elementsMeet(points.slice(0, sizeA), points.slice(sizeA)) !== truth) {
        tally.wrong++;
      }
      tally[truth ? 'meet' : 'apart']++;
    }
    t.equal(tally.wrong, 0);
    t.ok(tally.meet > 200 && tally.apart > 200, JSON.stringify(tally));
  },
);

t.test('one ulp decides', async (t) => {
  const height = 0.1;
  // A slanted triangle in the plane z = x / 3 would round; one with equal heights is exact.
  const triangle = [0, 0, height, 1, 0, height, 0, 1, height];
  const rod = (low: number) => [0.25, 0.25, low, 0.25, 0.25, 2];
  for (const [name, low, meets] of [
    ['touches', height, true],
    ['an ulp above', nextUp(height), false],
    ['an ulp below', nextDown(height), true],
  ] as const) {
    const x = Float64Array.from([...triangle, ...rod(low)]);
    t.equal(hasCommonPoint(x, [3, 4], [0, 1, 2]), meets, name);
  }
});

t.test('planted violations of one ulp are found in a mesh, and only they', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const count = 40;
  const triangles: number[] = [];
  const particles: number[] = [];
  const x = new Float64Array(12 * count);
  const planted: string[] = [];
  for (let k = 0; k < count; k++) {
    const z = random.between(0.1, 0.9) + 2 * k;
    x.set([0, 0, z, 1, 0, z, 0, 1, z], 12 * k);
    const isPlanted = random() < 0.5;
    const [u, v] = [random.between(0.01, 0.4), random.between(0.01, 0.4)];
    x.set([u, v, isPlanted ? z : random() < 0.5 ? nextUp(z) : nextDown(z)], 12 * k + 9);
    triangles.push(4 * k, 4 * k + 1, 4 * k + 2);
    particles.push(4 * k + 3);
    if (isPlanted) planted.push(`${4 * k + 3}`);
  }
  const surface = readSurface({
    vertexCount: 4 * count,
    triangles: Uint32Array.from(triangles),
    particles: Uint32Array.from(particles),
  });
  const found = findMeetings(surface, x, { kinematicPairs: 'SKIP' }).map(({ a }) => a.join());
  t.same(found.sort(), planted.sort());
});

t.test('kinematic pairs and ignored parts are excluded, others are not', async (t) => {
  const mesh = {
    vertexCount: 6,
    triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
    parts: [
      { name: 'a', firstVertex: 0, vertexCount: 3 },
      { name: 'b', firstVertex: 3, vertexCount: 3 },
    ],
  };
  const x = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, -1, 0.2, 0.2, 1, 5, 5, 0.5];
  const count = (extra: object, kinematicPairs: 'SKIP' | 'PROTECT' = 'SKIP') =>
    findMeetings(readSurface({ ...mesh, ...extra }), x, { kinematicPairs }).length;
  t.equal(count({}), 2);
  t.equal(count({ kinematic: new Uint8Array(6).fill(1) }), 0);
  t.equal(count({ kinematic: new Uint8Array(6).fill(1) }, 'PROTECT'), 2);
  t.equal(count({ kinematic: Uint8Array.of(1, 1, 1, 1, 1, 0) }), 1);
  t.equal(count({ ignoredPartPairs: Uint32Array.of(0, 1) }), 0);
  t.equal(count({ ignoredPartPairs: Uint32Array.of(0, 0) }), 2);
});
