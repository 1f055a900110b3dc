import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { projectRoot } from '../../src/paths.js';

const unit = readFileSync(join(projectRoot, 'deploy', 'systemd', 'interstice.service'), 'utf8');
const valuesOf = (key: string): string[] =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

t.test('the settings of the unit are settings of the service, and it accepts them', async (t) => {
  const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
  const settings = valuesOf('Environment').map((line) => line.split(/=(.*)/s));
  t.ok(settings.length > 0);
  for (const [name = ''] of settings) t.ok(known.has(name), name);
  // The file of settings is on the machine of the operator.
  const { INTERSTICE_CONFIG: _, ...rest } = Object.fromEntries(settings) as Record<string, string>;
  t.doesNotThrow(() => readConfig(rest));
});

t.test('a stop has the time that a drain takes, and folders that are written can be written', async (t) => {
  const { drainNoticeSeconds, drainSeconds, drainJobSeconds } = readConfig({});
  const [seconds] = valuesOf('TimeoutStopSec').map(Number);
  t.ok(seconds! >= drainNoticeSeconds + Math.max(drainSeconds, drainJobSeconds) + 20);
  t.same(valuesOf('ProtectSystem'), ['strict'], 'nothing else can be written');
  for (const [setting, root, directory] of [
    ['INTERSTICE_FINDINGS', '/var/lib', 'StateDirectory'],
    ['INTERSTICE_SHADER_CACHE', '/var/cache', 'CacheDirectory'],
  ] as const) {
    const path = valuesOf('Environment').find((line) => line.startsWith(`${setting}=`))!;
    t.ok(path.startsWith(`${setting}=${root}/${valuesOf(directory)[0]}`), setting);
  }
});
