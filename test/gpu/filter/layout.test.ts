import t from 'tap';
import { orderElements } from '../../../gpu/filter/layout.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('Every element occurs once, wherever the vertices are.', async (t) => {
  for (const [count, spread] of [
    [1, 1],
    [7, 0],
    [5000, 1],
    [40_000, 1e-6],
  ]) {
    const vertices = Uint32Array.from({ length: 2 * count }, () => random.int(500));
    const x = Float32Array.from({ length: 1500 }, () => spread * random.between(-1, 1));
    const order = orderElements(vertices, 2, x);
    t.same(
      Uint32Array.from(order).sort(),
      Uint32Array.from({ length: count }, (_, k) => k),
      `${count} elements`,
    );
  }
  t.equal(orderElements(new Uint32Array(0), 3, new Float32Array(0)).length, 0);
});

t.test('Neighbours in the order are neighbours in space.', async (t) => {
  const n = 4096;
  const x = Float32Array.from({ length: 3 * n }, () => random.between(-1, 1));
  const vertices = Uint32Array.from({ length: 2 * n }, (_, k) => k >> 1);
  const order = orderElements(vertices, 2, x);
  const step = (i: number, j: number) => Math.hypot(...[0, 1, 2].map((c) => x[3 * i + c] - x[3 * j + c]));
  let along = 0;
  let listed = 0;
  for (let k = 1; k < n; k++) {
    along += step(order[k - 1], order[k]);
    listed += step(k - 1, k);
  }
  t.ok(along < listed / 5, `${along} along the order, ${listed} as listed`);
});

t.test('Corners of the range have cells.', async (t) => {
  const x = Float32Array.of(1, 1, 1, -1, -1, -1, 0, 0, 0);
  t.same([...orderElements(Uint32Array.of(0, 0, 1, 1, 2, 2), 2, x)], [1, 2, 0]);
});
