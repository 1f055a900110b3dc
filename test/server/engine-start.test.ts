import { pino } from 'pino';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { draining } from '../../src/contract/errors.js';
import { startServer } from '../../src/server/server.js';
import { FREE_PORTS, QUIETLY } from '../support/quiet-server.js';
import { FakeOperations } from '../transport/fake-operations.js';

t.test('the server is not ready before its engine, and reports why the engine failed', async (t) => {
  const operations = new FakeOperations();
  let fail: (error: Error) => void = () => {};
  operations.readiness = new Promise((_resolve, reject) => {
    fail = reject;
  });
  const server = await startServer(readConfig(FREE_PORTS), operations, QUIETLY);
  t.teardown(() => server.close());
  const starting = await fetch(`${server.address}/readyz`);
  t.equal(starting.status, 503);
  t.match(await starting.json(), { status: 'starting' });
  fail(new Error('no adapter'));
  await operations.readiness.catch(() => {});
  t.match(await (await fetch(`${server.address}/readyz`)).json(), { status: 'failed', reason: /no adapter/ });
});

t.test('an engine that has not started when the server closes is no error', async (t) => {
  const operations = new FakeOperations();
  operations.readiness = new Promise((_resolve, reject) => {
    operations.close = async () => reject(draining());
  });
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const server = await startServer(readConfig(FREE_PORTS), operations, { ...QUIETLY, log });
  await server.close();
  const levels = lines.map((line) => (JSON.parse(line) as { level: number }).level);
  t.ok(levels.length > 0, 'it says that it closes');
  t.ok(Math.max(...levels) <= 30, `nothing worse than information: ${lines.join('')}`);
});
