import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { findDistances } from '../../src/verify/distance.js';
import { edgeIntoBorder } from '../solver/cases.js';
import { runJob } from '../support/job.js';

/** A contact of two kinematic edges at the border of a kinematic region, which SKIP must not exclude. */
t.test('SKIP: the motion continues until it touches, and no answer falls back', async (t) => {
  const { mesh, start, target } = edgeIntoBorder().build();
  const activationDistance = 0.05;
  const { answer, findings } = await runJob(
    { mesh, start, target, parameters: { activationDistance, verify: 'PATH' } },
    createCpuEngine(),
  );
  const { report, positions } = answer;
  t.same(findings, []);
  t.equal(report.verification.fellBack, false);
  t.equal(report.verification.intersections, 0);
  const rules = { kinematicPairs: 'PROTECT', maxPairs: 1 } as const;
  const { minDistance } = findDistances(buildMesh(mesh), positions, rules, Infinity);
  t.ok(minDistance !== undefined && minDistance > 0 && minDistance < activationDistance, `${minDistance} apart`);
  t.ok(report.unreachedKinematic > 0, 'the report says who is held back');
});
