import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { projectRoot } from '../../src/paths.js';
import { onStopSignals } from '../../src/server/stop-signals.js';
import { plainEnvironment } from '../cli/main-program.js';

t.test(
  'the first signal drains, a repetition within half a second does nothing, a later one ends the process',
  async (t) => {
    const source = new EventEmitter();
    const seen: string[] = [];
    let now = 1000;
    const remove = onStopSignals(
      (signal) => seen.push(`stop ${signal}`),
      (signal) => seen.push(`end ${signal}`),
      source,
      () => now,
    );
    source.emit('SIGINT', 'SIGINT');
    now += 40;
    source.emit('SIGINT', 'SIGINT');
    source.emit('SIGTERM', 'SIGTERM');
    t.same(seen, ['stop SIGINT']);
    now += 1000;
    source.emit('SIGTERM', 'SIGTERM');
    t.same(seen, ['stop SIGINT', 'end SIGTERM']);
    remove();
    t.same(source.eventNames(), []);
  },
);

/** `npm start` as a person types it, without the preparation, in a process group of its own. */
async function startByNpm(t: Test) {
  const npm = spawn('npm', ['start', '--ignore-scripts'], {
    cwd: projectRoot,
    env: plainEnvironment({
      ...{ INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' },
      ...{ INTERSTICE_ENGINE: 'cpu', INTERSTICE_THREADS: '1' },
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const group = -(npm.pid ?? 0);
  const ended = once(npm, 'exit') as Promise<[code: number | null, signal: string | null]>;
  t.teardown(() => {
    try {
      process.kill(group, 'SIGKILL');
    } catch {
      // The group is gone.
    }
  });
  let errors = '';
  npm.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  for await (const line of createInterface({ input: npm.stdout })) {
    const address = /^address (http:.*)$/.exec(line)?.[1];
    if (address) return { npm, group, ended, address, said: () => errors };
  }
  throw new Error(`npm start has ended: ${errors}`);
}

t.test('SIGTERM for npm reaches the server, and npm waits for its end', async (t) => {
  const { npm, ended, address, said } = await startByNpm(t);
  npm.kill('SIGTERM');
  t.same(await ended, [0, null]);
  t.match(said(), /The server closes after a signal[\s\S]*The server is closed/);
  await t.rejects(fetch(`${address}/livez`), 'nothing keeps the port');
});

t.test('Ctrl-C, which npm doubles, lets the server close in order', async (t) => {
  for (;;) {
    const { group, ended, address, said } = await startByNpm(t);
    process.kill(group, 'SIGINT');
    const end = await ended;
    await t.rejects(fetch(`${address}/livez`));
    // On a machine that is busy enough, npm comes half a second late with its signal, which then is the second one of a person.
    if (/A second signal ends/.test(said())) continue;
    t.same(end, [0, null]);
    t.match(said(), /"signal":"SIGINT"[\s\S]*The server is closed/);
    return;
  }
});
