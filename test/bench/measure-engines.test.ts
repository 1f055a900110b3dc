import t from 'tap';
import { makeCases } from '../../bench/cases.js';
import { closeEngines, openEngines } from '../../bench/engines.js';
import { measureEngines } from '../../bench/measure-engines.js';
import { caseOf, judge, runSuite, SUITES } from '../../bench/suites.js';
import { formatTable } from '../../bench/table.js';

const engines = await openEngines(['cpu']);
t.teardown(() => closeEngines(engines));

const quiet = { repeat: 1, warmUp: 0, tell: () => undefined };

t.test('an engine alone: its steps, its memory, and the same bytes each time', async (t) => {
  for await (const subject of makeCases(['layers'], [1200], undefined)) {
    const [measured] = await measureEngines(engines, subject, 2, 0);
    t.match(measured, { scene: 'layers', engine: 'cpu', status: 'CONVERGED', repeats: 2, isRepeatable: true });
    t.ok(measured.steps > 0 && measured.pairs > 0 && measured.rmsToTarget > 0);
    const { search, geometry, backward, forward } = measured.stages;
    const stages = search.median + geometry.median + backward.median + forward.median;
    t.ok(stages > 0 && stages <= measured.milliseconds.max, 'the stages are within the whole');
    t.ok((measured.engineOnly?.bytes ?? 0) > 0);
    t.equal(measured.engineOnly?.ratioToCpu, undefined, 'nothing to compare with');
    t.match(formatTable([measured]), /× cpu/);
  }
});

t.test('a share asks for that much of the motion', async (t) => {
  const item = SUITES.hardware[0];
  const whole = await caseOf({ ...item, share: 1 });
  const part = await caseOf({ ...item, share: 0.5 });
  const { start, target } = whole.request;
  const far = target.findIndex((value, k) => value !== start[k]);
  t.ok(far >= 0);
  t.equal(part.request.target[far], start[far] + 0.5 * (target[far] - start[far]));
});

t.test('a suite without time skips everything and states why', async (t) => {
  const results = await runSuite(SUITES.hardware, engines, { ...quiet, timeLimit: 0 });
  t.equal(results.length, SUITES.hardware.length);
  for (const { measurements, skipped } of results) {
    t.equal(measurements.length, 0);
    t.match(skipped, /vertices.*left/);
  }
});

t.test('a limit is judged by the time in the stages', async (t) => {
  const item = { ...SUITES.hardware[0], limit: { of: 'request' as const, milliseconds: 1e-6 } };
  const [{ measurements }] = await runSuite([item], engines, { ...quiet, timeLimit: 60_000 });
  t.match(judge(item, measurements), [/MISSED$/]);
  t.match(judge({ ...item, limit: { of: 'step', milliseconds: 1e6 } }, measurements), [/a step.*kept$/]);
});
