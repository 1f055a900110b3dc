import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { buildMesh } from '../../src/mesh/build.js';
import { cutTo } from '../../src/solver/cut-target.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { type Bounds, isWithin, rangeOf } from '../../src/solver/range.js';
import { seeded } from '../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const boundsOf = (positions: ArrayLike<number>): Bounds => {
  const axis = (k: number) => Array.from(positions as number[]).filter((_, n) => n % 3 === k);
  const [x, y, z] = [axis(0), axis(1), axis(2)];
  return [Math.min(...x), Math.min(...y), Math.min(...z), Math.max(...x), Math.max(...y), Math.max(...z)];
};

/** A frame for a small mesh somewhere, with a δ that is accepted there. */
function somewhere(scalar: 'FLOAT32' | 'FLOAT64') {
  const offset = [0, 1, 2].map(() => (random() - 0.5) * 10 ** (4 * random()));
  const corners = Array.from({ length: 6 }, (_, k) => offset[k % 3]! + (k < 3 ? 0 : 1 + random()));
  const start = scalar === 'FLOAT32' ? Float32Array.from(corners) : Float64Array.from(corners);
  const bounds = boundsOf(start);
  const frame = CoordinateFrame.fit(start, 0.1, bounds);
  for (let delta = 1e-4; ; delta *= 2) {
    try {
      floorOf(delta, frame, scalar);
      return { start, bounds, frame, delta };
    } catch (thrown) {
      if (!(thrown instanceof IntersticeError && thrown.code === 'TOLERANCE_TOO_SMALL')) throw thrown;
    }
  }
}

const lengthOf = (v: readonly number[]) => Math.hypot(...v);
/** from the first of two points to the second */
const apart = (points: ArrayLike<number>) => [0, 1, 2].map((k) => points[k + 3]! - points[k]!);

for (const scalar of ['FLOAT32', 'FLOAT64'] as const) {
  t.test(`${scalar}: points half a floor apart do not meet on the way into the numbers that are sent`, async (t) => {
    let [tried, closest] = [0, Number.POSITIVE_INFINITY];
    for (let round = 0; round < 12_000; round++) {
      const { start, bounds, frame, delta } = somewhere(scalar);
      const far = 10 ** (5 * random());
      const goal = start.map((x) => x + far * (random() - 0.5));
      const { floor, safe } = rangeOf(delta, frame, bounds, boundsOf(goal), scalar);
      if (!safe) continue;
      // One point at the ends of what is safe, as a rule; the other F/2 away.
      const one = [0, 1, 2].map((k) => (random() < 0.5 ? safe[k]! : safe[k + 3]!) * (random() < 0.7 ? 1 : random()));
      const direction = [0, 1, 2].map(() => random() - 0.5);
      const other = one.map((c, k) => c + (floor * direction[k]!) / lengthOf(direction) / 2);
      const near = Float32Array.from([...one, ...other]);
      // Targets have as many digits as their scalar; an engine sees their images only.
      const wanted = frame.toDouble(near).map((c) => c * (1 + (random() - 0.5) * 2 ** -22));
      const target = scalar === 'FLOAT32' ? Float32Array.from(wanted) : wanted;
      const targetEngine = frame.toEngine(target, 'target');
      const hasArrived = [random() < 0.5, random() < 0.5];
      const engine = near.map((c, k) => (hasArrived[k < 3 ? 0 : 1] ? targetEngine[k]! : c));
      // What an engine vouches for is what its numbers are.
      const isVouchedFor = lengthOf(apart(engine)) >= floor / 2;
      const isSafe = engine.every((c, k) => c >= safe[k % 3]! && c <= safe[(k % 3) + 3]!);
      if (!isVouchedFor || !isSafe) continue;
      const nowhere = new Float32Array(6).fill(Number.MAX_VALUE);
      const sent = frame.toCaller({ engine, start: target.map(() => 0), startEngine: nowhere, target, targetEngine });
      // Apart in one direction at both ends, so all the way.
      const gap = apart(engine);
      const along = apart(sent).reduce((sum, c, k) => sum + c * frame.scale * gap[k]!, 0) / lengthOf(gap);
      tried++;
      closest = Math.min(closest, along / floor);
      if (!(along > 0)) t.fail(`round ${round}: ${gap} became ${apart(sent)} with a floor of ${floor}`);
    }
    t.ok(tried > 300, `${tried} pairs`);
    t.comment(`${tried} pairs; the closest came to ${closest} floors`);
  });
}

t.test('a target nearby does not change the floor, and is not cut', async (t) => {
  const start = Float32Array.of(500, 500, 500, 501, 501, 501);
  const frame = CoordinateFrame.fit(start, 0.1, boundsOf(start));
  const { floor, cut } = rangeOf(0.01, frame, boundsOf(start), [499, 500, 500, 502, 501, 501], 'FLOAT32');
  t.equal(floor, floorOf(0.01, frame, 'FLOAT32'));
  t.equal(cut, undefined);
});

