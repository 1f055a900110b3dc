import t from 'tap';
import { checkProbe, probeRequest } from '../../src/session/resolve.js';
import { fakeEngine, stepping } from '../support/fake-engine.js';
import { runJob } from '../support/job.js';

t.test('an engine that lets the triangles cross fails the probe, verified or not', async (t) => {
  const { answer } = await runJob(probeRequest(), fakeEngine(stepping(4)));
  t.throws(() => checkProbe(answer), { code: 'INTERNAL', message: /fake failed its probe: the verifier refused/ });
  const unverified = { ...probeRequest(), parameters: { verify: 'NONE' as const } };
  const crossed = await runJob(unverified, fakeEngine(stepping(4)), { allowUnverified: true });
  t.throws(() => checkProbe(crossed.answer), { code: 'INTERNAL', message: /cross/ });
});

t.test('an engine that keeps the triangles apart passes the probe', async (t) => {
  const { answer } = await runJob(probeRequest(), fakeEngine(stepping(4, 0.4)));
  t.doesNotThrow(() => checkProbe(answer));
});
