import t from 'tap';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import type { Status } from '../../../src/contract/report.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { CASES } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { rmsOf } from '../../support/nearness.js';
import { shareOf } from '../../support/share.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());
const cpu = createCpuEngine();

/** Step limit for cases in which each vertex has hundreds of candidates: safety does not depend on it. */
const STEP_LIMITS: Readonly<Record<string, number>> = { 'all targets in one point': 12 };

/**
 * How far the rms of this engine may be above that of the reference engine, and the steps: contacts are swept in another order,
 * so that long runs end in other minima.
 */
const RMS_FACTOR = 1.05;
const LONG_RMS_FACTOR = 1.3;
const STEP_FACTOR = 1.5;
const STEP_SLACK = 8;

/** By itself, not by a limit. */
const hasEnded = (status: Status) => status === 'CONVERGED' || status === 'STALLED';

if (!engine) t.test('the pull-back of the GPU engine: the table of cases', options, async () => undefined);
else {
  for (const { name, mesh, start, target, parameters, kinematicArrive } of shareOf(CASES, 5)) {
    t.test(`${name}, BALANCED`, async (t) => {
      const stepLimit = STEP_LIMITS[name] ?? 120;
      const asked: ParametersInput = { stepLimit, ...parameters, quality: 'BALANCED' };
      const judged = await resolveJudged(engine, mesh, start, target, asked);
      const expected = await resolveJudged(cpu, mesh, start, target, asked);
      t.equal(judged.intersections, 0, 'no state intersects');
      t.equal(judged.collisions, 0, 'no piece of the path collides');
      t.ok(judged.positions.every(Number.isFinite), 'every number is finite');
      const { residual, residuals, status, steps } = judged.resolution;
      // A run of many steps may reach its limit on one engine and its end on the other.
      const isLong = Math.max(steps, expected.resolution.steps) > stepLimit / 2;
      // Whether a box holds a grain in the last steps is chance, and the rms below says what it is worth.
      if (!isLong)
        t.equal(hasEnded(status), hasEnded(expected.resolution.status), `${status}, ${expected.resolution.status}`);
      t.ok(steps <= STEP_FACTOR * expected.resolution.steps + STEP_SLACK, `${steps} steps`);
      t.equal(
        residual,
        residuals.reduce((most, r) => Math.max(most, r), 0),
        'the residual is the largest of all',
      );
      if (status === 'CONVERGED') t.ok(residual < 1e-4, 'converged means that nothing is held');
      if (hasEnded(status) && hasEnded(expected.resolution.status)) {
        const [near, reference] = [rmsOf(judged, target), rmsOf(expected, target)];
        const factor = isLong ? LONG_RMS_FACTOR : RMS_FACTOR;
        t.ok(near <= factor * reference, `rms ${near}, the reference ${reference}`);
      }
      if (kinematicArrive) {
        const late = judged.arrived.filter((arrived, i) => !arrived && judged.mesh.kinematic[i] === 1);
        t.equal(late.length, 0, 'kinematic vertices stand on their targets');
      }
    });
  }
}
