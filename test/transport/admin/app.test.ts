import t from 'tap';
import { readConfig } from '../../../src/config/config.js';
import { Metrics } from '../../../src/observe/metrics.js';
import { buildAdminApp } from '../../../src/transport/admin/app.js';
import { BrowserGuard } from '../../../src/transport/browser-guard.js';
import { ServiceState } from '../../../src/transport/service-state.js';

t.test('metrics, health and settings, and nothing else', async (t) => {
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
});

t.test('pages of strangers see nothing', async (t) => {
  const guard = new BrowserGuard({ hosts: [], acceptsAddresses: false, origins: [], refusesOtherPages: true });
  const app = await buildAdminApp({ metrics: new Metrics(), state: new ServiceState(), settings: [], guard });
  t.teardown(() => app.close());
  for (const url of ['/metrics', '/config', '/livez']) {
    t.equal((await app.inject({ url, headers: { host: 'evil.example' } })).statusCode, 403, url);
    t.equal((await app.inject({ url, headers: { host: 'localhost', origin: 'http://evil.example' } })).statusCode, 403);
  }
  t.equal((await app.inject({ url: '/metrics', headers: { host: '127.0.0.1:9090' } })).statusCode, 200);
});
