import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';

const server = new URL('../../../bench/prove/server.js', import.meta.url).href;
const script = `const { ServerProcess } = await import(${JSON.stringify(server)});
const server = await ServerProcess.start({ engine: 'cpu' });
console.log(server.pid);
setInterval(() => {}, 1000);`;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

t.test('a service does not outlive the campaign that started it, even one that is killed', async (t) => {
  const campaign = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(campaign.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  t.ok(isAlive(pid));
  campaign.kill('SIGKILL');
  await once(campaign, 'exit');
  // The guard looks twice a second; a busy machine may take longer, and a service that stays fails the test's own limit.
  while (isAlive(pid)) await wait(100);
  t.pass('it is gone');
});
