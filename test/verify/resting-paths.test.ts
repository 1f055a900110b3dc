import t from 'tap';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { testPath } from '../../src/verify/path.js';
import { runJob } from '../support/job.js';
import { makeMesh, PROTECT } from './make-mesh.js';
import { nameOf } from './oracle.js';

/** Elements of this size span planes so that whole numbers are 1/n² away from them, less than a path test in doubles can tell. */
const n = 2 ** 20;

/** A triangle in the plane of (n, 1, 1) and (0, n, n + 1), and a point beside its middle. */
const pointAt = (gap: number) => [gap, 0, 0];
const triangle = [-n, -n - 1, -n - 2, n, 1 - n, -n, 0, n, n + 1];
/** Rods in these directions that cross, far from the triangle. */
const lower = [7 * n, -1, 8, 9 * n, 1, 10];
const upperAt = (gap: number) => [8 * n + gap, -n, 8 - n, 8 * n + gap, n, n + 10];

t.test('the codimensional scope decides pairs at rest exactly', async (t) => {
  const mesh = makeMesh({ vertexCount: 8, triangles: [0, 1, 2], segments: [3, 4, 5, 6], particles: [7] });
  const at = (gap: number) => Float32Array.of(...triangle, ...lower, ...upperAt(gap), ...pointAt(gap));
  const collide = (from: number, to: number, scope: 'all' | 'codimensional') =>
    testPath(mesh, at(from), at(to), PROTECT, scope).collisions.map(({ kind, a, b }) => nameOf(kind, a, b));
  const both = ['VERTEX_TRIANGLE 7 0,1,2', 'EDGE_EDGE 3,4 5,6'];
  t.same(collide(1, 1, 'codimensional'), []);
  t.same(collide(0, 0, 'codimensional'), both, 'they touch');
  t.same(collide(1, -1, 'codimensional'), both, 'they pass each other');
  t.same(collide(1, 0, 'codimensional'), both, 'they end in touch');
  t.same(collide(1, 1, 'all'), both, 'within the rounding of the test');
});

t.test('rods at rest that nearly touch hold nothing else back, and are no fault of the engine', async (t) => {
  const free = (z: number) => [20 * n, 0, z, 21 * n, 0, z];
  const at = (gap: number, z: number) => Float32Array.of(...lower, ...upperAt(gap), ...free(z));
  const resolve = (gap: number) =>
    runJob(
      {
        mesh: { vertexCount: 6, segments: Uint32Array.of(0, 1, 2, 3, 4, 5) },
        start: at(gap, 0),
        target: at(gap, n),
        parameters: {},
      },
      createCpuEngine(),
    );
  const { answer, findings } = await resolve(1);
  t.same(findings, []);
  t.match(answer.report, { status: 'CONVERGED', distanceToTargetMax: 0, verification: { fellBack: false } });
  t.same(answer.positions, at(1, n));
  await t.rejects(resolve(0), { code: 'INTERSECTING_START' });
});
