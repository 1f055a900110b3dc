import t from 'tap';
import { GaussSeidel } from '../../../bench/rivals/gauss-seidel.js';
import { SCENES } from '../../../bench/rivals/scenes.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { EE } from '../../../src/solver/pair-kinds.js';
import { Volumes } from '../../../src/solver/volume-impulses/volumes.js';

t.test('an impulse takes the closing motion of a pair away and conserves momentum', async (t) => {
  const x = Float32Array.of(-1, 0, 0, 1, 0, 0, 0, -1, 0.5, 0, 1, 0.5);
  const inverseMasses = Float32Array.of(1, 1, 0.5, 0.5);
  const candidate = Float64Array.from(x, (value, k) => value + (k % 3 === 2 ? (k < 6 ? 0.4 : -0.4) : 0));
  const before = candidate.slice();
  const volumes = new Volumes();
  volumes.add(EE, x, 0, 1, 2, 3);
  const rival = new GaussSeidel(inverseMasses);
  rival.solve(volumes, x, candidate, () => undefined);
  const heightOf = (a: number, b: number) => (candidate[3 * a + 2] + candidate[3 * b + 2]) / 2;
  t.ok(Math.abs(heightOf(2, 3) - heightOf(0, 1) - 0.5) < 1e-12, 'as far apart as they were');
  const change = [0, 1, 2, 3].reduce(
    (sum, v) => sum + (candidate[3 * v + 2] - before[3 * v + 2]) / inverseMasses[v],
    0,
  );
  t.ok(Math.abs(change) < 1e-12);
  t.same(rival.members, [0, 1, 2, 3]);
});

t.test('the scenes of the comparison are meshes, and move', async (t) => {
  for (const { name, make } of SCENES) {
    const { mesh, start, target } = make();
    t.ok(buildMesh(mesh).vertexCount === start.length / 3 && target.length === start.length, name);
    t.ok(target.some((value, k) => value !== start[k]));
  }
});
