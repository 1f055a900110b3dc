import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { CASES } from '../solver/cases.js';
import { openTestEngine } from '../support/gpu.js';
import { resolveJudged } from '../support/judged-resolve.js';
import { openCase } from '../support/open-case.js';
import { expectRandomRunsSafe, randomAlgorithm1 } from '../support/random-runs.js';
import { roundsOf, shareOf } from '../support/share.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());
const cpu = createCpuEngine();

/** Step limit for runs that would take hundreds of steps on either engine: safety does not depend on it. */
const STEP_LIMIT = 120;

/** The orders of the sweeps differ, and so do the steps: by this factor, and a few steps more, at most. */
const STEP_FACTOR = 2;
const STEP_SLACK = 8;

if (!engine) t.test('the GPU engine over the table of cases', options, async () => undefined);
else {
  for (const { name, mesh, start, target, parameters, kinematicArrive } of shareOf(CASES, 3)) {
    t.test(`${name}, TUNED`, async (t) => {
      const overrides = { stepLimit: STEP_LIMIT, ...parameters };
      const judged = await resolveJudged(engine, mesh, start, target, overrides);
      t.equal(judged.intersections, 0, 'no state intersects');
      t.equal(judged.collisions, 0, 'no piece of the path collides');
      t.ok(judged.positions.every(Number.isFinite), 'every number is finite');
      const reference = await openCase(cpu, mesh, start, target, overrides);
      const expected = await reference.resolve();
      const { status, steps, residuals, residual } = judged.resolution;
      t.equal(status, expected.status);
      t.ok(steps <= STEP_FACTOR * expected.steps + STEP_SLACK, `${steps} steps, the reference ${expected.steps}`);
      t.equal(
        residual,
        residuals.reduce((most, r) => Math.max(most, r), 0),
        'residual is the largest of all',
      );
      if (kinematicArrive) {
        const late = judged.arrived.filter((arrived, i) => !arrived && judged.mesh.kinematic[i] === 1);
        t.equal(late.length, 0, 'kinematic vertices stand on their targets');
      }
    });
  }

  t.test('Preset PAPER is as safe.', async (t) => {
    for (const { name, mesh, start, target } of shareOf(CASES, 3)) {
      const paper: ParametersInput = { preset: 'PAPER', activationDistance: 1e-3, stepLimit: 8 };
      const judged = await resolveJudged(engine, mesh, start, target, paper);
      t.equal(judged.intersections + judged.collisions, 0, name);
      t.ok(judged.resolution.steps > 0, name);
    }
  });

  t.test('Random scenes with extreme targets stay free of intersections at every step.', (t) =>
    expectRandomRunsSafe(t, engine, roundsOf(12, 6), (random) => randomAlgorithm1(random, 25)),
  );
}
