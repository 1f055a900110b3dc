import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { testRestLengths } from '../../jobs/rest-length-tests.js';
import { openTestEngine } from '../../support/gpu.js';
import { runJob } from '../../support/job.js';
import { flatSheet, scaled } from '../../support/sheet.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

if (!engine) t.test('lengths at rest on the GPU engine', options, async () => undefined);
else {
  testRestLengths(t, engine);

  t.test('answers are those of the reference engine', async (t) => {
    const { vertexCount, rest, triangles } = flatSheet(10, 8);
    const mesh = { vertexCount, triangles, restLengths: { positions: rest } };
    const job = { mesh, start: rest, target: scaled(rest, [1.6, 1, 1]), parameters: {} };
    const { answer } = await runJob(job, engine);
    const { answer: expected } = await runJob(job, createCpuEngine());
    t.equal(answer.report.status, expected.report.status);
    const worst = Math.max(...Array.from(answer.positions, (value, k) => Math.abs(value - expected.positions[k]!)));
    // A hundredth of an edge, of the three that vertices move.
    t.ok(worst < 0.01, `worst difference ${worst}`);
  });
}
