import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { readConfig } from '../../../src/config/config.js';
import { Metrics } from '../../../src/observe/metrics.js';
import { buildAdminApp } from '../../../src/transport/admin/app.js';
import { freeCapacity, openCapacity } from '../../../src/transport/admin/capacity.js';
import { BrowserGuard } from '../../../src/transport/browser-guard.js';
import { ServiceState } from '../../../src/transport/service-state.js';

t.test('the admin port serves metrics, health and settings, and nothing else', async (t) => {
  const metrics = new Metrics();
  const state = new ServiceState();
  const { settings } = readConfig({ INTERSTICE_API_KEYS: 'keys.txt' });
  const app = await buildAdminApp({ metrics, state, settings });
  t.teardown(() => app.close());

  const page = await app.inject('/metrics');
  t.equal(page.statusCode, 200);
  t.match(page.headers['content-type'], /^text\/plain/);
  t.match(page.body, /^interstice_build_info\{/m);
  t.match(page.body, /^process_cpu_seconds_total/m);

  t.equal((await app.inject('/livez')).statusCode, 200);
  t.equal((await app.inject('/readyz')).statusCode, 503);
  state.move('ready', 'yes');
  t.equal((await app.inject('/readyz')).statusCode, 200);

  const shown = (await app.inject('/config')).json() as { settings: { name: string; value: string }[] };
  t.match(
    shown.settings.find(({ name }) => name === 'INTERSTICE_API_KEYS'),
    { value: 'keys.txt', source: 'environment' },
  );
  for (const url of ['/', '/v1', '/docs', '/openapi.json']) t.equal((await app.inject(url)).statusCode, 404, url);
  t.equal((await app.inject({ method: 'POST', url: '/metrics', payload: {} })).statusCode, 404);
  const json = { 'content-type': 'application/json' };
  for (const [status, headers, payload] of [
    [400, json, '{'],
    [413, json, `"${'x'.repeat(1 << 20)}"`],
    [415, { 'content-type': ';' }, 'x'],
  ] as const) {
    t.equal((await app.inject({ method: 'POST', url: '/config', headers, payload })).statusCode, status);
  }
});

t.test('foreign web pages cannot read the admin port', async (t) => {
  const guard = new BrowserGuard({ hosts: [], acceptsAddresses: false, origins: [], refusesOtherPages: true });
  const app = await buildAdminApp({ metrics: new Metrics(), state: new ServiceState(), settings: [], guard });
  t.teardown(() => app.close());
  for (const url of ['/metrics', '/config', '/livez']) {
    t.equal((await app.inject({ url, headers: { host: 'evil.example' } })).statusCode, 403, url);
    t.equal((await app.inject({ url, headers: { host: 'localhost', origin: 'http://evil.example' } })).statusCode, 403);
  }
  t.equal((await app.inject({ url: '/metrics', headers: { host: '127.0.0.1:9090' } })).statusCode, 200);
});

t.test('free capacity falls with work and with sessions, and never to nothing', async (t) => {
  const idle = { waiting: 0, running: 0, sessions: 0, parked: 0 };
  t.equal(freeCapacity(idle, 4), 100);
  t.equal(freeCapacity({ ...idle, running: 4 }, 4), 50);
  t.equal(freeCapacity({ ...idle, running: 4, waiting: 8 }, 4), 25);
  t.equal(freeCapacity({ ...idle, sessions: 12, running: 1 }, 4), 25, 'each may ask for a step at any moment');
  t.equal(freeCapacity({ ...idle, sessions: 12, parked: 12 }, 4), 100);
  t.equal(freeCapacity({ ...idle, waiting: 1e6 }, 1), 1);
});

t.test('the port of the capacity answers with one line', async (t) => {
  let capacity = 100;
  const { port, close } = await openCapacity('127.0.0.1', 0, () => capacity);
  t.teardown(() => close(0));
  const ask = () => text(connect(port, '127.0.0.1'));
  t.equal(await ask(), '100%\n');
  capacity = 7;
  t.equal(await ask(), '7%\n');
});

t.test('the port of the capacity ends even if a client does not close its connection', async (t) => {
  const { port, close } = await openCapacity('127.0.0.1', 0, () => 100);
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  // The connection may be reset when the port is closed.
  client.on('error', () => {});
  t.teardown(() => client.destroy());
  await once(client.resume(), 'end');
  await close(0);
  t.pass('the port is closed');
});
