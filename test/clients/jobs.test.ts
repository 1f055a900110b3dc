import { pino } from 'pino';
import t from 'tap';
import { Client, type JobStatus } from '../../src/client/index.js';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/server/server.js';
import { openOperations } from '../conformance/run.js';

const MESH = { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5) };
const START = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 0.5, 1.25, 0.25, 0.5, 0.25, 1.25, 0.5);
const raisedBy = (height: number) => START.map((value, i) => (i >= 9 && i % 3 === 2 ? value + height : value));

t.test('the client submits, follows, fetches and deletes a job', async (t) => {
  const environment = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' };
  const options = { log: pino({ level: 'silent' }), handleSignals: false };
  const server = await startServer(readConfig(environment), await openOperations(t), options);
  t.teardown(() => server.close());

  // The first answer to the submission is lost on its way: the next attempt must find the same job.
  let losses = 1;
  // As in a page that was loaded without encryption from another machine.
  t.intercept(crypto, 'randomUUID', { value: undefined });
  const lossy: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (init?.method === 'POST' && losses-- > 0) throw new TypeError('fetch failed');
    return answer;
  };
  const client = new Client(server.address, { fetch: lossy, retry: { firstPauseMs: 1 } });
  const job = await client.submit(MESH, START, raisedBy(0.25), { label: 'cape', keepForSeconds: 60 });
  const listed = (await (await fetch(`${server.address}/v1/jobs`)).json()) as { jobs: object[] };
  t.equal(listed.jobs.length, 1, 'one job');

  const seen: JobStatus[] = [];
  const { positions, report } = await client.job(job.id).result({ onProgress: (status) => seen.push(status) });
  t.same(positions, raisedBy(0.25));
  t.equal(report.status, 'CONVERGED');
  const last = seen.at(-1)!;
  t.match(last, { id: job.id, state: 'JOB_DONE', label: 'cape', bytes: Number });
  t.equal(last.expires!.getTime() - last.ended!.getTime(), 60_000);

  const doomed = await client.submit(MESH, raisedBy(-0.5), raisedBy(0.25), {
    parameters: { activationDistance: 1e-30 },
  });
  const refusal = await doomed.result().then(
    () => undefined,
    (thrown: { code: string }) => thrown.code,
  );
  t.equal((await doomed.status()).error?.code, refusal, 'a failed job says why, and so does its result');
  t.ok(refusal);

  await job.delete();
  await t.resolves(job.delete(), 'gone is gone');
  await t.rejects(job.result(), { code: 'JOB_NOT_FOUND' });
  const waits: (string | null)[] = [];
  const listening: typeof fetch = (url, init) => {
    waits.push(new URL(String(url)).searchParams.get('wait'));
    return fetch(url, init);
  };
  for (const timeoutSeconds of [290, 9]) {
    const asking = new Client(server.address, { fetch: listening, timeoutSeconds });
    await asking.job(doomed.id).wait();
    await asking.job(doomed.id).wait({ onProgress: () => {} });
  }
  t.strictSame(waits, ['20.000s', '1.000s', '4.500s', '1.000s'], 'no request waits as long as its attempt may take');

  const stopper = AbortSignal.abort();
  await t.rejects(client.job(doomed.id).wait({ signal: stopper }), { code: 'CANCELLED' });
});
