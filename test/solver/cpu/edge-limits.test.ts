import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { HOLD_BACK_PASSES } from '../../../src/solver/constants.js';
import { EdgeLimits } from '../../../src/solver/cpu/edge-limits.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';
import { edgesByColour } from '../../../src/solver/edges-by-colour.js';
import { roundsUntil, seeded } from '../../support/random.js';
import { flatSheet, scaled } from '../../support/sheet.js';

const SIGMA = 1.1;

t.test('steps are shortened as if every pass visited every edge', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  let stopped = 0;
  let ended = 0;
  for (const round of roundsUntil(8, () => stopped >= 3 && ended >= 3)) {
    // What holds a taut strip at one end reaches its other end in more passes than there are.
    const isTaut = random() < 0.5;
    const [nx, ny] = isTaut ? [100, 1 + random.int(3)] : [5 + random.int(20), 5 + random.int(20)];
    const { vertexCount, triangles, rest } = flatSheet(nx, ny);
    const kinematic = Uint8Array.from({ length: vertexCount }, () => (random() < 0.05 ? 1 : 0));
    const mesh = buildMesh({ vertexCount, triangles, kinematic });
    const edges = edgesByColour(mesh);
    const stretched = scaled(rest, [isTaut ? SIGMA : 1, 1, 1]);
    const x = stretched.map((value) => value + random.between(-0.03, 0.03));
    const pull = isTaut ? 6 : random.between(0, 6);
    const y = x.map((value, k) => value + (k % 3 === 0 ? pull : 0) + random.between(-0.1, 0.1));
    const bounds = Float32Array.from({ length: vertexCount }, () =>
      random() < (isTaut ? 0.003 : 0.1) ? random() / 2 : 1,
    );
    bounds[random.int(vertexCount)] = 0;

    const alpha = bounds.slice();
    const limits = new EdgeLimits(edges, mesh.inverseMasses, rest, SIGMA, new Scratch());
    limits.holdBack(x, y, alpha);

    // An edge alone shortens nothing at a second visit.
    const alone = Array.from({ length: edges.ends.length / 2 }, (_, n) => {
      const one = { ends: edges.ends.slice(2 * n, 2 * n + 2), offsets: [0, 1], colours: 1 };
      return new EdgeLimits(one, mesh.inverseMasses, rest, SIGMA, new Scratch());
    });
    const expected = bounds.slice();
    let passes = 0;
    for (let isChanged = true; isChanged && passes < HOLD_BACK_PASSES; passes++) {
      const before = expected.slice();
      for (const edge of passes % 2 === 0 ? alone : alone.toReversed()) edge.holdBack(x, y, expected);
      isChanged = expected.some((value, v) => value !== before[v]);
    }
    if (passes === HOLD_BACK_PASSES) stopped++;
    else if (passes > 2) ended++;
    t.strictSame(alpha, expected, `round ${round}: ${edges.ends.length / 2} edges, ${passes} passes`);
  }
  t.ok(stopped >= 3 && ended >= 3, 'some rounds needed more passes than there are, and some fewer');
});
