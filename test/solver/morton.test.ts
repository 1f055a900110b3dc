import t from 'tap';
import { Bvh } from '../../src/solver/bvh.js';
import { mortonOrder } from '../../src/solver/morton.js';
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
