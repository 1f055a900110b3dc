import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { projectRoot } from '../../../src/paths.js';

const isLinux = process.platform === 'linux';

t.test('a program ends with the one that has started it, even if that is killed', { skip: !isLinux }, async (t) => {
  const module = pathToFileURL(`${projectRoot}/dist/bench/cluster/bound-process.js`).href;
  const script = `import { spawnBound } from ${JSON.stringify(module)};
    process.stdout.write(spawnBound('sleep', ['600']).pid + '\\n');
    setInterval(() => {}, 1000);`;
  const starter = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => starter.kill('SIGKILL'));
  const [line] = (await once(starter.stdout!, 'data')) as [Buffer];
  const pid = Number(line.toString());
  t.ok(isRunning(pid));
  starter.kill('SIGKILL');
  await once(starter, 'exit');
  // The system ends it at once; a busy machine may take a while to say so.
  for (let k = 0; k < 600 && isRunning(pid); k++) await sleep(50);
  const isStill = isRunning(pid);
  if (isStill) process.kill(pid, 'SIGKILL');
  t.notOk(isStill);
});

/** What has ended and was not waited for yet does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
