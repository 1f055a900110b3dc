import t from 'tap';
import { ServerProcess } from '../../../bench/prove/server.js';
import { makeJudge } from '../runner/judge.js';
import { modelOf } from '../runner/play.js';
import { blade } from '../scenes/blade.js';
import { startOf } from '../src/integrator.js';
import { repair, simulateBlindly } from '../src/repair.js';

t.test('a frame that fell through everything is repaired from the last good one', async (t) => {
  const server = await ServerProcess.start({ engine: 'cpu' });
  t.teardown(() => server.stop());
  const scene = blade('small');
  const model = modelOf(scene);
  const judge = makeJudge(model);
  const good = startOf(model);
  const penetrated = await simulateBlindly(model, good, scene.timeStep, 5);
  t.equal(judge(good.x), 0);
  t.ok(judge(penetrated) > 50, `the patches are pierced ${judge(penetrated)} times`);
  const { positions, report } = await repair(server.grpcAddress, model, good.x, penetrated, scene.parameters ?? {});
  t.equal(judge(positions), 0);
  t.ok(report.steps >= 1);
  const heights = (x: Float64Array): number[] =>
    [...x].filter((_, i) => i % 3 === 2 && !model.isKinematic[(i - 2) / 3]);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  t.ok(mean(heights(positions)) < mean(heights(good.x)) - 0.05, 'it is well on the way');
});
