import { pino } from 'pino';
import t, { type Test } from 'tap';
import { makeSwap } from '../../bench/load/cloth.js';
import { exampleRequests } from '../../examples/requests.js';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/server/server.js';
import { openOperations } from '../conformance/run.js';

async function open(t: Test) {
  const environment = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' };
  const options = { log: pino({ level: 'silent' }), handleSignals: false };
  const server = await startServer(readConfig(environment), await openOperations(t), options);
  t.teardown(() => server.close());
  return server;
}

const submit = (address: string) =>
  fetch(`${address}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    // The example's own budget would end it on a machine that is busy: the threads of jobs give way to everything else.
    body: JSON.stringify({ resolve: { ...exampleRequests().get('resolve'), timeBudget: '600s' } }),
  });

t.test('a job outlives the connection that submitted it, and is unknown to the next process', async (t) => {
  const first = await open(t);
  const submitted = await submit(first.address);
  t.equal(submitted.status, 202);
  const location = submitted.headers.get('location') ?? '';
  t.match(location, /^\/v1\/jobs\/[0-9a-f]{32}$/);
  await submitted.text();
  // Each request has a connection of its own.
  const ask = (server: { address: string }, query: string) =>
    fetch(`${server.address}${location}${query}`, { headers: { connection: 'close' } });
  const ended = (await (await ask(first, '?wait=60s')).json()) as { state: string };
  t.equal(ended.state, 'JOB_DONE');
  const [one, two] = [await (await ask(first, '/result')).text(), await (await ask(first, '/result')).text()];
  t.match(JSON.parse(one), { report: { status: 'CONVERGED' } });
  t.equal(two, one, 'byte for byte');
  const bad = await ask(first, '?wait=soon');
  t.equal(bad.status, 400);
  await bad.text();
  const second = await open(t);
  const lost = await ask(second, '/result');
  t.equal(lost.status, 404);
  t.match(await lost.json(), { code: 'JOB_NOT_FOUND', hint: /[Ss]ubmit/ });
});

t.test('a server that shuts down answers clients that wait for a result', async (t) => {
  const server = await open(t);
  const { id } = (await (await submit(server.address)).json()) as { id: string };
  const waiting = fetch(`${server.address}/v1/jobs/${id}/result?wait=60s`);
  // The question must have arrived.
  await fetch(`${server.address}/v1/jobs`).then((answer) => answer.text());
  const [answer] = await Promise.all([waiting, server.close()]);
  t.equal(answer.status, 200);
  t.match(await answer.json(), { report: { status: 'CONVERGED' } });
});

t.test('a running job shows its progress, makes the next one wait, and stops when it is deleted', async (t) => {
  // One lane for work of this kind; the swap of two layers takes far longer than the test.
  const operations = await openOperations(t);
  const { cloth, target } = makeSwap(10_000);
  const resolve = { mesh: cloth.mesh, start: cloth.start, target, parameters: {} };
  const [running, waiting] = [await operations.submitJob({ resolve }), await operations.submitJob({ resolve })];
  for (;;) {
    const job = await operations.getJob({ jobId: running.id, waitSeconds: 0.02 });
    t.notMatch(job.state, /DONE|FAILED/);
    if ((job.progress?.steps ?? 0) > 0) break;
  }
  t.equal((await operations.getJob({ jobId: waiting.id })).state, 'JOB_WAITING');
  await operations.deleteJob(running.id);
  for (;;) if ((await operations.getJob({ jobId: waiting.id, waitSeconds: 0.02 })).state === 'JOB_RUNNING') break;
  t.pass('the lane went on with the next job');
  await operations.deleteJob(waiting.id);
  t.same((await operations.listJobs({})).jobs, []);
});
