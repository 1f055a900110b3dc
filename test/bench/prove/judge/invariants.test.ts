import t from 'tap';
import { leastDistance } from '../../../../bench/prove/judge/distances.js';
import { linkingNumber, windingNumber } from '../../../../bench/prove/judge/invariants.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';
import { seeded } from '../../../support/random.js';
import { slowDistance } from '../../../support/slow-distance.js';

const TETRAHEDRON = [
  [0, 2, 1],
  [0, 1, 3],
  [1, 2, 3],
  [2, 0, 3],
];
const CORNERS = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1];

t.test('a point in a closed surface has winding number 1, outside 0', async (t) => {
  const at = (...p: number[]) => windingNumber([...CORNERS, ...p], TETRAHEDRON, 4);
  t.equal(Math.abs(at(0.1, 0.1, 0.1)), 1);
  t.equal(at(1, 1, 1), 0);
  t.equal(at(-1e-6, 0.1, 0.1), 0);
  t.equal(Math.abs(at(1e-6, 0.1, 0.1)), 1);
});

t.test('two rings: linked 1, apart 0, and passing through each other changes it', async (t) => {
  const ring = (centre: number, isUpright: boolean) =>
    Array.from({ length: 12 }, (_, k) => {
      const [c, s] = [Math.cos((2 * Math.PI * k) / 12), Math.sin((2 * Math.PI * k) / 12)];
      return isUpright ? [centre + c, 0, s] : [centre + c, s, 0];
    }).flat();
  const ids = (first: number) => Array.from({ length: 12 }, (_, k) => first + k);
  const linked = (centre: number) => linkingNumber([...ring(0, false), ...ring(centre, true)], ids(0), ids(12));
  t.equal(Math.abs(linked(1)), 1);
  t.equal(linked(2.5), 0);
});

t.test('the least distance equals a slow minimisation', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const surfaces = {
    VERTEX_TRIANGLE: readSurface({ vertexCount: 4, particles: Uint32Array.of(0), triangles: Uint32Array.of(1, 2, 3) }),
    EDGE_EDGE: readSurface({ vertexCount: 4, segments: Uint32Array.of(0, 1, 2, 3) }),
  } as const;
  for (let n = 0; n < 60; n++) {
    const x = Float64Array.from({ length: 12 }, () => random.between(-1, 1));
    for (const kind of ['VERTEX_TRIANGLE', 'EDGE_EDGE'] as const) {
      const least = leastDistance(surfaces[kind], x, 10, { kinematicPairs: 'SKIP' });
      const slow = kind === 'EDGE_EDGE' ? slowDistance(x, [0, 1], [2, 3]) : slowDistance(x, [0], [1, 2, 3]);
      if (Math.abs((least ?? -1) - slow) > 1e-6) t.fail(`${kind}: ${least}, slowly ${slow}`);
    }
  }
  t.pass('compared');
});
