import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { AcceleratedSweeps } from '../../../src/solver/cpu/accelerated-sweeps.js';
import { ShapeLimits } from '../../../src/solver/cpu/shape-limits.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';
import { makeSettings } from '../../support/settings.js';
import { flatSheet, scaled } from '../../support/sheet.js';

/** How far a sheet is out of its strain limits after the sweeps of a step: Σ of squares, squared edges. */
function excessAfterSweeps(mostExcess: number): number {
  const { vertexCount, triangles, rest } = flatSheet(12, 9, 1);
  const mesh = buildMesh({ vertexCount, triangles, strainLimits: { rest, min: 0.99, max: 1.01 } });
  const settings = makeSettings({ sigma: 0 });
  const limits = ShapeLimits.of(mesh, settings, 1, undefined, rest, new Scratch())!;
  const y = scaled(rest, [1.05, 0.97, 1]);
  limits.beginStrains(rest, y);
  const slack = 0.004 * settings.delta;
  const options = { sweeps: 8, delta: settings.delta, slack, mostExcess };
  new AcceleratedSweeps(mesh.inverseMasses, new Scratch()).run(rest, y, limits, undefined, options);
  return limits.excess(y);
}

t.test('sweeps that must leave no excess continue until no strain exceeds its limits', async (t) => {
  t.ok(excessAfterSweeps(Number.POSITIVE_INFINITY) > 0, 'those of a step towards the target leave something');
  t.equal(excessAfterSweeps(0), 0);
});
