import t from 'tap';
import { warnOfTouching } from '../../src/jobs/touching-pairs.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob } from '../support/job.js';
import { SceneBuilder } from '../support/scene-builder.js';

/** Cloth, 0.4 above a resting triangle of a slope of 3/8 with coordinates up to `size`, is to move down through it. */
async function fall(size: number) {
  const builder = new SceneBuilder();
  const corners = [
    [-1, -1],
    [1, -1],
    [0.25, 1],
  ].map(([u, v]) => builder.vertex([u! * size, v! * size, 0.375 * v! * size], undefined, true));
  builder.triangle(corners[0]!, corners[1]!, corners[2]!);
  builder.sheet(4, (u, v) => {
    const [x, y] = [4 * (u - 0.48), 4 * (v - 0.53)];
    return { at: [x, y, 0.375 * y + 0.4], to: [x, y, 0.375 * y - 1] };
  });
  const { mesh, start, target } = builder.build();
  const request = { mesh, start: Float32Array.from(start), target: Float32Array.from(target), parameters: {} };
  const { answer } = await runJob(request, createCpuEngine());
  return { report: answer.report, isStill: answer.positions.every((value, k) => value === request.start[k]) };
}

t.test('what a pair without a certified gap holds in place is told, whatever the status', async (t) => {
  const far = await fall(2 ** 27);
  t.ok(far.isStill);
  const { touchingPairs, status, warnings } = far.report;
  t.equal(status, 'CONVERGED');
  t.ok(touchingPairs > 0);
  t.match(warnings, [{ code: 'TOUCHING_PAIRS', count: touchingPairs, message: /single precision can certify/ }]);
  const near = await fall(2 ** 12);
  t.notOk(near.isStill);
  t.match(near.report, { touchingPairs: 0, warnings: [] });
});

t.test('the number of pairs is told', async (t) => {
  t.same(warnOfTouching({ touchingPairs: 0 }), []);
  t.match(warnOfTouching({ touchingPairs: 1 }), [{ message: /^1 pair has no gap/, count: 1 }]);
  t.match(warnOfTouching({ touchingPairs: 2 }), [{ message: /^2 pairs have no gap/, count: 2 }]);
});
