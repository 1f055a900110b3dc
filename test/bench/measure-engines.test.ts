import t from 'tap';
import { makeCases } from '../../bench/cases.js';
import { closeEngines, openEngines } from '../../bench/engines.js';
import { measureEngines } from '../../bench/measure-engines.js';
import { formatTable } from '../../bench/table.js';

const engines = await openEngines(['cpu']);
t.teardown(() => closeEngines(engines));

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
