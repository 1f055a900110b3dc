import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { AcceleratedSweeps, type SweptLimits } from '../../../src/solver/cpu/accelerated-sweeps.js';
import { EdgeLimits } from '../../../src/solver/cpu/edge-limits.js';
import { ShapeLimits } from '../../../src/solver/cpu/shape-limits.js';
import { StrainLimits } from '../../../src/solver/cpu/strain-limits.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';
import { edgesByColour } from '../../../src/solver/edges-by-colour.js';
import { strainElementsOf } from '../../../src/solver/strain/elements.js';
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

t.test('limits whose multipliers were reset sweep like new ones: no momentum of earlier sweeps is left', async (t) => {
  const { vertexCount, triangles, rest } = flatSheet(12, 9);
  const mesh = buildMesh({ vertexCount, triangles, strainLimits: { rest, max: 1.2 } });
  const masses = mesh.inverseMasses;
  const sweep = (x: Float32Array, limits: SweptLimits): Float32Array => {
    const y = x.slice();
    const options = { sweeps: 24, delta: 0.1, slack: 0 };
    new AcceleratedSweeps(masses, new Scratch()).run(x, y, limits, undefined, options);
    return y;
  };
  const makers = {
    edges: (): SweptLimits => ({ edges: new EdgeLimits(edgesByColour(mesh), masses, rest, 1.2, new Scratch()) }),
    strains: (): SweptLimits => ({ strains: new StrainLimits(strainElementsOf(mesh, 1)!, masses, 1e6, new Scratch()) }),
  };
  // Only the last columns are over their limits, so that rows begin to act after the first sweeps.
  const pulled = rest.map((value, k) => (k % 3 === 0 && value > 4 ? value + 1.5 * (value - 4) : value));
  for (const [name, make] of Object.entries(makers)) {
    const limits = make();
    sweep(scaled(rest, [1.5, 1, 1]), limits);
    limits.edges?.reset();
    limits.strains?.reset();
    const expected = sweep(pulled, make());
    t.notSame(expected, pulled, `${name} pull`);
    t.same(sweep(pulled, limits), expected, name);
  }
});
