import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import type { RequestLine } from '../../../src/observe/log.js';
import { makeKey } from '../../../src/transport/auth/key-file.js';
import { Keyring } from '../../../src/transport/auth/keyring.js';
import { buildHttpApp } from '../../../src/transport/http/app.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import { ServiceState } from '../../../src/transport/service-state.js';
import { FakeOperations } from '../fake-operations.js';
import { arraysRequest } from '../fixtures.js';

const red = makeKey('red', 'BATCH');
const blue = makeKey('blue');
const ID = 'f'.repeat(32);

async function openGuarded(t: Test) {
  const operations = new FakeOperations();
  const state = new ServiceState();
  state.move('ready', 'The service takes requests.');
  const lines: string[] = [];
  const answered: RequestLine[] = [];
  const app = await buildHttpApp({
    operations,
    state,
    bodies: new BodyLedger(0),
    maxMessageBytes: 65536,
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    authenticate: Keyring.open(`${t.testdir({ keys: `${red.line}\n${blue.line}\n` })}/keys`).authenticate,
    onAnswered: (line) => answered.push(line),
  });
  await app.ready();
  t.teardown(() => app.close());
  return { app, operations, state, lines, answered };
}

t.test('every path except health and the page needs a key', async (t) => {
  const { app, operations } = await openGuarded(t);
  const guarded: [method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'HEAD', url: string][] = [
    ['GET', '/v1'],
    ['HEAD', '/v1'],
    ['POST', '/v1/resolve'],
    ['POST', '/v1/check'],
    ['POST', '/v1/sessions'],
    ['GET', '/v1/sessions'],
    ['GET', `/v1/sessions/${ID}`],
    ['PATCH', `/v1/sessions/${ID}`],
    ['DELETE', `/v1/sessions/${ID}`],
    ['POST', `/v1/sessions/${ID}/steps`],
    // Spelt otherwise, the same place.
    ['POST', '/%76%31/resolve'],
    ['GET', '/%761/sessions'],
    ['GET', '/v1/nothing'],
  ];
  for (const [method, url] of guarded) {
    for (const headers of [{}, { 'x-api-key': 'wrong' }, { authorization: 'Bearer wrong' }]) {
      const answer = await app.inject({ method, url, headers: { ...headers } });
      t.equal(answer.statusCode, 401, `${method} ${url}`);
      t.equal(answer.headers['www-authenticate'], 'Bearer');
      if (method !== 'HEAD') t.match(answer.json(), { code: 'UNAUTHENTICATED' });
    }
  }
  t.same([operations.resolves, operations.checks, operations.sessionCalls], [[], [], []]);
});

t.test('the test of keys covers every path', async (t) => {
  const { app } = await openGuarded(t);
  const open = new Set<string>();
  for (const [url, methods] of Object.entries(app.swagger().paths ?? {})) {
    for (const method of Object.keys(methods as object)) {
      const path = url.replace(/\{\w+\}/g, ID);
      const { statusCode } = await app.inject({ method: method.toUpperCase() as 'GET', url: path });
      if (statusCode !== 401) open.add(url);
    }
  }
  t.same([...open].sort(), ['/livez', '/readyz']);
  for (const url of ['/openapi.json', '/docs/', '/docs/json']) {
    t.not((await app.inject(url)).statusCode, 401, url);
  }
});

t.test('a key makes its caller known to the operations, each to its own', async (t) => {
  const { app, operations, answered } = await openGuarded(t);
  const headers = { 'content-type': 'application/json' };
  const payload = JSON.stringify(arraysRequest());
  const post = (key: string) =>
    app.inject({
      method: 'POST',
      url: '/v1/resolve',
      headers: { ...headers, authorization: `Bearer ${key}` },
      payload,
    });
  t.equal((await post(red.key)).statusCode, 200);
  t.equal((await post(blue.key)).statusCode, 200);
  const list = { url: '/v1/sessions', headers: { 'x-api-key': blue.key } };
  t.equal((await app.inject(list)).statusCode, 200);
  t.same(
    operations.resolves.map(({ context }) => context.caller),
    [
      { tenant: 'red', maxPriority: 'BATCH' },
      { tenant: 'blue', maxPriority: 'INTERACTIVE' },
    ],
  );
  t.equal(operations.sessionCalls[0]?.context.caller?.tenant, 'blue');
  t.same(
    answered.map(({ tenant }) => tenant),
    ['red', 'blue', 'blue'],
  );
});

t.test('a request without a key is refused before its body arrives', async (t) => {
  const { app } = await openGuarded(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  // 60,000 bytes are announced, none is sent.
  socket.write(
    'POST /v1/resolve HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n',
  );
  const head = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))));
  t.match(head, /^HTTP\/1\.1 401 /);
});

t.test('an escaped path is work like any other: counted, and refused while draining', async (t) => {
  const { app, state } = await openGuarded(t);
  state.move('draining', 'bye');
  const answer = await app.inject({ url: '/%761/sessions', headers: { 'x-api-key': red.key } });
  t.equal(answer.statusCode, 503);
});

t.test('neither keys nor payloads reach the log', async (t) => {
  const { app, operations, lines } = await openGuarded(t);
  const marked = arraysRequest() as { start: { data: number[] } };
  marked.start.data[0] = 0.123456789;
  const payload = JSON.stringify(marked);
  const send = (headers: Record<string, string>, body = payload) =>
    app.inject({
      method: 'POST',
      url: `/v1/resolve?key=${red.key}`,
      headers: { 'content-type': 'application/json', ...headers },
      payload: body,
    });
  await send({ authorization: `Bearer ${red.key}` });
  await send({ authorization: `Bearer ${red.key}x` });
  await send({ 'x-api-key': blue.key }, payload.slice(0, -1));
  operations.failure = new Error('something nobody foresaw');
  await app.inject({
    method: 'POST',
    url: '/v1/resolve',
    headers: { 'content-type': 'application/json', 'x-api-key': red.key },
    payload,
  });
  const text = lines.join('');
  t.match(text, /something nobody foresaw/);
  t.match(text, /"tenant":"red"/);
  for (const secret of [red.key, blue.key, red.line.split(':')[1]!, '0.123456789']) t.notOk(text.includes(secret));
});
