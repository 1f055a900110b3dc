import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { testStrainLimits } from '../../jobs/strain-limit-tests.js';
import { openTestEngine } from '../../support/gpu.js';
import { runJob } from '../../support/job.js';
import { shareOf } from '../../support/share.js';
import { flatSheet, scaled } from '../../support/sheet.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

if (!engine) t.test('strain limits of the GPU engine', options, async () => undefined);
else {
  testStrainLimits(t, engine);

  t.test('answers are those of the reference engine, near the target and far from it', async (t) => {
    const { vertexCount, rest, triangles } = flatSheet(12, 9);
    const mesh = { vertexCount, triangles, strainLimits: { rest, min: 0.99, max: 1.01 } };
    const target = scaled(rest, [2, 0.5, 1]);
    for (const start of shareOf([rest, target], 2)) {
      const job = { mesh, start, target, parameters: {} };
      const { answer } = await runJob(job, engine);
      const { answer: expected } = await runJob(job, createCpuEngine());
      t.equal(answer.report.status, expected.report.status);
      t.ok(Math.abs(answer.report.steps - expected.report.steps) <= 2, `${answer.report.steps} steps`);
      let worst = 0;
      answer.positions.forEach((value, k) => {
        worst = Math.max(worst, Math.abs(value - expected.positions[k]!));
      });
      // An hundredth of an edge, of the ten that vertices move.
      t.ok(worst < 0.01, `worst difference ${worst}`);
    }
  });

  t.test('another round of sweeps is a pause: however steps are submitted, the bytes are the same', async (t) => {
    const { vertexCount, rest, triangles } = flatSheet(12, 9);
    const mesh = { vertexCount, triangles, strainLimits: { rest, min: 0.99, max: 1.01 } };
    const job = { mesh, start: rest, target: scaled(rest, [2, 0.5, 1]), parameters: {} };
    const { answer } = await runJob(job, engine);
    const opened = await openTestEngine(undefined, { runsAhead: false, firstPairs: 64, firstCandidates: 8 });
    const { answer: other } = await runJob(job, opened.engine!);
    await opened.engine!.close();
    t.same(other.positions, answer.positions);
  });
}
