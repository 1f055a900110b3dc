import { pino } from 'pino';
import t, { type Test } from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import type { Authenticate } from '../../../src/transport/auth/keyring.js';
import { BrowserGuard, type BrowserRules } from '../../../src/transport/browser-guard.js';
import { buildHttpApp } from '../../../src/transport/http/app.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import { ServiceState } from '../../../src/transport/service-state.js';
import { FakeOperations } from '../fake-operations.js';
import { arraysRequest } from '../fixtures.js';

async function openGuarded(t: Test, rules: Partial<BrowserRules>, authenticate?: Authenticate) {
  const state = new ServiceState();
  state.move('ready', 'yes');
  const operations = new FakeOperations();
  const guard = new BrowserGuard({
    ...{ hosts: [], acceptsAddresses: false, origins: [], refusesOtherPages: authenticate === undefined },
    ...rules,
  });
  const log = pino({ level: 'silent' });
  const app = await buildHttpApp({
    operations,
    state,
    bodies: new BodyLedger(0),
    maxMessageBytes: 65536,
    log,
    guard,
    authenticate,
  });
  await app.ready();
  t.teardown(() => app.close());
  return app;
}

const PAGE = 'https://app.example';
const needsKey: Authenticate = (header) => {
  if (header('x-api-key') !== 'k') throw new IntersticeError('UNAUTHENTICATED', 'No key.');
  return { tenant: 'a', maxPriority: 'NORMAL' };
};

t.test('no path answers to a foreign host', async (t) => {
  const app = await openGuarded(t, {});
  const paths = ['/', '/v1', '/docs', '/docs/', '/openapi.json', '/livez', '/v1/sessions', '/nowhere'];
  for (const url of paths) {
    const answer = await app.inject({ url, headers: { host: 'evil.example:8080' } });
    t.match(answer.json(), { code: 'PERMISSION_DENIED', hint: /INTERSTICE_ALLOWED_HOSTS/ }, url);
    t.equal(answer.statusCode, 403, url);
  }
  t.equal((await app.inject({ url: '/v1', headers: { host: '127.0.0.1:8080' } })).statusCode, 200);
});

t.test('a form of a foreign page is refused, one of the own page is not', async (t) => {
  const app = await openGuarded(t, {});
  const post = (origin: string) =>
    app.inject({
      method: 'POST',
      url: '/v1/resolve',
      payload: arraysRequest(),
      headers: { host: 'localhost:8080', origin },
    });
  const refused = await post('http://evil.example');
  t.match(refused.json(), { code: 'PERMISSION_DENIED', hint: /INTERSTICE_CORS_ORIGINS/ });
  t.notOk(refused.headers['access-control-allow-origin']);
  t.equal((await post('null')).statusCode, 403);
  const own = await post('http://localhost:8080');
  t.equal(own.statusCode, 200);
  t.notOk(own.headers['access-control-allow-origin'], 'CORS is off');
  t.notOk(own.headers.vary);
});

t.test('pages of allowed origins are served', async (t) => {
  const app = await openGuarded(t, { origins: [PAGE] }, needsKey);
  const ask = {
    origin: PAGE,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key,x-b3',
  };
  const preliminary = await app.inject({ method: 'OPTIONS', url: '/v1/resolve', headers: ask });
  t.equal(preliminary.statusCode, 204, 'without a key');
  t.match(preliminary.headers, {
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': /POST/,
    'access-control-allow-headers': 'x-api-key,x-b3',
    'access-control-max-age': '7200',
    vary: 'origin',
  });
  t.notOk(preliminary.headers['access-control-allow-private-network'], 'only when it is asked for');
  const near = await app.inject({
    ...{ method: 'OPTIONS', url: '/v1/resolve' },
    headers: { ...ask, 'access-control-request-private-network': 'true' },
  });
  t.equal(near.headers['access-control-allow-private-network'], 'true');
  const post = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/v1/resolve', payload: arraysRequest(), headers });
  const answer = await post({ origin: PAGE, 'x-api-key': 'k' });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['access-control-allow-origin'], PAGE);
  t.match(answer.headers['access-control-expose-headers'], /interstice-report/);
  const refused = await post({ origin: PAGE });
  t.equal(refused.statusCode, 401);
  t.equal(refused.headers['access-control-allow-origin'], PAGE, 'the page can read why');
  const other = await post({ origin: 'https://evil.example', 'x-api-key': 'k' });
  t.equal(other.statusCode, 200, 'who has a key is served');
  t.notOk(other.headers['access-control-allow-origin'], 'but the browser withholds the answer');
  t.equal(other.headers.vary, 'origin');
  const foreign = await app.inject({
    method: 'OPTIONS',
    url: '/v1',
    headers: { ...ask, origin: 'https://evil.example' },
  });
  t.not(foreign.statusCode, 204);
  t.notOk(foreign.headers['access-control-allow-origin']);
});

t.test('with keys the reference has a field for a key', async (t) => {
  const keyed = (await (await openGuarded(t, {}, needsKey)).inject('/openapi.json')).json();
  t.match(keyed.components.securitySchemes, { key: { type: 'http', scheme: 'bearer' } });
  t.same(keyed.security, [{ key: [] }]);
  const open = (await (await openGuarded(t, {})).inject('/openapi.json')).json();
  t.notOk(open.security);
});

t.test('the origin * admits every page', async (t) => {
  const app = await openGuarded(t, { origins: ['*'] });
  const answer = await app.inject({ url: '/v1', headers: { origin: 'null' } });
  t.match(answer.headers, { 'access-control-allow-origin': '*', vary: undefined });
});
