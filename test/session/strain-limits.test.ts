import t from 'tap';
import { createOperations } from '../../src/session/operations.js';
import { LIMITS } from '../support/job.js';
import { flatSheet, scaled } from '../support/sheet.js';

t.test('a session keeps strain limits over its frames, and when vertices become pins', async (t) => {
  const operations = await createOperations({
    engine: 'cpu',
    threads: 1,
    limits: { ...LIMITS, maxDeviceBytes: 2 ** 30 },
    allowUnverified: false,
  });
  t.teardown(() => operations.close());
  t.equal(operations.info().engines.find(({ name }) => name === 'cpu')?.strainLimits, true);
  const { vertexCount, rest, triangles } = flatSheet(6, 5);
  const mesh = { vertexCount, triangles, strainLimits: { rest, min: 0.95, max: 1.05 } };
  const { id: sessionId } = await operations.createSession({ mesh, start: rest, parameters: {} });
  const pinned = new Uint8Array(vertexCount);
  pinned[0] = 1;
  for (const [n, kinematic] of [undefined, pinned, undefined].entries()) {
    const target = scaled(rest, [1.3 + 0.2 * n, 0.7, 1]);
    if (n > 0) target.set(rest.subarray(0, 3));
    const { report, positions } = await operations.step({ sessionId, target, ...(kinematic ? { kinematic } : {}) });
    t.equal(report.strain?.violated, 0, `frame ${n + 1}: ${JSON.stringify(report.strain)}`);
    t.ok(report.strain!.max > 1.03, 'the limits are used');
    t.equal(positions.length, rest.length);
  }
});
