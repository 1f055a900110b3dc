import t from 'tap';
import {
  reservedStepsOf,
  shorteningStepsOf,
  statusAfterPullBack,
  stepLimitOf,
  stepsAfter,
} from '../../src/solver/step-shares.js';
import { makeSettings } from '../support/settings.js';

t.test('Algorithm 1 leaves a quarter of the steps beyond the first 32, and 128 at most', async (t) => {
  for (const [limit, reserved] of [
    [1, 0],
    [32, 0],
    [33, 1],
    [40, 8],
    [44, 11],
    [100, 25],
    [512, 128],
    [100_000, 128],
  ]) {
    t.equal(reservedStepsOf(limit), reserved, `of ${limit}`);
  }
});

t.test('the pull-back leaves a sixteenth to the steps that shorten edges, and 32 at most', async (t) => {
  for (const [limit, reserved] of [
    [1, 0],
    [15, 0],
    [16, 1],
    [100, 6],
    [512, 32],
    [100_000, 32],
  ]) {
    t.equal(shorteningStepsOf(limit), reserved, `of ${limit}`);
  }
});

t.test('every phase has its own limit, and the last one the whole', async (t) => {
  const pullBack = {
    sweeps: 1,
    tau: 1,
    minGain: 1,
    offset: 0.1,
    reservedSteps: 25,
    shorteningSteps: 6,
    finer: undefined,
  };
  const settings = makeSettings({ stepLimit: 100, pullBack });
  t.strictSame(
    (['ADVANCE', 'PULL', 'SHORTEN'] as const).map((phase) => [
      stepLimitOf(phase, settings),
      stepsAfter(phase, settings),
    ]),
    [
      [75, 25],
      [94, 6],
      [100, 0],
    ],
  );
  t.equal(stepLimitOf('ADVANCE', { ...settings, stepLimit: 20 }), 0, 'motions before the first step took more');
  t.equal(stepLimitOf('ADVANCE', { ...settings, pullBack: undefined }), 100, 'without a pull-back it has all of them');
});

t.test('a run with motion left does not count as converged', async (t) => {
  t.equal(statusAfterPullBack('CONVERGED', 0, true), 'CONVERGED');
  t.equal(statusAfterPullBack('CONVERGED', 3, false), 'STALLED');
  t.equal(statusAfterPullBack('CONVERGED', 3, true), 'STEP_LIMIT');
  t.equal(statusAfterPullBack('STALLED', 3, true), 'STEP_LIMIT');
  t.equal(statusAfterPullBack('DEADLINE', 3, true), 'DEADLINE');
});
