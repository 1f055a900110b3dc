import t from 'tap';
import { Bvh } from '../../src/solver/bvh.js';
import { mortonOrder, sortByCode } from '../../src/solver/morton.js';
import { seeded } from '../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** Are they equal? Many numbers at a time: a deep comparison of so many takes long. */
const isSame = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.from({ length: a.length }, (_, k) => k).every((k) => a[k] === b[k]);

/** The order of a tree over points. */
function orderOfTree(x: Float32Array): Uint32Array {
  const count = x.length / 3;
  const box = Float32Array.from({ length: 6 * count }, (_, k) => x[3 * Math.floor(k / 6) + (k % 3)]);
  const tree = new Bvh();
  tree.build(count, box, new Uint8Array(count));
  return tree.order.subarray(0, count);
}

t.test('points are in the order of the leaves of a tree over them, ties by index', async (t) => {
  for (let n = 0; n < 60; n++) {
    // Coarse coordinates and a flat axis now and then: many equal codes.
    const x = Float32Array.from({ length: 3 * random.int(300) }, (_, k) =>
      n % 5 === 0 && k % 3 === 2 ? 0.25 : n % 2 === 0 ? random.int(4) : random() - 0.5,
    );
    t.same([...mortonOrder(x)], [...orderOfTree(x)], `trial ${n}`);
  }
  // Many points, some of them far away.
  const x = Float32Array.from({ length: 120_000 }, () => (random() - 0.5) * (random.int(3000) === 0 ? 90 : 1));
  t.ok(isSame(mortonOrder(x), orderOfTree(x)), 'many points');
});

t.test('codes of any number are sorted, equal ones by index', async (t) => {
  for (const count of [0, 1, 1000, 40_000]) {
    const code = Uint32Array.from({ length: count }, () => (random.int(4) === 0 ? 77 : random.int(2 ** 30)));
    const given = code.slice();
    const order = new Uint32Array(count);
    sortByCode(count, code, order);
    const expected = Uint32Array.from(code.keys()).sort((i, j) => code[i] - code[j] || i - j);
    t.ok(isSame(order, expected), `${count} codes`);
    t.ok(isSame(code, given), 'the codes stay');
  }
});
