import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { main, plainEnvironment } from './main-program.js';
import { verticesOf, writeSheets } from './sheets.js';

interface Started {
  readonly child: ChildProcess;
  readonly facts: ReadonlyMap<string, string>;
}

/** Starts the service on a free port and waits for the facts that it prints when it is ready. */
async function start(t: Test): Promise<Started> {
  const ports = ['--http-port', '0', '--grpc-port', '0', '--admin-port', '0'];
  const argv = [main.path, 'serve', ...ports, '--threads', '1', '--log-level', 'silent'];
  const child = spawn(process.execPath, argv, { env: plainEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  const facts = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', ...words] = line.split(' ');
    facts.set(name, words.join(' '));
    if (name === 'engine') break;
  }
  return { child, facts };
}

t.test('the service says where it is, does what the command line does itself, and ends on a signal', async (t) => {
  const { child, facts } = await start(t);
  const url = facts.get('address') ?? '';
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.match(facts.get('grpc'), /^127\.0\.0\.1:\d+$/);
  t.match(await (await fetch(`${facts.get('admin')}/metrics`)).text(), /^interstice_ready 1$/m);
  t.match(facts.get('engine'), /cpu|webgpu/);

  const cwd = writeSheets(t.testdir());
  const argv = ['resolve', 'start.obj', 'through.obj', '--kinematic-from', '36', '--json'];
  const here = main([...argv, '-o', 'here.obj'], { cwd });
  const there = main([...argv, '-o', 'there.obj', '--server', url], { cwd });
  t.equal(there.status, here.status, there.stderr);
  const positions = (name: string): number[][] => verticesOf(readFileSync(join(cwd, name), 'utf8'));
  t.strictSame(positions('there.obj'), positions('here.obj'), 'the same numbers from both');
  // Times differ, and only a service gives a budget to a request that asks for none.
  const timeless = { timings: undefined, budget: undefined };
  const [reportHere, reportThere] = [here, there].map(({ stdout }) => ({ ...JSON.parse(stdout), ...timeless }));
  t.strictSame(reportThere, reportHere, 'the whole report, whatever the way');

  t.equal(main(['check', 'crossing.obj', '--server', url], { cwd }).status, 1);
  const refused = main(['resolve', 'crossing.obj', 'free.obj', '--server', url], { cwd });
  t.match(refused, { status: 3, stderr: /INTERSECTING_START[\s\S]*pairs +edge/ });

  const busy = main(
    ['serve', '--http-port', new URL(url).port, '--grpc-port', 'off', '--admin-port', 'off', '--log-level', 'silent'],
    { cwd },
  );
  t.match(busy, { status: 2, stderr: /Cannot listen on .*another --http-port/ });

  child.kill('SIGTERM');
  const [code, signal] = await once(child, 'exit');
  t.equal(signal, null, 'it ended by itself');
  t.equal(code, 0);
});

t.test('a signal during the start ends the service, also where nobody would end it otherwise', async (t) => {
  // A store that accepts connections and says nothing: the start waits for it longer than this test takes.
  const silent = createServer((socket) => socket.on('error', () => {}));
  const heard = once(silent, 'connection');
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const store = `redis://127.0.0.1:${(silent.address() as AddressInfo).port}/0`;
  const child = spawn(process.execPath, [main.path, 'serve', '--http-port', '0', '--grpc-port', 'off'], {
    env: { ...plainEnvironment(), INTERSTICE_STORE: store, INTERSTICE_STORE_TIMEOUT_SECONDS: '60' },
    stdio: 'ignore',
  });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  await heard;
  child.kill('SIGTERM');
  // Without a reaction of its own the signal would end it, but not the first process of a container.
  t.same(await once(child, 'exit'), [0, null]);
});

t.test('a folder for findings or traces that cannot be written is refused at the start', async (t) => {
  const cwd = t.testdir({ file: '' });
  for (const name of ['INTERSTICE_FINDINGS', 'INTERSTICE_TRACE']) {
    const refused = main(['serve', '--http-port', '0', '--grpc-port', 'off', '--admin-port', 'off'], {
      cwd,
      env: { ...plainEnvironment(), [name]: join(cwd, 'file', 'below') },
    });
    t.match(refused, { status: 2, stderr: new RegExp(`${name} names the folder .*cannot be written`) });
  }
});
