import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { CASES } from '../cases.js';

t.setTimeout(600_000);

const engine = createCpuEngine();

for (const { name, mesh, start, target, parameters, kinematicArrive } of CASES) {
  t.test(`${name}, BALANCED`, async (t) => {
    const judged = await resolveJudged(engine, mesh, start, target, {
      stepLimit: 120,
      ...parameters,
      quality: 'BALANCED',
    });
    t.equal(judged.intersections, 0, 'no state intersects');
    t.equal(judged.collisions, 0, 'no piece of the path collides');
    t.ok(judged.positions.every(Number.isFinite), 'every number is finite');
    const { residual, residuals, status } = judged.resolution;
    t.equal(
      residual,
      residuals.reduce((most, r) => Math.max(most, r), 0),
      'the residual is the largest of all',
    );
    if (status === 'CONVERGED') t.ok(residual < 1e-4, 'converged means that nothing is held');
    if (kinematicArrive) {
      const late = judged.arrived.filter((arrived, i) => !arrived && judged.mesh.kinematic[i] === 1);
      t.equal(late.length, 0, 'kinematic vertices stand on their targets');
    }
  });
}
