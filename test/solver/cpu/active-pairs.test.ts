import t from 'tap';
import { ActivePairs, SCANS_PER_INCIDENCE } from '../../../src/solver/cpu/active-pairs.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { type Random, seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const VERTICES = 400;

function makePairs(random: Random, count: number, vertices: number, pairs = new PairSet()): PairSet {
  pairs.clear();
  for (let p = 0; p < count; p++) {
    const kind = random.int(4);
    const corner = [0, 1, 2, 3].map((s) => (s < [4, 4, 3, 2][kind] ? random.int(vertices) : -1));
    pairs.push(kind, corner[0], corner[1], corner[2], corner[3], 0, 0, 1);
  }
  return pairs;
}

const expected = (pairs: PairSet, moving: Uint8Array): number[] =>
  Array.from({ length: pairs.count }, (_, p) => p).filter((p) =>
    [0, 1, 2, 3].some((s) => pairs.vertex[4 * p + s] >= 0 && moving[pairs.vertex[4 * p + s]] === 1),
  );

const listOf = (active: ActivePairs): number[] => [...active.list.subarray(0, active.count)];

t.test(
  'the pairs with a moving vertex are listed in ascending order, for many moving vertices and for few',
  async (t) => {
    for (let round = 0; round < 60; round++) {
      const pairs = makePairs(random, random.int(2000), VERTICES);
      const active = new ActivePairs();
      // 1/32 of the vertices is where gathering takes over from scanning.
      for (const share of [0, 0.003, 0.02, 0.03, 0.04, 0.5, 1]) {
        const moving = Uint8Array.from({ length: VERTICES }, () => (random() < share ? 1 : 0));
        const count = moving.reduce((sum, one) => sum + one, 0);
        for (let n = 0; n <= SCANS_PER_INCIDENCE; n++) active.gather(pairs, moving, count);
        t.strictSame(listOf(active), expected(pairs, moving), `${count} moving`);
      }
    }
  },
);

t.test('both ways give the same list', async (t) => {
  for (let round = 0; round < 100; round++) {
    const vertices = 33 + random.int(300);
    const pairs = makePairs(random, 500, vertices);
    const moving = Uint8Array.from({ length: vertices }, () => (random() < 0.1 ? 1 : 0));
    const scanned = new ActivePairs();
    const gathered = new ActivePairs();
    // What is said to move decides how it is done; the marks decide what is found.
    scanned.gather(pairs, moving, vertices);
    for (let n = 0; n <= SCANS_PER_INCIDENCE; n++) gathered.gather(pairs, moving, 1);
    t.strictSame(listOf(gathered), listOf(scanned));
  }
});

t.test('a new P is recognised, even a larger or a smaller one', async (t) => {
  const active = new ActivePairs();
  const pairs = new PairSet();
  for (const count of [100, 3000, 0, 1500, 10]) {
    makePairs(random, count, VERTICES, pairs);
    // The first rounds scan, the last ones gather.
    for (let n = 0; n < 2 * SCANS_PER_INCIDENCE; n++) {
      const moving = new Uint8Array(VERTICES);
      for (let k = 0; k < 5; k++) moving[random.int(VERTICES)] = 1;
      active.gather(pairs, moving, 5);
      t.strictSame(listOf(active), expected(pairs, moving));
    }
  }
});
