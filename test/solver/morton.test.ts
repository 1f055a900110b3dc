import t from 'tap';
import { Bvh } from '../../src/solver/bvh.js';
import { mortonOrder, sortByCode } from '../../src/solver/morton.js';
import { seeded } from '../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** The order of a tree over the bounds of the elements. */
function orderOfTree(vertices: Uint32Array, size: number, x: Float32Array): number[] {
  const count = vertices.length / size;
  const box = new Float32Array(6 * count);
  for (let e = 0; e < count; e++) {
    for (let c = 0; c < 3; c++) {
      const along = [...vertices.subarray(size * e, size * (e + 1))].map((v) => x[3 * v + c]);
      box[6 * e + c] = Math.min(...along);
      box[6 * e + 3 + c] = Math.max(...along);
    }
  }
  const tree = new Bvh();
  tree.build(count, box, new Uint8Array(count));
  return [...tree.order.subarray(0, count)];
}

t.test('elements are in the order of the leaves of a tree over them, ties by index', async (t) => {
  for (let n = 0; n < 60; n++) {
    const size = 1 + (n % 3);
    const vertexCount = 3 + random.int(40);
    // Coarse coordinates and a flat axis now and then: many equal codes.
    const x = Float32Array.from({ length: 3 * vertexCount }, (_, k) =>
      n % 5 === 0 && k % 3 === 2 ? 0.25 : n % 2 === 0 ? random.int(4) : random() - 0.5,
    );
    const vertices = Uint32Array.from({ length: size * random.int(300) }, () => random.int(vertexCount));
    t.same([...mortonOrder(vertices, size, x)], orderOfTree(vertices, size, x), `trial ${n}`);
  }
});

t.test('many elements, few of them at the border of all, are in the order of their codes', async (t) => {
  const [vertexCount, count] = [20_000, 40_000];
  for (const size of [1, 2, 3]) {
    // Some far away, so that a sample of the elements does not meet them all.
    const x = Float32Array.from(
      { length: 3 * vertexCount },
      () => (random() - 0.5) * (random.int(3000) === 0 ? 90 : 1),
    );
    const vertices = Uint32Array.from({ length: size * count }, () => random.int(vertexCount));
    t.ok(isSame(mortonOrder(vertices, size, x), orderOfTree(vertices, size, x)), `size ${size}`);
  }
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

/** Are they equal? Many numbers at a time: a deep comparison of so many takes long. */
const isSame = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.from({ length: a.length }, (_, k) => k).every((k) => a[k] === b[k]);
