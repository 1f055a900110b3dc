import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { main, plainEnvironment } from './main-program.js';

/** A request line of some 8 kB: fifty of them fill a pipe and what waits for it. */
const LONG_PATH = `/${'long/'.repeat(1600)}`;

interface Started {
  readonly child: ChildProcess;
  readonly facts: ReadonlyMap<string, string>;
}

/** @param err where the log goes: a descriptor, or a pipe that nobody reads yet */
async function start(t: Test, err: number | 'pipe'): Promise<Started> {
  const argv = [
    'serve',
    '--http-port',
    '0',
    '--grpc-port',
    'off',
    '--admin-port',
    '0',
    '--threads',
    '1',
    '--engine',
    'cpu',
  ];
  const child = spawn(process.execPath, [main.path, ...argv, '--log-level', 'info'], {
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', err],
  });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  const facts = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout! })) {
    const [name = '', ...words] = line.split(' ');
    facts.set(name, words.join(' '));
    if (name === 'engine') break;
  }
  return { child, facts };
}

const ask = async ({ facts }: Started, path: string): Promise<number> => {
  const answer = await fetch(`${facts.get('address')}${path}`);
  await answer.arrayBuffer();
  return answer.status;
};

/** Lines that the metrics count as lost, by reason. */
async function lostLines({ facts }: Started): Promise<Record<string, number>> {
  const text = await (await fetch(`${facts.get('admin')}/metrics`)).text();
  const found = text.matchAll(/^interstice_log_lines_lost_total\{reason="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, reason, count]) => [reason, Number(count)]));
}

async function endsWell(t: Test, { child }: Started): Promise<void> {
  child.kill('SIGTERM');
  const [code, signal] = await once(child, 'exit');
  t.same([code, signal], [0, null], 'it ended by itself');
}

t.test('a full disk does not stop the service', { skip: !existsSync('/dev/full') }, async (t) => {
  const started = await start(t, openSync('/dev/full', 'w'));
  for (let n = 0; n < 50; n++) t.equal(await ask(started, LONG_PATH), 404);
  t.ok((await lostLines(started)).DISK_FULL > 0);
  await endsWell(t, started);
});

t.test('a pipe that nobody reads for a while does not stop the service', async (t) => {
  const started = await start(t, 'pipe');
  const { child } = started;
  for (let n = 0; n < 80; n++) t.equal(await ask(started, LONG_PATH), 404);
  const lost = (await lostLines(started)).SLOW_READER;
  t.ok(lost > 0, `${lost} lines lost`);
  const lines: Record<string, unknown>[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    lines.push(JSON.parse(line));
    if (lines.at(-1)?.event === 'log-lines-lost') break;
  }
  t.match(lines.at(-1), { lost: { SLOW_READER: lost } });
  t.equal(lines.filter(({ status }) => status === 404).length, 80 - lost, 'the others are there, each whole');
  await endsWell(t, started);
});

t.test('a pipe whose reader has gone does not stop the service', async (t) => {
  const started = await start(t, 'pipe');
  started.child.stderr?.destroy();
  for (let n = 0; n < 60; n++) t.equal(await ask(started, LONG_PATH), 404);
  t.ok((await lostLines(started)).READER_GONE > 0);
  await endsWell(t, started);
});
