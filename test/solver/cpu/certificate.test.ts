import t from 'tap';
import { LONG_SPREAD } from '../../../src/solver/constants.js';
import {
  corner,
  heights,
  measureClosest,
  measureCorner,
  measureHeights,
  measurePair,
} from '../../../src/solver/cpu/certificate.js';
import { closest } from '../../../src/solver/cpu/closest.js';
import { CORNERS, EE, SIDE_A, VE, VT } from '../../../src/solver/pair-kinds.js';
import { exactGap, exactHeight, toProductUnits } from '../../support/exact-heights.js';
import { KIND_NAMES, KINDS, lonePair, placePair, placeTangent, SHAPES, sidesOf } from '../../support/pair-shapes.js';
import { seeded } from '../../support/random.js';

const f = Math.fround;
const random = seeded();
t.comment(`seed ${random.seed}`);

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/** Points of mixed sizes, up to 1e4 apart from what is looked at: cancellation in every place. */
function placeLarge(): Float32Array {
  const size = 10 ** random.between(-2, 4);
  return Float32Array.from({ length: 12 }, () => {
    const feature = random.between(-1, 1);
    return random() < 0.3 ? size * random.between(-1, 1) : random() < 0.5 ? feature : size + feature;
  });
}

function placeNormal(): [number, number, number] {
  const skew = (): number => f(random.between(-1, 1) * 10 ** (random() < 0.5 ? 0 : random.between(-7, 0)));
  return [skew(), skew(), skew()];
}

for (const kind of KINDS) {
  t.test(
    `${KIND_NAMES[kind]}: every height is within e of the exact one, and e is no larger than necessary`,
    async (t) => {
      let worst = 0n;
      let isWithin = true;
      let isTight = true;
      let isGap = true;
      for (let n = 0; n < 1500; n++) {
        const x = placeLarge();
        const normal = placeNormal();
        measureHeights(x, kind, 0, 1, 2, 3, ...normal);
        const bound = toProductUnits(heights.error);
        const measured = [0, heights.h1, heights.h2, heights.h3];
        let reach = 0;
        for (let v = 0; v < CORNERS[kind]; v++) {
          const off = absolute(toProductUnits(measured[v]) - exactHeight(x, v, 0, normal));
          if (off > worst) worst = off;
          // A corner that lies further back than lo and hi has an e of its own, which the check uses.
          measureCorner(x, 3 * v, x, 0, ...normal);
          if (off > bound && off > toProductUnits(corner.error)) isWithin = false;
          if (off > bound && (measured[v] === heights.lo || measured[v] === heights.hi)) isWithin = false;
          reach = Math.max(
            reach,
            [0, 1, 2].reduce((sum, c) => sum + Math.abs(normal[c] * (x[3 * v + c] - x[c])), 0),
          );
        }
        const sides = Math.max(Math.abs(heights.lo), Math.abs(heights.hi));
        const tight = reach > 1.001 * LONG_SPREAD ? 2 ** -47 * reach + 2 ** -20 * sides : 2 ** -20 * reach + 2 ** -120;
        if (!(heights.error <= 1.001 * tight)) isTight = false;
        const used = measured.slice(0, CORNERS[kind]);
        const lo = Math.min(...used.slice(0, SIDE_A[kind]));
        const hi = Math.max(...used.slice(SIDE_A[kind]));
        if (heights.lo !== lo || heights.hi !== hi || heights.gap !== f(lo - hi)) isGap = false;
      }
      t.ok(worst > 0n, 'some rounding happened, or nothing was tested');
      t.ok(isWithin, 'within e');
      t.ok(isTight, 'e = 8u·max Σ|n_c d_c|, and follows the heights where that is long');
      t.ok(isGap, 'lo and hi are the extremes of the sides, the gap their difference');
    },
  );
}

for (const kind of KINDS) {
  t.test(`${KIND_NAMES[kind]}: pairs with a certificate are apart`, async (t) => {
    const { a, b } = sidesOf(kind);
    let certified = 0;
    let apart = 0;
    for (const shape of SHAPES) {
      for (let n = 0; n < 80; n++) {
        const x = placePair(random, kind, shape);
        const pair = lonePair(kind);
        measurePair(pair, 0, x, 7);
        const [gap, error, distance] = [pair.gap[0], pair.error[0], pair.distance[0]];
        if (!(gap <= distance)) t.fail(`${shape}: gap ${gap} above the distance ${distance}`);
        if (pair.stamp[0] !== 7) t.fail('not stamped with the step');
        measureClosest(pair, 0, x);
        if (f(Math.sqrt(closest.squared)) !== distance) t.fail('the distance is not that of the closest points');
        const isClear = distance > 1e-4 * x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        if (isClear) apart++;
        if (!(gap > 2 * error)) continue;
        if (isClear) certified++;
        const normal = [...pair.normal];
        if (Math.abs(Math.hypot(...normal) - 1) > 1e-3) t.fail(`${shape}: the normal ${normal} is no unit vector`);
        if (!(exactGap(x, a, b, normal) > 0n))
          t.fail(`${shape}: certified, but ${normal} does not part ${x.join(' ')}`);
      }
    }
    t.ok(apart > 200, `${apart} pairs are well apart`);
    t.equal(certified, apart, 'and all of them are certified');
  });
}

