import t from 'tap';
import { pathMeets } from '../../src/verify/path.js';
import { seeded } from '../support/random.js';

const points = (...values: number[]): Float64Array => {
  const all = new Float64Array(12);
  all.set(values);
  return all;
};

t.test('a long edge that passes near by does not collide, even in one plane', async (t) => {
  // Where the closest point of such an edge is known to a rounding of its length only.
  const [x, y] = [-2.6666667461395264, -2.6666667461395264];
  t.equal(
    pathMeets(
      'EDGE_EDGE',
      points(
        -4,
        y,
        0.5763877630233765,
        x,
        y,
        0.9858584403991699,
        -248867.46875,
        y,
        -349633.375,
        x,
        y,
        2.451923370361328,
      ),
      points(
        -4,
        y,
        0.5763879418373108,
        x,
        y,
        0.9896080493927002,
        -248867.46875,
        y,
        -349633.375,
        x,
        y,
        2.451923370361328,
      ),
    ),
    undefined,
    'at 1.3e-3 of an edge of 4.3e5',
  );
  const random = seeded();
  for (let n = 0; n < 500; n++) {
    // A line through p along d, and a short edge, a point or a triangle at a distance of 1e-4 to 1e-2 on its left.
    const angle = random.between(0, 2 * Math.PI);
    const d = [Math.cos(angle), Math.sin(angle)];
    const at = (along: number, aside: number): number[] => [
      along * d[0] - aside * d[1],
      y,
      along * d[1] + aside * d[0],
    ];
    const long = [...at(-(10 ** random.between(3, 6)), 0), ...at(random.between(1, 3), 0)];
    const gap = 10 ** random.between(-4, -2);
    const first = at(random.between(-1, 0), gap);
    const second = at(random.between(-1, 0), gap + 1);
    const third = at(2, gap + 0.5);
    for (const rise of [0, 1e-7]) {
      const from = { edge: points(...long, ...first, ...second), point: points(...first, ...long) };
      const to = {
        edge: points(...long, ...first, ...at(0.3, gap + 1 + rise)),
        point: points(...first, ...at(-3e3, -rise), ...long.slice(3)),
      };
      t.equal(pathMeets('EDGE_EDGE', from.edge, to.edge), undefined, `edges at ${gap}, ${n} of seed ${random.seed}`);
      t.equal(
        pathMeets('VERTEX_EDGE', from.point, to.point),
        undefined,
        `a point at ${gap}, ${n} of seed ${random.seed}`,
      );
      const corner = points(...long.slice(3), ...first, ...second, ...third);
      t.equal(pathMeets('VERTEX_TRIANGLE', corner, corner), undefined, `a triangle, ${n} of seed ${random.seed}`);
      const far = points(...first, ...long, ...at(-10, -5));
      t.equal(pathMeets('VERTEX_TRIANGLE', far, far), undefined, `a long triangle, ${n} of seed ${random.seed}`);
    }
  }
});
