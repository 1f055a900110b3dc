import t from 'tap';
import { readConfig } from '../../../src/config/config.js';
import { Metrics } from '../../../src/observe/metrics.js';
import { buildAdminApp } from '../../../src/transport/admin/app.js';
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
