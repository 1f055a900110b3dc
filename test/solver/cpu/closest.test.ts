import t from 'tap';
import { measureClosest } from '../../../src/solver/cpu/certificate.js';
import { closest } from '../../../src/solver/cpu/closest.js';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { KIND_NAMES, KINDS, lonePair, placePair, SHAPES, sidesOf } from '../../support/pair-shapes.js';
import { seeded } from '../../support/random.js';
import { slowDistance } from '../../support/slow-distance.js';

/** Arithmetic is double on exact differences: what is left is a few 2⁻⁵³ of the pair's extent; the search is as good. */
const ROUNDING = 1e-14;

/** Directions a sine of 1e-9 apart are told apart, and their cross product is off by 2⁻⁵³ / 1e-9: its share of the extent. */
const THIN_ROUNDING = 1e-6;

const random = seeded();
t.comment(`seed ${random.seed}`);

for (const kind of KINDS) {
  for (const shape of SHAPES) {
    t.test(`${KIND_NAMES[kind]}, ${shape}: a point of each side, as close as the two sides are`, async (t) => {
      const { a, b } = sidesOf(kind);
      const pair = lonePair(kind);
      let worstShort = 0;
      let worstLong = 0;
      let worstDifference = 0;
      let worstSum = 0;
      let leastWeight = 0;
      let hasStray = false;
      for (let n = 0; n < 60; n++) {
        const x = placePair(random, kind, shape);
        measureClosest(pair, 0, x);
        const { w0, w1, w2, w3 } = closest;
        const weight = [w0, w1, w2, w3];
        const extent = x
          .slice(0, 3 * (a.length + b.length))
          .reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        const isThin = shape === 'one line' || shape === 'sizes 1 to 1e4';
        const scale = (isThin ? THIN_ROUNDING : ROUNDING) * Math.max(extent, 1e-30);
        for (const side of [a, b]) {
          worstSum = Math.max(worstSum, Math.abs(side.reduce((sum, v) => sum + weight[v], 0) - 1));
          for (const v of side) leastWeight = Math.min(leastWeight, weight[v]);
        }
        for (let v = a.length + b.length; v < 4; v++) if (weight[v] !== 0) hasStray = true;
        const difference = [0, 1, 2].map(
          (c) =>
            a.reduce((sum, v) => sum + weight[v] * x[3 * v + c], 0) -
            b.reduce((sum, v) => sum + weight[v] * x[3 * v + c], 0),
        );
        [closest.x, closest.y, closest.z].forEach((value, c) => {
          worstDifference = Math.max(worstDifference, Math.abs(value - difference[c]) / scale);
        });
        const found = Math.sqrt(closest.squared);
        worstDifference = Math.max(
          worstDifference,
          Math.abs(found - Math.hypot(closest.x, closest.y, closest.z)) / scale,
        );
        const least = slowDistance(x, a, b);
        worstShort = Math.max(worstShort, (least - found) / scale);
        worstLong = Math.max(worstLong, (found - least) / scale);
      }
      t.ok(leastWeight >= 0, `no weight is negative (${leastWeight})`);
      t.ok(worstSum <= 4e-16, `each side sums to 1 (off by ${worstSum})`);
      t.notOk(hasStray, 'unused slots weigh nothing');
      t.ok(worstDifference <= 1, `p − q is the difference of the weighted points (${worstDifference} of the rounding)`);
      t.ok(worstShort <= 1, `never below the true distance (${worstShort} of the rounding)`);
      t.ok(worstLong <= 1, `nor above it (${worstLong} of the rounding)`);
    });
  }
}

t.test('every feature of the sides occurs as the closest one', async (t) => {
  for (const [kind, features] of [
    [VT, 7],
    [EE, 9],
  ] as const) {
    const seen = new Set<string>();
    const pair = lonePair(kind);
    for (let n = 0; n < 3000 && seen.size < features; n++) {
      measureClosest(pair, 0, placePair(random, kind, 'general'));
      seen.add([closest.w0, closest.w1, closest.w2, closest.w3].map((w) => (w > 0 ? 1 : 0)).join(''));
    }
    t.equal(seen.size, features, `${KIND_NAMES[kind]}: ${[...seen].sort().join(' ')}`);
  }
});

t.test('known pairs have the known closest points', async (t) => {
  const answer = (kind: number, ...points: number[]): number[] => {
    measureClosest(lonePair(kind), 0, Float32Array.from([...points, ...Array(12 - points.length).fill(0)]));
    return [closest.w0, closest.w1, closest.w2, closest.w3, closest.x, closest.y, closest.z].map((value) => value + 0);
  };
  t.strictSame(answer(VT, 0.25, 0.5, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0), [1, 0.25, 0.25, 0.5, 0, 0, 2], 'above a face');
  t.strictSame(answer(VT, 0.5, -3, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0), [1, 0.5, 0.5, 0, 0, -3, 0], 'beside an edge');
  t.strictSame(answer(VT, 0, 4, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0), [1, 0, 0, 1, 0, 3, 0], 'beyond a corner');
  t.strictSame(answer(EE, -1, 0, 1, 1, 0, 1, 0, -1, 0, 0, 3, 0), [0.5, 0.5, 0.75, 0.25, 0, 0, 1], 'crossed');
  t.strictSame(answer(EE, 0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0), [0, 1, 1, 0, -2, 0, 0], 'in line');
});
