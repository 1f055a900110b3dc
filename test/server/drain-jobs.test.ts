import { Client, credentials } from '@grpc/grpc-js';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/server/server.js';
import { QUIETLY } from '../support/quiet-server.js';
import { FakeOperations } from '../transport/fake-operations.js';
import { arraysRequest } from '../transport/fixtures.js';
import { call, deferred } from '../transport/grpc/door.js';

const environment = {
  INTERSTICE_HTTP_PORT: '0',
  INTERSTICE_GRPC_PORT: '0',
  INTERSTICE_ADMIN_PORT: 'off',
  INTERSTICE_DRAIN_SECONDS: '0',
};
const ID = 'f'.repeat(32);

t.test(
  'a shutdown that waits for jobs answers only questions about jobs, until their results are fetched',
  async (t) => {
    const operations = new FakeOperations();
    const fetched = deferred();
    operations.jobsSettled = fetched.promise;
    const config = readConfig({ ...environment, INTERSTICE_DRAIN_JOB_SECONDS: '60' });
    const server = await startServer(config, operations, QUIETLY);
    const client = new Client(server.grpcAddress!, credentials.createInsecure());
    t.teardown(() => client.close());
    const closed = server.close();
    t.match(await (await fetch(`${server.address}/v1/jobs/${ID}?wait=1s`)).json(), { label: 'cape' });
    t.equal((await fetch(`${server.address}/v1/jobs/${ID}/result`)).status, 200);
    t.match(await (await fetch(`${server.address}/v1/jobs/${ID}/watch`)).text(), /JOB_DONE/);
    t.match((await call(client, 'getJob', { jobId: ID })).answer, { label: 'cape' });
    t.ok((await call(client, 'submitJob', {})).error, 'no new job');
    const headers = { 'content-type': 'application/json' };
    for (const [path, body] of [
      ['/v1/resolve', arraysRequest()],
      ['/v1/jobs', { resolve: arraysRequest() }],
    ] as const) {
      const refused = await fetch(`${server.address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      t.match([refused.status, ((await refused.json()) as { code: string }).code], [503, 'DRAINING'], path);
    }
    t.equal(operations.closed, 0, 'it waits');
    fetched.resolve();
    await closed;
    t.equal(operations.closed, 1);
  },
);

t.test('a shutdown waits for jobs only as long as the setting says, and by default not at all', async (t) => {
  for (const seconds of ['0.2', '0']) {
    const operations = new FakeOperations();
    operations.jobsSettled = new Promise(() => {});
    const config = readConfig({ ...environment, INTERSTICE_DRAIN_JOB_SECONDS: seconds });
    const server = await startServer(config, operations, QUIETLY);
    const closed = server.close();
    if (seconds === '0') {
      const refused = await fetch(`${server.address}/v1/jobs/${ID}`).catch(() => undefined);
      t.ok(refused === undefined || refused.status === 503);
    }
    await closed;
    t.equal(operations.closed, 1, seconds);
  }
});
