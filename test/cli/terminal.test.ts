import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { withInterrupt } from '../../src/cli/terminal.js';
import { main, plainEnvironment } from './main-program.js';
import { writeSheets } from './sheets.js';

t.test('Ctrl-C hangs up, writes nothing and ends with 130', async (t) => {
  const cwd = writeSheets(t.testdir());
  const before = readdirSync(cwd);
  // A service that has taken the request and never answers: the child is certainly at work when the signal comes.
  const server = createServer(() => child.kill('SIGINT')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const argv = [main.path, 'resolve', 'start.obj', 'free.obj', '-o', 'out.obj', '--json', '--server', url];
  const child = spawn(process.execPath, argv, { cwd, env: plainEnvironment() });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
  });
  const [code] = await once(child, 'close');
  server.closeAllConnections();
  server.close();
  t.equal(code, 130);
  t.equal(text.err, 'Interrupted. No answer was written.\n');
  t.match(JSON.parse(text.out), { code: 'CANCELLED' });
  t.strictSame(readdirSync(cwd), before);
});

t.test('the handlers are there only while something runs, and for one signal', async (t) => {
  const count = (): number => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
  const before = count();
  const result = await withInterrupt(async (signal, abort) => {
    t.equal(count(), before + 2);
    t.notOk(signal.aborted);
    abort();
    t.ok(signal.aborted);
    t.equal(count(), before, 'a second signal ends the process');
    return 'done';
  });
  t.equal(result, 'done');
  await t.rejects(withInterrupt(() => Promise.reject(new Error('boom'))));
  t.equal(count(), before);
});

const full = { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' };

t.test('an output that cannot be written ends the program with 5, which is no verdict', full, async (t) => {
  const cwd = writeSheets(t.testdir());
  const disk = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(disk));
  const check = async (stdout: number | 'pipe', stderr: number | 'pipe', argv: string[]) => {
    const stdio = ['ignore', stdout, stderr] as const;
    const child = spawn(process.execPath, [main.path, ...argv], { cwd, env: plainEnvironment(), stdio: [...stdio] });
    let text = '';
    child.stderr?.on('data', (chunk) => {
      text += chunk;
    });
    const [code] = await once(child, 'close');
    return [code, text];
  };
  const [code, text] = await check(disk, 'pipe', ['check', 'start.obj']);
  t.equal(code, 5);
  t.match(text, /^error: The standard output cannot be written: ENOSPC.*\.\n$/);
  t.same(await check('pipe', disk, ['check', 'none.obj']), [5, '']);
});
