import t from 'tap';
import { PointsAlong } from '../../src/mesh/lengths.js';
import { selectMedian, selectRank, selectSmallest } from '../../src/mesh/select.js';
import { seeded } from '../support/random.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

const ORDERS: Record<string, (n: number, count: number) => number> = {
  random: () => random(),
  'few different numbers': () => random.int(3),
  ascending: (n) => n,
  descending: (n) => -n,
  equal: () => 1,
  'up and down': (n, count) => Math.min(n, count - n),
  zeros: (n) => (n % 5 === 0 ? 1 + n : 0),
};

for (const [name, at] of Object.entries(ORDERS)) {
  t.test(`The smallest numbers of ${name} ones are selected.`, async (t) => {
    for (const count of [1, 2, 3, 4, 5, 31, 32, 1000, 1001]) {
      const numbers = Float64Array.from({ length: count }, (_, n) => at(n, count));
      const sorted = numbers.slice().sort();
      for (const k of new Set([0, count >>> 1, count - 1, random.int(count)])) {
        const own = numbers.slice();
        if (selectSmallest(own, k) !== sorted[k]) t.fail(`number ${k} of ${count}`);
        if (own[k] !== sorted[k]) t.fail(`number ${k} of ${count} is not in its place`);
        if (own.subarray(0, k).some((value) => value > own[k]!)) t.fail(`a greater one precedes ${k} of ${count}`);
        if (own.subarray(k).some((value) => value < own[k]!)) t.fail(`a smaller one follows ${k} of ${count}`);
        t.same(own.sort(), sorted, 'the same numbers');
      }
      const upper = sorted[count >>> 1]!;
      const expected = count % 2 === 1 ? upper : (sorted[(count >>> 1) - 1]! + upper) / 2;
      t.equal(selectMedian(numbers), expected, `the median of ${count}`);
    }
  });
}

t.test('There may be no number.', async (t) => {
  t.equal(selectMedian(new Float64Array(0)), 0);
});

t.test('What is left after too many visits is sorted.', async (t) => {
  for (const visits of [0, 1500, 2500]) {
    const numbers = Float64Array.from({ length: 1001 }, () => random());
    const sorted = numbers.slice().sort();
    t.equal(selectSmallest(numbers, 700, visits), sorted[700]);
    t.ok(numbers.subarray(0, 700).every((value) => value <= sorted[700]!) && numbers[700] === sorted[700]);
  }
});

t.test('Points are sorted along an axis after too many visits, and selected before.', async (t) => {
  const positions = Float64Array.from({ length: 3 * 1001 }, () => random());
  for (const visits of [0, 1500, undefined]) {
    const order = Uint32Array.from({ length: 1001 }, (_, point) => point);
    selectRank(new PointsAlong(positions, order, 1), 0, 1000, 700, visits);
    const y = (i: number): number => positions[3 * order[i]! + 1]!;
    t.equal(new Set(order).size, 1001, 'every point once');
    t.ok(order.every((_, i) => (i < 700 ? y(i) <= y(700) : y(i) >= y(700))));
  }
});
