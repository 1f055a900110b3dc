import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { get, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, credentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { draining } from '../../src/contract/errors.js';
import { startServer } from '../../src/server/server.js';
import { makeKey } from '../../src/transport/auth/key-file.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { FREE_PORTS, QUIETLY } from '../support/quiet-server.js';
import { fakeReport } from '../transport/fake-answers.js';
import { FakeOperations, hangingResolve } from '../transport/fake-operations.js';
import { arraysRequest } from '../transport/fixtures.js';
import { callRaw, deferred, detailsOf } from '../transport/grpc/door.js';

const post = (address: string) =>
  fetch(`${address}/v1/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(arraysRequest()),
  });

t.test('the server starts, answers, and closes its operations', async (t) => {
  const operations = new FakeOperations();
  const server = await startServer(readConfig(FREE_PORTS), operations, QUIETLY);
  t.match(server.address, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.equal((await post(server.address)).status, 200);
  t.equal((await fetch(`${server.address}/readyz`)).status, 200);
  await Promise.all([server.close(), server.close()]);
  t.equal(operations.closed, 1);
  await t.rejects(fetch(`${server.address}/livez`));
});

t.test('closing waits for running requests and refuses new ones', async (t) => {
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
  const server = await startServer(readConfig(FREE_PORTS), operations, QUIETLY);
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

t.test('requests that outlast the drain time are ended', async (t) => {
  const operations = new FakeOperations();
  const hanging = hangingResolve();
  operations.onResolve = hanging.resolve;
  const config = readConfig({ ...FREE_PORTS, INTERSTICE_DRAIN_SECONDS: '0' });
  const server = await startServer(config, operations, { ...QUIETLY, wrapUpSeconds: 0.05 });
  const lost = t.rejects(post(server.address));
  await hanging.begun;
  await server.close();
  await hanging.aborted;
  await lost;
});

t.test('when the drain time is over, running requests return what they have reached', async (t) => {
  const operations = new FakeOperations();
  const asked = deferred();
  const begun = deferred();
  operations.onWrapUp = () => asked.resolve();
  operations.onResolve = async ({ target }) => {
    begun.resolve();
    await asked.promise;
    return { positions: target, report: fakeReport() };
  };
  const config = readConfig({ ...FREE_PORTS, INTERSTICE_DRAIN_SECONDS: '0' });
  const server = await startServer(config, operations, QUIETLY);
  const answer = post(server.address);
  await begun.promise;
  await server.close();
  const { status, headers } = await answer;
  t.equal(status, 200);
  t.equal(headers.get('connection'), 'close', 'the client sends no further request on this connection');
});

t.test('work that outlasts the extra time is refused, over HTTP and gRPC', async (t) => {
  const operations = new FakeOperations();
  const closing = deferred();
  const begun = deferred();
  let count = 0;
  operations.onResolve = async () => {
    if (++count === 2) begun.resolve();
    await closing.promise;
    throw draining();
  };
  operations.close = async () => closing.resolve();
  const config = readConfig({ ...FREE_PORTS, INTERSTICE_DRAIN_SECONDS: '0' });
  const server = await startServer(config, operations, { ...QUIETLY, wrapUpSeconds: 0.05 });
  const client = new Client(`${server.grpcAddress}`, credentials.createInsecure());
  t.teardown(() => client.close());
  const start = { data: new Float32Array(9) };
  const message = { mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) }, start, target: start };
  const answers = [post(server.address), callRaw(client, 'Resolve', encodeMessage('ResolveRequest', message))] as const;
  await begun.promise;
  await server.close();
  t.equal((await answers[0]).status, 503);
  t.match(detailsOf((await answers[1]).error), { code: 14, error: { code: 'DRAINING' } });
});

t.test('a request that has not arrived when the drain time ends is refused, over HTTP and gRPC', async (t) => {
  const config = readConfig({ ...FREE_PORTS, INTERSTICE_DRAIN_SECONDS: '0' });
  const state: string[] = [];
  const server = await startServer(config, new FakeOperations(), QUIETLY);
  const upload = request(`${server.address}/v1/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  upload.on('error', ({ message }) => state.push(message));
  const answered = new Promise<IncomingMessage>((resolve) => upload.on('response', resolve));
  upload.write('{"mesh":');
  const session = connect(`http://${server.grpcAddress}`);
  session.on('error', ({ message }) => state.push(message));
  const stream = session.request({
    ':method': 'POST',
    ':path': '/interstice.v1.CollisionService/Resolve',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', ({ message }) => state.push(message));
  const status = new Promise<unknown>((resolve) => {
    stream.on('response', (headers) => headers['grpc-status'] !== undefined && resolve(headers['grpc-status']));
    stream.on('trailers', (trailers) => resolve(trailers['grpc-status']));
  });
  // A message of a thousand bytes, of which three arrive.
  stream.write(Buffer.from([0, 0, 0, 3, 232, 1, 2, 3]));
  stream.resume();
  const page = async () => (await fetch(`${server.adminAddress}/metrics`)).text();
  while (!(await page()).includes('interstice_requests_in_flight 2')) await new Promise(setImmediate);
  await server.close();
  t.equal((await answered).statusCode, 503);
  t.equal(await status, '14', 'UNAVAILABLE');
  t.same(state, [], 'nobody sees a reset');
  upload.destroy();
  session.close();
});

t.test('the server refuses an address that is in use, and names it', async (t) => {
  const first = await startServer(readConfig(FREE_PORTS), new FakeOperations(), QUIETLY);
  t.teardown(() => first.close());
  const operations = new FakeOperations();
  const taken = readConfig({ ...FREE_PORTS, INTERSTICE_HTTP_PORT: new URL(first.address).port });
  await t.rejects(startServer(taken, operations, QUIETLY), {
    code: 'INVALID_PARAMETER',
    message: /Cannot listen on/,
    hint: /another INTERSTICE_HTTP_PORT/,
  });
  t.equal(operations.closed, 1);
  // An address of the documentation (RFC 5737), which no machine has.
  const foreign = { ...FREE_PORTS, INTERSTICE_HOST: '192.0.2.1', INTERSTICE_INSECURE: '1' };
  await t.rejects(startServer(readConfig(foreign), new FakeOperations(), QUIETLY), {
    code: 'INVALID_PARAMETER',
    hint: /^INTERSTICE_HOST must be an address or a name of this machine/,
  });
  const other = new FakeOperations();
  const takenGrpc = readConfig({ ...FREE_PORTS, INTERSTICE_GRPC_PORT: first.grpcAddress?.split(':')[1] });
  await t.rejects(startServer(takenGrpc, other, QUIETLY), { code: 'INVALID_PARAMETER', message: /for gRPC/ });
  t.equal(other.closed, 1, 'the doors that were open are closed');
});

t.test('SIGTERM lets running requests finish; then the process ends by itself', async (t) => {
  const script = `
    const { startServer } = await import(${JSON.stringify(new URL('../../src/server/server.js', import.meta.url).href)});
    const { readConfig } = await import(${JSON.stringify(new URL('../../src/config/config.js', import.meta.url).href)});
    const { FakeOperations } = await import(${JSON.stringify(new URL('../transport/fake-operations.js', import.meta.url).href)});
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
    env: { ...process.env, ...FREE_PORTS, INTERSTICE_LOG_LEVEL: 'info' },
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

t.test('HTTP and gRPC drain together, and the admin port shows it until the end', async (t) => {
  const operations = new FakeOperations();
  const gate = deferred();
  const begun = deferred();
  let count = 0;
  operations.onResolve = async ({ target }) => {
    if (++count === 2) begun.resolve();
    await gate.promise;
    return { positions: target, report: fakeReport() };
  };
  const server = await startServer(readConfig(FREE_PORTS), operations, QUIETLY);
  const client = new Client(`${server.grpcAddress}`, credentials.createInsecure());
  t.teardown(() => client.close());
  let atTheEnd: string | undefined;
  operations.close = async () => {
    atTheEnd = await page();
    operations.closed++;
  };
  const start = { data: new Float32Array(9) };
  const message = { mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) }, start, target: start };
  const ask = () => callRaw(client, 'Resolve', encodeMessage('ResolveRequest', message));
  const page = async () => (await fetch(`${server.adminAddress}/metrics`)).text();

  const working = [post(server.address), ask()] as const;
  await begun.promise;
  t.match(await page(), /^interstice_requests_in_flight 2$/m);
  const closed = server.close();
  t.match(detailsOf((await ask()).error), { error: { code: 'DRAINING' } });
  t.equal((await post(server.address)).status, 503);
  t.equal((await fetch(`${server.adminAddress}/readyz`)).status, 503);
  const draining = await page();
  t.match(draining, /^interstice_ready 0$/m);
  t.match(draining, /^interstice_answers_total\{door="grpc",status="503",code="DRAINING"\} 1$/m);
  t.match(draining, /^interstice_answers_total\{door="http",status="503",code="DRAINING"\} 1$/m);
  gate.resolve();
  t.equal((await working[0]).status, 200);
  t.ok((await working[1]).bytes);
  await closed;
  t.equal(operations.closed, 1);
  t.match(atTheEnd, /^interstice_requests_in_flight 0$/m, 'open while the operations close');
  await t.rejects(page(), 'closed as well');
});

t.test('a transport that is switched off has no address', async (t) => {
  const config = readConfig({ ...FREE_PORTS, INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' });
  const server = await startServer(config, new FakeOperations(), QUIETLY);
  t.teardown(() => server.close());
  t.same(Object.keys(server).sort(), ['address', 'close']);
});

t.test('one key file serves HTTP and gRPC; the admin port needs no key', async (t) => {
  const { key, line } = makeKey('red', 'NORMAL');
  const INTERSTICE_API_KEYS = `${t.testdir({ keys: line })}/keys`;
  const operations = new FakeOperations();
  const server = await startServer(readConfig({ ...FREE_PORTS, INTERSTICE_API_KEYS }), operations, QUIETLY);
  const client = new Client(`${server.grpcAddress}`, credentials.createInsecure());
  t.teardown(() => {
    client.close();
    return server.close();
  });
  const list = (metadata: Record<string, string>) => callRaw(client, 'ListSessions', new Uint8Array(0), { metadata });
  t.match(detailsOf((await list({})).error), { code: 16, error: { code: 'UNAUTHENTICATED' } });
  t.equal((await fetch(`${server.address}/v1/sessions`)).status, 401);
  t.equal((await list({ authorization: `Bearer ${key}` })).error, undefined);
  t.equal((await fetch(`${server.address}/v1/sessions`, { headers: { 'x-api-key': key } })).status, 200);
  t.same(
    operations.sessionCalls.map(({ context }) => context.caller),
    [1, 2].map(() => ({ tenant: 'red', maxPriority: 'NORMAL' })),
  );
  const page = await (await fetch(`${server.adminAddress}/metrics`)).text();
  t.match(page, /^interstice_answers_total\{door="grpc",status="401",code="UNAUTHENTICATED"\} 1$/m);
  const shown = await (await fetch(`${server.adminAddress}/config`)).text();
  t.match(shown, 'INTERSTICE_API_KEYS');
  t.notOk(shown.includes(line.split(':')[1]!) || shown.includes(key));
});

t.test('unusable files are refused at start, and nothing stays open', async (t) => {
  const folder = t.testdir({ keys: 'nonsense', cert: 'none', key: 'none' });
  const cases: Record<string, string>[] = [
    { INTERSTICE_API_KEYS: `${folder}/keys` },
    { INTERSTICE_API_KEYS: `${folder}/no-such-file` },
    { INTERSTICE_GRPC_TLS_CERT: `${folder}/cert`, INTERSTICE_GRPC_TLS_KEY: `${folder}/none` },
    { INTERSTICE_GRPC_TLS_CERT: `${folder}/cert`, INTERSTICE_GRPC_TLS_KEY: `${folder}/key` },
  ];
  for (const files of cases) {
    const operations = new FakeOperations();
    await t.rejects(startServer(readConfig({ ...FREE_PORTS, ...files }), operations, QUIETLY), {
      code: 'INVALID_PARAMETER',
    });
    t.equal(operations.closed, 1, Object.keys(files)[0]);
  }
});

t.test('SIGHUP reloads the keys, and keeps them when the file has a mistake', async (t) => {
  const [first, second] = [makeKey('red'), makeKey('blue')];
  const path = `${t.testdir({ keys: first.line })}/keys`;
  const said: string[] = [];
  let heard: () => void = () => {};
  const log = pino(
    { level: 'info' },
    {
      write: (line: string) => {
        said.push(line);
        if (line.includes('keys')) heard();
      },
    },
  );
  const config = readConfig({ ...FREE_PORTS, INTERSTICE_API_KEYS: path });
  const server = await startServer(config, new FakeOperations(), { log });
  t.teardown(() => server.close());
  const status = async (key: string) =>
    (await fetch(`${server.address}/v1/sessions`, { headers: { 'x-api-key': key } })).status;
  const hangUp = () => {
    const done = new Promise<void>((resolve) => {
      heard = resolve;
    });
    process.kill(process.pid, 'SIGHUP');
    return done;
  };
  writeFileSync(path, second.line);
  t.same([await status(first.key), await status(second.key)], [200, 401]);
  await hangUp();
  t.same([await status(first.key), await status(second.key)], [401, 200]);
  writeFileSync(path, 'broken');
  await hangUp();
  t.same([await status(first.key), await status(second.key)], [401, 200]);
  t.match(
    said.find((line) => line.includes('The API keys are unchanged')),
    /Line 1/,
  );
  t.notOk(said.join('').includes(second.line.split(':')[1]!));
});

/** A request with a host of its own choice, which fetch would not send. */
const statusFor = (address: string, host: string, path = '/v1') =>
  new Promise<number>((resolve, reject) => {
    get(new URL(path, address), { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    }).on('error', reject);
  });

t.test('hosts and pages that may call the server are checked', async (t) => {
  const open = async (settings: Record<string, string>) => {
    const server = await startServer(readConfig({ ...FREE_PORTS, ...settings }), new FakeOperations(), QUIETLY);
    t.teardown(() => server.close());
    return server;
  };
  const keyless = await open({});
  const admin = keyless.adminAddress ?? '';
  t.equal(await statusFor(keyless.address, 'evil.example'), 403);
  t.equal(await statusFor(keyless.address, '10.0.0.1'), 403, 'an address is no loopback name');
  t.equal(await statusFor(keyless.address, 'localhost:1'), 200);
  t.equal(await statusFor(admin, 'evil.example', '/metrics'), 403);
  t.equal(await statusFor(admin, '127.0.0.1', '/metrics'), 200);
  const named = await open({ INTERSTICE_ALLOWED_HOSTS: 'interstice' });
  t.equal(await statusFor(named.address, 'interstice:8080'), 200);
  t.equal(await statusFor(named.adminAddress ?? '', 'interstice:9090', '/metrics'), 200);
  t.equal(await statusFor(named.address, 'evil.example'), 403);
  const exposed = await open({ INTERSTICE_HOST: '0.0.0.0', INTERSTICE_INSECURE: '1' });
  const local = exposed.address.replace('0.0.0.0', '127.0.0.1');
  t.equal(await statusFor(local, '10.0.0.1:8080'), 200, 'beyond loopback addresses are names');
  t.equal(await statusFor(local, 'evil.example'), 403);
  const keys = join(t.testdir(), 'keys.txt');
  writeFileSync(keys, makeKey('a').line);
  const keyed = await open({ INTERSTICE_API_KEYS: keys });
  t.equal(await statusFor(keyed.address, 'any.example'), 401, 'the key decides');
  t.equal(await statusFor(keyed.adminAddress ?? '', 'any.example', '/metrics'), 403, 'the admin port has no keys');
});
