import t from 'tap';
import { PairWork } from '../../../src/solver/cpu/pair-work.js';
import { PairSet } from '../../../src/solver/cpu/pairs.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** As a search leaves it. */
function search(pairs: PairSet, count: number): void {
  pairs.clear();
  for (let p = 0; p < count; p++) {
    const [a, b, c, d] = [0, 1, 2, 3].map(() => random.int(1000));
    pairs.push(random.int(4), a, b, c, d, random(), random(), random());
  }
}

/** As the steps of a request leave what is lent. */
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

t.test('sets that take turns in one work find what they left, and no stamp of another', async (t) => {
  const work = new PairWork();
  const sets = [new PairSet(work), new PairSet(work), new PairSet(work)];
  const left = sets.map(contentOf);
  let last: PairSet | undefined;
  for (let round = 0; round < 300; round++) {
    const k = random.int(sets.length);
    const pairs = sets[k]!;
    pairs.wake();
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
    if (random() < 0.05) pairs.release();
    left[k] = contentOf(pairs);
    pairs.rest();
    last = pairs;
  }
});

t.test('a turn costs no copy: the arrays of a set that rests are those that it wakes with', async (t) => {
  const work = new PairWork();
  const [one, other] = [new PairSet(work), new PairSet(work)];
  search(one, 5000);
  one.rest();
  const { kind, vertex, normal } = one;
  other.wake();
  search(other, 9000);
  other.rest();
  one.wake();
  t.ok(one.kind === kind && one.vertex === vertex && one.normal === normal);
  one.rest();
  t.ok(one.kind === kind && one.vertex === vertex && one.normal === normal);
});

t.test('what rests is 29 bytes a pair and a quarter of it room at most', async (t) => {
  const work = new PairWork();
  const pairs = new PairSet(work);
  for (const count of [100_000, 99_000, 81_000, 79_000, 3, 0, 1, 64_000, 64_001]) {
    pairs.wake();
    search(pairs, count);
    const before = contentOf(pairs);
    pairs.rest();
    t.strictSame(contentOf(pairs), before);
    t.ok(pairs.bytes >= 29 * count, `${count} pairs: ${pairs.bytes} bytes`);
    t.ok(pairs.bytes <= 29 * 1.25 * count, `${count} pairs: ${pairs.bytes} bytes`);
  }
});

t.test('what rests holds on to nothing that was lent', async (t) => {
  const work = new PairWork();
  const pairs = new PairSet(work);
  search(pairs, 5000);
  t.equal(pairs.delta, work.delta);
  pairs.rest();
  for (const name of ['delta', 'stamp', 'weight', 'distance', 'gap', 'error'] as const) t.equal(pairs[name].length, 0);
});

t.test('a released set is empty, and can be used on', async (t) => {
  const pairs = new PairSet(new PairWork());
  search(pairs, 100);
  pairs.release();
  t.equal(pairs.bytes, 0);
  t.strictSame(contentOf(pairs), contentOf(new PairSet()));
  pairs.wake();
  search(pairs, 2000);
  t.equal(pairs.count, 2000);
  t.ok(pairs.stamp.subarray(0, 2000).every((stamp) => stamp === -1));
});
