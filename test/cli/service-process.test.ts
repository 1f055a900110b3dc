import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { startService } from '../../src/cli/service-process.js';
import { projectRoot } from '../../src/paths.js';

// A machine that does much else takes long to start a service; nothing is judged by time.
t.setTimeout(600_000);

const isThere = (address: string): Promise<boolean> =>
  fetch(`${address}/livez`).then(
    () => true,
    () => false,
  );

t.test('a service that a command starts ends with it, even if that is killed', async (t) => {
  const module = pathToFileURL(join(projectRoot, 'dist', 'src', 'cli', 'service-process.js')).href;
  const script = `import { startService } from ${JSON.stringify(module)};
    const { http } = await startService({ ...process.env, INTERSTICE_ENGINE: 'cpu', INTERSTICE_THREADS: '1' });
    process.on('SIGINT', () => console.log('interrupted'));
    console.log(http);`;
  const starter = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  t.teardown(() => starter.kill('SIGKILL'));
  const lines = createInterface({ input: starter.stdout! });
  const [address] = (await once(lines, 'line')) as [string];
  t.ok(await isThere(address));
  const interrupted = once(lines, 'line');
  process.kill(-starter.pid!, 'SIGINT');
  await interrupted;
  t.ok(await isThere(address), 'Ctrl-C on a terminal is for the command alone');
  starter.kill('SIGKILL');
  await once(starter, 'exit');
  for (let k = 0; k < 1200 && (await isThere(address)); k++) await sleep(50);
  t.notOk(await isThere(address));
});

t.test('a service that does not run yet is not waited for after an abort', async (t) => {
  const controller = new AbortController();
  const starting = startService({ ...process.env, INTERSTICE_ENGINE: 'cpu' }, controller.signal);
  controller.abort();
  await t.rejects(starting);
});

t.test(
  'a service that a command starts stops on request, and gets no store or keys from the environment',
  async (t) => {
    const service = await startService({
      ...process.env,
      INTERSTICE_ENGINE: 'cpu',
      INTERSTICE_THREADS: '1',
      INTERSTICE_STORE: 'redis://127.0.0.1:1/0',
      INTERSTICE_API_KEYS: '/no/such/file',
    });
    t.ok(await isThere(service.http));
    await service.stop();
    t.notOk(await isThere(service.http));
  },
);
