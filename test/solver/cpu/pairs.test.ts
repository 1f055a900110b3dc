import t from 'tap';
import { PairSet, VT, VV } from '../../../src/solver/cpu/pairs.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('pairs and what is kept of them survive growth', async (t) => {
  const pairs = new PairSet();
  const count = 5000;
  for (let p = 0; p < count; p++) {
    pairs.push(p % 4, p, p + 1, p % 4 === VV ? -1 : p + 2, p % 4 > 1 ? -1 : p + 3, p, p / 2, -p);
    pairs.delta[p] = p + 1;
  }
  t.equal(pairs.count, count);
  for (let p = 0; p < count; p++) {
    const slots = [p, p + 1, p % 4 === VV ? -1 : p + 2, p % 4 > 1 ? -1 : p + 3];
    const isSame =
      pairs.kind[p] === p % 4 &&
      slots.every((v, s) => pairs.vertex[4 * p + s] === v) &&
      [p, p / 2, -p].every((value, c) => pairs.normal[3 * p + c] === value) &&
      pairs.delta[p] === p + 1 &&
      pairs.stamp[p] === -1;
    if (!isSame) t.fail(`pair ${p} has changed`);
  }
  for (const array of [pairs.distance, pairs.gap, pairs.error]) t.ok(array.length >= count);
  t.ok(pairs.weight.length >= 4 * count);
  t.strictSame([...pairs.byKind], [1250, 1250, 1250, 1250]);
});

t.test('keepOnly keeps the pairs whose vertices are all marked, in order, with normal and δ_p', async (t) => {
  for (let round = 0; round < 50; round++) {
    const vertices = 30;
    const pairs = new PairSet();
    const list: number[][] = [];
    for (let p = 0; p < 200; p++) {
      const kind = random.int(4);
      const corner = [0, 1, 2, 3].map((s) => (s < [4, 4, 3, 2][kind] ? random.int(vertices) : -1));
      pairs.push(kind, corner[0], corner[1], corner[2], corner[3], p, p + 0.5, -p);
      pairs.delta[p] = 1 + p;
      pairs.stamp[p] = 9;
      list.push([kind, ...corner, p]);
    }
    const mark = Uint8Array.from({ length: vertices }, () => random.int(4) | (random() < 0.5 ? 2 : 0));
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
      if (pairs.stamp[p] !== -1) t.fail('geometry is taken for current though it was not moved along');
    }
  }
});

t.test('clear forgets all pairs, and a pair that comes next has no old δ_p', async (t) => {
  const pairs = new PairSet();
  pairs.push(VT, 0, 1, 2, 3, 1, 0, 0);
  pairs.delta[0] = 5;
  pairs.stamp[0] = 3;
  pairs.clear();
  t.equal(pairs.count, 0);
  pairs.push(VV, 4, 5, -1, -1, 0, 0, 1);
  t.equal(pairs.delta[0], 0);
  t.equal(pairs.stamp[0], -1);
  t.strictSame([...pairs.byKind], [0, 0, 0, 1]);
});