t.test('long, nearly tangent pairs are never certified wrongly, and are certified above a few e', async (t) => {
  for (const kind of [VT, EE]) {
    const { a, b } = sidesOf(kind);
    let wrong = 0;
    let refused = 0;
    let crossings = 0;
    for (let n = 0; n < 1800; n++) {
      const length = 10 ** random.between(0, 3);
      // Rounding of the positions alone moves them by length·2⁻²⁴: on this scale a gap may be one, or be none.
      const gap = length * 2 ** -24 * (random() < 0.5 ? random.between(-4, 4) : random.between(0, 200));
      const x = placeTangent(random, kind, length, gap);
      const pair = lonePair(kind);
      measurePair(pair, 0, x, 0);
      const isCertified = pair.gap[0] > 2 * pair.error[0];
      const isParted = exactGap(x, a, b, pair.normal) > 0n;
      if (!isParted) crossings++;
      if (isCertified && !isParted) wrong++;
      if (!isCertified && gap > length * 2 ** -24 * 100) refused++;
    }
    t.equal(wrong, 0, `${KIND_NAMES[kind]}: nothing was certified that is not parted`);
    t.ok(crossings > 5, `${crossings} were not parted by the normal found`);
    t.equal(refused, 0, 'nor refused with a gap of 100 roundings');
  }
});

t.test('coordinates that differ by the smallest float32 numbers are not certified wrongly', async (t) => {
  const smallest = 2 ** -149;
  for (const kind of KINDS) {
    const { a, b } = sidesOf(kind);
    let [rounded, wrong] = [0, 0];
    for (let n = 0; n < 4000; n++) {
      // No coordinate is subnormal, but differences and their products are.
      const x = Float32Array.from({ length: 12 }, () => 2 ** -126 + random.int(2 ** random.int(6)) * smallest);
      const pair = lonePair(kind);
      pair.normal.set(placeNormal());
      measurePair(pair, 0, x, 0);
      if (pair.gap[0] > 2 * pair.error[0] && !(exactGap(x, a, b, pair.normal) > 0n)) wrong++;
      const normal = [pair.normal[0], pair.normal[1], pair.normal[2]] as const;
      for (let v = 1; v < CORNERS[kind]; v++) {
        measureCorner(x, 3 * v, x, 0, ...normal);
        const off = absolute(toProductUnits(corner.height) - exactHeight(x, v, 0, normal));
        if (off > 0n) rounded++;
        if (2n * off > toProductUnits(corner.error)) wrong++;
      }
    }
    t.ok(rounded > 1000, `${KIND_NAMES[kind]}: ${rounded} heights are rounded`);
    t.equal(wrong, 0, `${KIND_NAMES[kind]}: each by half of e at most`);
  }
});

t.test('an exact touch has no certificate, however it is turned', async (t) => {
  for (const kind of KINDS) {
    let certified = 0;
    for (let n = 0; n < 200; n++) {
      const x = placePair(random, kind, 'general');
      // The first vertex of side a stands on the first of side b.
      for (let c = 0; c < 3; c++) x[c] = x[3 * SIDE_A[kind] + c];
      const pair = lonePair(kind);
      measurePair(pair, 0, x, 0);
      if (pair.gap[0] > 2 * pair.error[0]) certified++;
    }
    t.equal(certified, 0, KIND_NAMES[kind]);
  }
});

t.test('a normal of an earlier step helps if that of the closest points is too coarse', async (t) => {
  // A vertex some 1e-5 above an edge 10^4 long: n is a float32 vector, and 2⁻²⁴ of the length is more than the gap.
  let needed = 0;
  for (let n = 0; n < 100; n++) {
    const height = f(random.between(1e-5, 5e-5));
    const aside = (): number => height * random.between(-1, 1);
    const x = Float32Array.from([aside(), aside(), height, -4000, -1200.3, 0, 4000, 1200.3, 0, 0, 0, 0]);
    const fresh = lonePair(VE);
    measurePair(fresh, 0, x, 0);
    const pair = lonePair(VE);
    pair.normal.set([0, 0, 1]);
    measurePair(pair, 0, x, 0);
    // Where p − q itself certifies nine tenths of the distance, the old normal is not asked.
    if (!(pair.gap[0] >= 0.9 * height && pair.gap[0] > 2 * pair.error[0]))
      t.fail(`gap ${pair.gap[0]} at height ${height}`);
    if (!(fresh.gap[0] > 2 * fresh.error[0])) needed++;
  }
  t.ok(needed > 20, `${needed} of 100 had no certificate of their own`);
});

t.test('a grain over a tilted triangle of tens of thousands of edges is certified down to a few floors', async (t) => {
  let refused = 0;
  for (let n = 0; n < 300; n++) {
    const tilt = random.between(0.01, 1.5);
    const yaw = random.between(0, 6);
    const place = (u: number, v: number, w: number): number[] => {
      const [y, z] = [v * Math.cos(tilt) - w * Math.sin(tilt), v * Math.sin(tilt) + w * Math.cos(tilt)];
      return [u * Math.cos(yaw) - y * Math.sin(yaw), u * Math.sin(yaw) + y * Math.cos(yaw), z];
    };
    const plane = [place(-30_000, -30_000, 0), place(30_000, -30_000, 0), place(0, 30_000, 0)];
    const x = Float32Array.from([place(random.between(-9, 9), random.between(-9, 9), 0.02), ...plane].flat());
    const pair = lonePair(VT);
    measurePair(pair, 0, x, 0);
    if (!(pair.gap[0] > 2 * pair.error[0])) refused++;
    else if (!(exactGap(x, [0], [1, 2, 3], pair.normal) > 0n)) t.fail('certified, but not parted');
  }
  t.equal(refused, 0, 'a fifth of the default δ above it, where e in float32 alone is 0.06');
});
