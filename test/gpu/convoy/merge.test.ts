import t from 'tap';
import { mergeSequences } from '../../../gpu/convoy/merge.js';
import { seeded } from '../../support/random.js';

const merge = (...words: string[]): string[] =>
  mergeSequences(
    words.map((word, scene) => [...word].map((key) => ({ key, scene }))),
    ({ key }) => key,
  ).map((items) => `${items[0]!.key}${items.map(({ scene }) => scene).join('')}`);

t.test('Common dispatches of scenes are merged, and a scene that is ahead waits.', async (t) => {
  t.strictSame(merge('abc', 'abc', 'abc'), ['a012', 'b012', 'c012']);
  // A search that only one of them has.
  t.strictSame(merge('ssabc', 'abc', 'abc'), ['s0', 's0', 'a012', 'b012', 'c012']);
  // Sweeps of different number.
  t.strictSame(merge('axxxb', 'axb'), ['a01', 'x01', 'x0', 'x0', 'b01']);
  t.strictSame(merge('', 'a'), ['a1']);
  t.strictSame(merge(), []);
});

t.test('Every scene keeps its order, and every dispatch runs exactly once.', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 200; round++) {
    const words = Array.from({ length: 1 + random.int(6) }, () =>
      Array.from({ length: random.int(12) }, () => 'abcde'[random.int(5)]).join(''),
    );
    const items = words.map((word, scene) => [...word].map((key, n) => ({ key, scene, n })));
    const merged = mergeSequences(items, ({ key }) => key);
    for (const group of merged) {
      t.equal(new Set(group.map(({ key }) => key)).size, 1, 'one kernel');
      t.equal(new Set(group.map(({ scene }) => scene)).size, group.length, 'no scene twice');
    }
    t.strictSame(
      words.map((_, scene) => merged.flat().filter((item) => item.scene === scene)),
      items,
      words.join(' '),
    );
  }
});
