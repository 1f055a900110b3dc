import t from 'tap';
import { PairSet, VT } from '../../../src/solver/cpu/pairs.js';
import { RestingPairs } from '../../../src/solver/cpu/resting-pairs.js';
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

const contentOf = ({ count, kind, vertex, normal, byKind }: PairSet) => ({
  count,
  kind: [...kind.subarray(0, count)],
  vertex: [...vertex.subarray(0, 4 * count)],
  normal: [...normal.subarray(0, 3 * count)],
  byKind: [...byKind],
});

t.test('two scenes that take turns in one set find what they left there', async (t) => {
  const shared = new PairSet();
  const scenes = [new RestingPairs(), new RestingPairs(), new RestingPairs()];
  const left = scenes.map(() => contentOf(new PairSet()));
  for (let round = 0; round < 200; round++) {
    const k = random.int(scenes.length);
    const scene = scenes[k]!;
    scene.wake(shared);
    t.strictSame(contentOf(shared), left[k], `round ${round}, scene ${k}`);
    if (random() < 0.5) search(shared, random.int(400));
    else for (let n = 0; n < 3 * shared.count; n++) shared.normal[n] = random();
    left[k] = contentOf(shared);
    scene.take(shared);
  }
});

t.test('geometry of another scene is not taken for current, whatever step it is stamped with', async (t) => {
  const shared = new PairSet();
  const [one, other] = [new RestingPairs(), new RestingPairs()];
  search(shared, 50);
  one.take(shared);
  search(shared, 50);
  shared.stamp.fill(17);
  other.take(shared);
  one.wake(shared);
  t.ok(shared.stamp.subarray(0, 50).every((stamp) => stamp === -1));
});

t.test('what rests is 29 bytes a pair and a quarter of it room at most', async (t) => {
  const shared = new PairSet();
  const resting = new RestingPairs();
  for (const count of [100_000, 99_000, 81_000, 79_000, 3, 0, 1, 64_000, 64_001]) {
    search(shared, count);
    resting.take(shared);
    t.equal(resting.count, count);
    t.ok(resting.bytes >= 29 * count, `${count} pairs: ${resting.bytes} bytes`);
    t.ok(resting.bytes <= 29 * (1.25 * count + 1), `${count} pairs: ${resting.bytes} bytes`);
  }
});

t.test('a dropped set is empty', async (t) => {
  const shared = new PairSet();
  const resting = new RestingPairs();
  shared.push(VT, 0, 1, 2, 3, 0, 0, 1);
  resting.take(shared);
  resting.drop();
  t.equal(resting.bytes, 0);
  resting.wake(shared);
  t.strictSame(contentOf(shared), contentOf(new PairSet()));
});
