import t from 'tap';
import { alongCurve, TriangleTree } from '../../src/diagnose/triangle-tree.js';
import { shareOf } from '../support/share.js';

t.test('the nearest of many triangles is found', async (t) => {
  const x = Float64Array.from({ length: 9 * 100 }, (_, k) => {
    const corner = Math.floor(k / 3) % 3;
    const place = [Math.floor(k / 9), 0, 0][k % 3]!;
    return place + (corner === 1 && k % 3 === 1 ? 0.5 : corner === 2 && k % 3 === 2 ? 0.5 : 0);
  });
  const tree = new TriangleTree(
    x,
    Uint32Array.from({ length: 300 }, (_, v) => v),
    Uint32Array.of(3, 40, 41, 99),
  );
  t.match(tree.nearest(0, 0, 0), { triangle: 3, distance: 3, x: 3, y: 0, z: 0 });
  t.match(tree.nearest(40.4, 0.1, 0.1), { triangle: 40 });
  t.match(tree.nearest(1000, 0, 0, 5), { triangle: -1 });
});

t.test('the construction of a large tree can be stopped', async (t) => {
  const count = 20_000;
  const x = Float64Array.from({ length: 9 * count }, (_, k) => (k % 3 === 0 ? k : k % 9));
  const triangles = Uint32Array.from({ length: 3 * count }, (_, v) => v);
  const all = Uint32Array.from({ length: count }, (_, k) => k);
  let pulses = 0;
  const tree = new TriangleTree(x, triangles, all, () => pulses++);
  t.ok(pulses >= count / 4096, `${pulses}`);
  t.match(tree.nearest(x[9 * 77]!, x[9 * 77 + 1]!, x[9 * 77 + 2]!), { triangle: 77, distance: 0 });
  const moments = Array.from({ length: pulses }, (_, k) => k);
  for (const after of shareOf(moments, 3)) {
    let left = after;
    const pulse = () => {
      if (left-- === 0) throw new Error('over');
    };
    t.throws(() => new TriangleTree(x, triangles, all, pulse), /over/);
  }
});

t.test('more triangles than 22 bits count are all in the order, each once', async (t) => {
  const count = 2 ** 22 + 3;
  const x = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  const triangles = new Uint32Array(3 * count);
  for (let k = 0; k < triangles.length; k++) triangles[k] = k % 3;
  const order = alongCurve(
    x,
    triangles,
    Uint32Array.from({ length: count }, (_, k) => k),
  );
  const seen = new Uint8Array(count);
  for (const triangle of order) seen[triangle] = 1;
  t.equal(order.length, count);
  t.equal(seen.indexOf(0), -1, 'none is missing');
});
