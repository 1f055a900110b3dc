import t from 'tap';
import { PairGeometry, PairSet } from '../../../src/solver/cpu/pair-set.js';
import { VT, VV } from '../../../src/solver/pair-kinds.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('pairs and their kept data survive growth', async (t) => {
  const pairs = new PairSet();
  const count = 5000;
  for (let p = 0; p < count; p++) {
    pairs.push(p % 4, p, p + 1, p % 4 === VV ? -1 : p + 2, p % 4 > 1 ? -1 : p + 3, p, p / 2, -p);
    pairs.delta[p] = p + 1;
    pairs.lambda[p] = p + 2;
  }
  t.equal(pairs.count, count);
  for (let p = 0; p < count; p++) {
    const slots = [p, p + 1, p % 4 === VV ? -1 : p + 2, p % 4 > 1 ? -1 : p + 3];
    const isSame =
      pairs.kind[p] === p % 4 &&
      slots.every((v, s) => pairs.vertex[4 * p + s] === v) &&
      [p, p / 2, -p].every((value, c) => pairs.normal[3 * p + c] === value) &&
      pairs.delta[p] === p + 1 &&
      pairs.lambda[p] === p + 2 &&
      pairs.stamp[p] === -1;
    if (!isSame) t.fail(`pair ${p} has changed`);
  }
  for (const array of [pairs.distance, pairs.gap, pairs.error]) t.ok(array.length >= count);
  t.ok(pairs.weight.length >= 4 * count);
  t.strictSame([...pairs.byKind], [1250, 1250, 1250, 1250]);
});

t.test(
  'keepOnly keeps the pairs whose vertices are all marked, in order, with normal, δ_p and multiplier',
  async (t) => {
    for (let round = 0; round < 50; round++) {
      const vertices = 30;
      const pairs = new PairSet();
      const list: number[][] = [];
      for (let p = 0; p < 200; p++) {
        const kind = random.int(4);
        const corner = [0, 1, 2, 3].map((s) => (s < [4, 4, 3, 2][kind] ? random.int(vertices) : -1));
        pairs.push(kind, corner[0], corner[1], corner[2], corner[3], p, p + 0.5, -p);
        pairs.delta[p] = 1 + p;
        pairs.lambda[p] = 2 + p;
        pairs.stamp[p] = 9;
        list.push([kind, ...corner, p]);
      }
      // From few pairs in a row that are kept to many.
      const share = random.between(0.3, 1);
      const mark = Uint8Array.from({ length: vertices }, () => (random() < share ? 2 : 0) | random.int(2));
      pairs.keepOnly(mark, 2);
      const expected = list.filter(([, ...rest]) => rest.slice(0, 4).every((v) => v < 0 || (mark[v] & 2) !== 0));
      const found = Array.from({ length: pairs.count }, (_, p) => [
        pairs.kind[p],
        ...pairs.vertex.subarray(4 * p, 4 * p + 4),
        pairs.normal[3 * p],
      ]);
      t.strictSame(found, expected);
      const ofKind = [0, 1, 2, 3].map((kind) => expected.filter(([one]) => one === kind).length);
      t.strictSame([...pairs.byKind], ofKind);
      for (let p = 0; p < pairs.count; p++) {
        if (pairs.delta[p] !== 1 + pairs.normal[3 * p]) t.fail('δ_p of another pair');
        if (pairs.lambda[p] !== 2 + pairs.normal[3 * p]) t.fail('λ of another pair');
        if (pairs.stamp[p] !== -1) t.fail('geometry is taken for current though it was not moved along');
      }
    }
  },
);

t.test('clear removes all pairs, and a pair that follows has no old δ_p or multiplier', async (t) => {
  const pairs = new PairSet();
  pairs.push(VT, 0, 1, 2, 3, 1, 0, 0);
  pairs.delta[0] = 5;
  pairs.lambda[0] = 4;
  pairs.stamp[0] = 3;
  pairs.clear();
  t.equal(pairs.count, 0);
  pairs.push(VV, 4, 5, -1, -1, 0, 0, 1);
  t.equal(pairs.delta[0], 0);
  t.equal(pairs.lambda[0], 0);
  t.equal(pairs.stamp[0], -1);
  t.strictSame([...pairs.byKind], [0, 0, 0, 1]);
});

