import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import t from 'tap';
import { readConfig } from '../src/config.js';
import { startServer } from '../src/server.js';
import { FakeOperations, hangingResolve } from './transport/fake-operations.js';
import { arraysRequest } from './transport/fixtures.js';

const environment = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_LOG_LEVEL: 'silent' };
const options = { log: pino({ level: 'silent' }), handleSignals: false };
const post = (address: string) =>
  fetch(`${address}/v1/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(arraysRequest()),
  });

t.test('it starts, answers and closes what it was given', async (t) => {
  const operations = new FakeOperations();
  const server = await startServer(readConfig(environment), operations, options);
  t.match(server.address, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.equal((await post(server.address)).status, 200);
  t.equal((await fetch(`${server.address}/readyz`)).status, 200);
  await Promise.all([server.close(), server.close()]);
  t.equal(operations.closed, 1);
  await t.rejects(fetch(`${server.address}/livez`));
});

t.test('it is not ready before its engine is, and says why it never will be', async (t) => {
  const operations = new FakeOperations();
  let fail: (error: Error) => void = () => {};
  operations.readiness = new Promise((_resolve, reject) => {
    fail = reject;
  });
  const server = await startServer(readConfig(environment), operations, options);
  t.teardown(() => server.close());
  const starting = await fetch(`${server.address}/readyz`);
  t.equal(starting.status, 503);
  t.match(await starting.json(), { status: 'starting' });
  fail(new Error('no adapter'));
  await operations.readiness.catch(() => {});
  t.match(await (await fetch(`${server.address}/readyz`)).json(), { status: 'failed', reason: /no adapter/ });
});

t.test('closing waits for the work at hand and refuses more', async (t) => {
  const operations = new FakeOperations();
  let finish: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    operations.onResolve = async (request) => {
      resolve();
      await gate;
      operations.onResolve = undefined;
      return operations.resolve(request);
    };
  });
  const server = await startServer(readConfig(environment), operations, options);
  const first = post(server.address);
  await begun;
  const closed = server.close();
  const refused = await post(server.address);
  t.equal(refused.status, 503);
  t.match(await refused.json(), { code: 'DRAINING' });
  t.match(await (await fetch(`${server.address}/readyz`)).json(), { status: 'draining' });
  t.equal(operations.closed, 0);
  finish();
  t.equal((await first).status, 200);
  await closed;
  t.equal(operations.closed, 1);
});

t.test('work that outlasts the drain time is ended', async (t) => {
  const operations = new FakeOperations();
  const hanging = hangingResolve();
  operations.onResolve = hanging.resolve;
  const server = await startServer(readConfig({ ...environment, INTERSTICE_DRAIN_SECONDS: '0' }), operations, options);
  const lost = t.rejects(post(server.address));
  await hanging.begun;
  await server.close();
  await hanging.aborted;
  await lost;
});

t.test('an address that is taken is refused with its name', async (t) => {
  const first = await startServer(readConfig(environment), new FakeOperations(), options);
  t.teardown(() => first.close());
  const operations = new FakeOperations();
  const taken = readConfig({ ...environment, INTERSTICE_HTTP_PORT: new URL(first.address).port });
  await t.rejects(startServer(taken, operations, options), { code: 'INVALID_PARAMETER', message: /Cannot listen on/ });
  t.equal(operations.closed, 1);
});

t.test('SIGTERM lets the work at hand finish; the process ends by itself', async (t) => {
  const script = `
    const { startServer } = await import(${JSON.stringify(new URL('../src/server.js', import.meta.url).href)});
    const { readConfig } = await import(${JSON.stringify(new URL('../src/config.js', import.meta.url).href)});
    const { FakeOperations } = await import(${JSON.stringify(new URL('./transport/fake-operations.js', import.meta.url).href)});
    const operations = new FakeOperations();
    operations.onResolve = async (request) => {
      console.log('begun');
      await new Promise((resolve) => process.stdin.once('data', resolve));
      operations.onResolve = undefined;
      process.stdin.unref();
      return operations.resolve(request);
    };
    const server = await startServer(readConfig(process.env), operations);
    console.log(server.address);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, ...environment, INTERSTICE_LOG_LEVEL: 'info' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exited = new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)));
  const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const log = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const address = String((await said.next()).value);
  const answer = post(address);
  t.equal((await said.next()).value, 'begun');
  child.kill('SIGTERM');
  for (;;) if (String((await log.next()).value).includes('draining')) break;
  child.stdin.write('go\n');
  t.equal((await answer).status, 200);
  t.equal(await exited, 0);
});
