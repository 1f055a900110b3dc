import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLogger } from '../../src/observe/log.js';
import { LogSink, type LossReason } from '../../src/observe/log-sink.js';

const failure = (code: string): Error => Object.assign(new Error(code), { code });

/** A file with so much room, on a disk that fails as told. */
function fakeFile() {
  const file = { text: '', room: Number.POSITIVE_INFINITY, code: 'ENOSPC' };
  const write = (bytes: Buffer): number => {
    const taken = Math.min(bytes.length, file.room);
    if (taken === 0) throw failure(file.code);
    file.room -= taken;
    file.text += bytes.subarray(0, taken).toString();
    return taken;
  };
  return { file, write };
}

t.test(
  'while the disk is full lines wait, are lost beyond the bound, and are written whole and in order afterwards',
  async (t) => {
    const { file, write } = fakeFile();
    const counted: LossReason[] = [];
    const sink = new LogSink({ write, maxWaitingBytes: 40, onLost: (reason) => counted.push(reason) });
    const told: object[] = [];
    sink.onRecovered = (lost) => told.push(lost);
    file.room = 15;
    for (let n = 0; n < 8; n++) sink.write(`line no. ${n}\n`);
    t.equal(file.text, 'line no. 0\nline', 'the disk took a part of the second line');
    t.same(counted, ['DISK_FULL', 'DISK_FULL', 'DISK_FULL'], 'what does not fit into the buffer is counted');
    t.same(told, []);
    file.room = Number.POSITIVE_INFINITY;
    sink.write('later\n');
    t.equal(file.text, 'line no. 0\nline no. 1\nline no. 2\nline no. 3\nline no. 4\nlater\n');
    t.same(told, [{ DISK_FULL: 3 }]);
  },
);

t.test('waiting lines are written without another line', async (t) => {
  const { file, write } = fakeFile();
  const sink = new LogSink({ write });
  file.room = 0;
  sink.write('waits\n');
  file.room = Number.POSITIVE_INFINITY;
  while (file.text === '') await new Promise((resolve) => setTimeout(resolve, 5));
  t.equal(file.text, 'waits\n');
});

t.test('a line longer than the bound is written when nothing waits', async (t) => {
  const { file, write } = fakeFile();
  new LogSink({ write, maxWaitingBytes: 4 }).write('a long line\n');
  t.equal(file.text, 'a long line\n');
});

t.test('each cause of a failure has its own reason', async (t) => {
  const reasons = { EAGAIN: 'SLOW_READER', EPIPE: 'READER_GONE', EDQUOT: 'DISK_FULL', EIO: 'ERROR' };
  for (const [code, reason] of Object.entries(reasons)) {
    const counted: LossReason[] = [];
    const { file, write } = fakeFile();
    const sink = new LogSink({ write, maxWaitingBytes: 1, onLost: (why) => counted.push(why) });
    Object.assign(file, { room: 0, code });
    sink.write('kept\n');
    sink.write('lost\n');
    t.same(counted, [reason]);
    sink.end();
  }
});

t.test('the log says in a line of its own what was lost', async (t) => {
  const { file, write } = fakeFile();
  const log = createLogger('info', new LogSink({ write, maxWaitingBytes: 300 }));
  file.room = 0;
  for (let n = 0; n < 10; n++) log.info({ n }, 'Tick.');
  file.room = Number.POSITIVE_INFINITY;
  log.info('Tock.');
  const lines = file.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(lines.at(-1)?.msg, 'Tock.');
  const kept = lines.filter(({ msg }) => msg === 'Tick.').length;
  t.ok(kept > 0 && kept < 10);
  t.match(lines.at(-2), { level: 'error', event: 'log-lines-lost', lost: { DISK_FULL: 10 - kept } });
});

t.test('a file that takes standard output as well keeps the lines of both', async (t) => {
  const path = join(t.testdir(), 'both.log');
  const file = openSync(path, 'w');
  const program = `
    const { LogSink } = await import(${JSON.stringify(new URL('../../src/observe/log-sink.js', import.meta.url).href)});
    const sink = new LogSink();
    sink.write('a line of the log\\n');
    process.stdout.write('an address\\n');
    sink.write('another line\\n');
    sink.end();`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  t.equal(status, 0);
  t.equal(readFileSync(path, 'utf8'), 'a line of the log\nan address\nanother line\n');
});