t.test('the floor rises if the answer is coarser than the start', async (t) => {
  const start = Float32Array.of(500, 500, 500, 501, 501, 501);
  const frame = CoordinateFrame.fit(start, 0.1, boundsOf(start));
  // ulp 2^-15 up to 512, twice that beyond.
  const near = rangeOf(0.005, frame, boundsOf(start), [500, 500, 500, 511, 511, 511], 'FLOAT32');
  const beyond = rangeOf(0.005, frame, boundsOf(start), [500, 500, 500, 513, 511, 511], 'FLOAT32');
  t.equal(near.floor, 4 * 2 ** -15 * frame.scale);
  t.equal(beyond.floor, 4 * 2 ** -14 * frame.scale);
  t.ok(near.cut === undefined && beyond.cut === undefined);
});

t.test('a start that is too coarse is refused, and a target that is too far is cut', async (t) => {
  const start = Float32Array.of(500, 500, 500, 501, 501, 501);
  const bounds = boundsOf(start);
  const frame = CoordinateFrame.fit(start, 0.1, bounds);
  t.throws(() => rangeOf(1e-3, frame, bounds, bounds, 'FLOAT32'), { code: 'TOLERANCE_TOO_SMALL' });
  const { cut, safe, floor } = rangeOf(0.002, frame, bounds, [500, 500, 500, 2000, 501, 501], 'FLOAT32');
  t.equal(floor, (0.002 / 16) * frame.scale);
  t.ok(cut && safe);
  // Half way between 501 and 512, where δ/16 = 4.1 ulp.
  t.equal(cut![3] / frame.scale + frame.origin[0], 506.5);
  t.ok(isWithin(cut!, safe!));
});

t.test('nothing is cut if the map is exact in both directions', async (t) => {
  const start = Float32Array.of(-1, -1, -1, 1, 1, 1);
  const frame = CoordinateFrame.fit(start, 0.1, boundsOf(start));
  const { safe, cut } = rangeOf(1e-3, frame, boundsOf(start), [-1, -1, -1, 1e6, 1, 1], 'FLOAT32');
  t.ok(safe === undefined && cut === undefined);
  t.ok(rangeOf(1e-3, frame, boundsOf(start), [-1, -1, -1, 1e6, 1, 1], 'FLOAT64').cut);
});

t.test(
  'where the map is exact, the floor rises for targets that bodies reach only with a higher one, up to δ/16',
  async (t) => {
    const start = Float32Array.of(-1, -1, -1, 1, 1, 1);
    const frame = CoordinateFrame.fit(start, 0.1, boundsOf(start));
    const delta = 0.01;
    const least = floorOf(delta, frame, 'FLOAT32');
    // δ/100 covers rounding up to 60 units, and bodies that move as a whole up to 121; δ/16 covers it up to 378.
    const floorTo = (far: number) => rangeOf(delta, frame, boundsOf(start), [-1, -1, -1, far, 1, 1], 'FLOAT32').floor;
    t.same([1, 120, 380, 1e6].map(floorTo), [least, least, least, least]);
    t.ok(floorTo(130) > 2 * least);
    const highest = floorTo(378) / ((delta / 16) * frame.scale);
    t.ok(highest > 0.998 && highest <= 1, `${highest} of δ/16`);
  },
);

t.test('a cut target lies on the straight line to the target, and a vertex of no element is not cut', async (t) => {
  const mesh = buildMesh({ vertexCount: 5, triangles: Uint32Array.of(0, 1, 2) });
  const start = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 9, 9, 9, 0, 0, 1);
  const target = Float32Array.of(40, 10, 0, 1, 0, 5, 0, -30, -60, 999, 999, 999, 500, 0, 1);
  const { target: cut, share, count, first } = cutTo([-20, -20, -20, 20, 20, 20], mesh, start, target, 0.1);
  t.same([...cut], [20, 5, 0, 1, 0, 5, 0, 1 - 31 / 3, -20, 999, 999, 999, 500, 0, 1].map(Math.fround));
  t.same([...share], [0.5, 1, 1 / 3, 1, 1]);
  t.same([count, first], [2, 0]);
});

t.test('components that move as one stop together, and no others with them', async (t) => {
  // Two squares, 10 apart, that move by 100 and are sheared a little; one that stays; one with a vertex that flies away.
  const square = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0];
  const start = Float32Array.of(...square, ...square.map((c, k) => (k % 3 === 0 ? c + 10 : c)), ...square, ...square);
  const triangles = [0, 1, 2, 3].flatMap((n) => [0, 1, 2, 0, 2, 3].map((v) => 4 * n + v));
  const mesh = buildMesh({ vertexCount: 16, triangles: Uint32Array.from(triangles) });
  const target = start.map((c, k) => (k < 24 ? c + (k % 3 === 0 ? 100 : k % 3 === 1 ? 0.1 * start[k - 1]! : 0) : c));
  target[45] = 1e6;
  const { target: cut, share, count } = cutTo([-50, -50, -50, 50, 50, 50], mesh, start, target, 0.1);
  // The first square could go farther than the second one, which begins at x = 10 and is 1 wide.
  const least = (50 - 11) / 100;
  t.same([...share.subarray(0, 8)], new Array(8).fill(least));
  for (let k = 0; k < 24; k++) t.equal(cut[k], Math.fround(start[k]! + least * (target[k]! - start[k]!)));
  t.same([...share.subarray(8, 15)], new Array(7).fill(1));
  t.equal(share[15], 50 / 1e6);
  t.equal(count, 9);
});