/** As a search leaves it. */
function search(pairs: PairSet, count: number): void {
  pairs.clear();
  for (let p = 0; p < count; p++) {
    const [a, b, c, d] = [0, 1, 2, 3].map(() => random.int(1000));
    pairs.push(random.int(4), a, b, c, d, random(), random(), random());
  }
}

/** As the steps of a request leave the shared memory. */
function measure({ count, delta, stamp, gap, weight }: PairSet): void {
  delta.fill(random(), 0, count);
  stamp.fill(random.int(5), 0, count);
  gap.fill(random(), 0, count);
  weight.fill(random(), 0, 4 * count);
}

const contentOf = ({ count, kind, vertex, normal, byKind }: PairSet) => ({
  count,
  kind: [...kind.subarray(0, count)],
  vertex: [...vertex.subarray(0, 4 * count)],
  normal: [...normal.subarray(0, 3 * count)],
  byKind: [...byKind],
});

t.test('sets that share one geometry in turn find their own data, and no stamp of another', async (t) => {
  const geometry = new PairGeometry();
  const sets = [new PairSet(geometry), new PairSet(geometry), new PairSet(geometry)];
  const left = sets.map(contentOf);
  let last: PairSet | undefined;
  for (let round = 0; round < 300; round++) {
    const k = random.int(sets.length);
    const pairs = sets[k]!;
    pairs.acquire();
    t.strictSame(contentOf(pairs), left[k], `round ${round}, set ${k}`);
    const stamps = pairs.stamp.subarray(0, pairs.count);
    t.ok(pairs === last || stamps.every((stamp) => stamp === -1), 'geometry of another set is not taken for current');
    const what = random();
    if (what < 0.4) search(pairs, random.int(3000));
    else if (what < 0.5)
      pairs.keepOnly(
        Uint8Array.from({ length: 1000 }, () => random.int(2)),
        1,
      );
    else for (let n = 0; n < 3 * pairs.count; n++) pairs.normal[n] = random();
    measure(pairs);
    if (random() < 0.05) pairs.discard();
    left[k] = contentOf(pairs);
    pairs.release();
    last = pairs;
  }
});

t.test('a turn copies nothing: a set acquires with the arrays with which it was released', async (t) => {
  const geometry = new PairGeometry();
  const [one, other] = [new PairSet(geometry), new PairSet(geometry)];
  search(one, 5000);
  one.release();
  const { kind, vertex, normal } = one;
  other.acquire();
  search(other, 9000);
  other.release();
  one.acquire();
  t.ok(one.kind === kind && one.vertex === vertex && one.normal === normal);
  one.release();
  t.ok(one.kind === kind && one.vertex === vertex && one.normal === normal);
});

t.test('a released set takes 29 bytes per pair, and at most a quarter of that in spare capacity', async (t) => {
  const geometry = new PairGeometry();
  const pairs = new PairSet(geometry);
  for (const count of [100_000, 99_000, 81_000, 79_000, 3, 0, 1, 64_000, 64_001]) {
    pairs.acquire();
    search(pairs, count);
    const before = contentOf(pairs);
    pairs.release();
    t.strictSame(contentOf(pairs), before);
    t.ok(pairs.bytes >= 29 * count, `${count} pairs: ${pairs.bytes} bytes`);
    t.ok(pairs.bytes <= 29 * 1.25 * count, `${count} pairs: ${pairs.bytes} bytes`);
  }
});

t.test('a released set refers to no shared memory', async (t) => {
  const geometry = new PairGeometry();
  const pairs = new PairSet(geometry);
  search(pairs, 5000);
  t.equal(pairs.delta, geometry.delta);
  pairs.release();
  for (const name of ['delta', 'stamp', 'weight', 'distance', 'gap', 'error'] as const) t.equal(pairs[name].length, 0);
});

t.test('a discarded set is empty and remains usable', async (t) => {
  const pairs = new PairSet(new PairGeometry());
  search(pairs, 100);
  pairs.discard();
  t.equal(pairs.bytes, 0);
  t.strictSame(contentOf(pairs), contentOf(new PairSet()));
  pairs.acquire();
  search(pairs, 2000);
  t.equal(pairs.count, 2000);
  t.ok(pairs.stamp.subarray(0, 2000).every((stamp) => stamp === -1));
});
