import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { openBackend, runCli } from '../../src/cli/run.js';
import { openService } from '../clients/service.js';
import { recordTerminal } from './fakes.js';
import { run } from './in-process.js';
import { sheetVertices, writeSheets } from './sheets.js';

const lowerIsKinematic = ['--kinematic-from', String(sheetVertices)];
const service = await openService();
const at = ['--server', service.url];
t.teardown(() => service.close());

const resolve = (...more: string[]): string[] => ['resolve', 'start.obj', 'through.obj', ...lowerIsKinematic, ...more];
const idOf = (stderr: string): string => /^job (\S+)$/m.exec(stderr)?.[1] ?? '';
const list = async (): Promise<{ id: string; state: string; label: string }[]> =>
  JSON.parse((await run(['job', 'list', '--json', ...at])).stdout).jobs;

t.test('a job has the answer of the same request without one, and is deleted when it is on the disk', async (t) => {
  const cwd = writeSheets(t.testdir());
  const plain = await run(resolve('-o', 'plain.obj', ...at), { cwd });
  // The service is away for one question, and a submission whose answer is lost stays one job.
  service.plan(/POST \/v1\/jobs/, 'lose-answer');
  service.plan(/GET \/v1\/jobs\//, 'break-before');
  const { status, stdout, stderr } = await run(resolve('-o', 'job.obj', '--job', '--json', ...at), { cwd });
  t.equal(status, plain.status, stderr);
  t.match(stderr, /^job \S+\n$/);
  t.match(JSON.parse(stdout), { engine: 'cpu' });
  t.equal(readFileSync(join(cwd, 'job.obj'), 'utf8'), readFileSync(join(cwd, 'plain.obj'), 'utf8'));
  t.same(await list(), []);
  t.match(await run(['job', 'list', ...at]), { status: 0, stdout: 'no jobs\n' });
});

t.test('a job whose cancelling loses its answer is cancelled; one that never was is not found', async (t) => {
  const cwd = writeSheets(t.testdir());
  const { stderr } = await run(resolve('--job', '--quiet', ...at), { cwd });
  const id = idOf(stderr);
  service.plan(/DELETE \/v1\/jobs\//, 'lose-answer');
  const cancelled = await run(['job', 'cancel', id, ...at]);
  t.equal(cancelled.status, 0, cancelled.stderr);
  t.match(cancelled.stdout, `job ${id}  forgotten; if it still ran, it stops`);
  t.same(await list(), []);
  t.match(await run(['job', 'cancel', id, ...at]), { status: 3, stderr: /JOB_NOT_FOUND/ });
});

t.test('a terminal is shown the progress of the service', async (t) => {
  const cwd = writeSheets(t.testdir());
  const { stderr } = await run(resolve(...at), { cwd, isTerminal: true });
  t.match(stderr, /\r\[[#-]{24}\] {2}\d+ steps? {2}residual /);
  t.match((await run(resolve('--quiet', ...at), { cwd, isTerminal: true })).stderr, /^$/);
});

t.test('a retryable refusal is retried, any other is not', async (t) => {
  let asked = 0;
  let isFull = false;
  const error = (code: string) => ({ code, message: code, hint: '', requestId: 'r', retryAfter: '0.5s' });
  const server = createServer((_request, response) => {
    asked++;
    const [status, body] = isFull
      ? [429, error('QUOTA_EXCEEDED')]
      : asked === 1
        ? [429, error('QUEUE_FULL')]
        : [404, error('JOB_NOT_FOUND')];
    response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, stdout } = await run(['job', 'watch', 'f'.repeat(32), '--json', '--server', url]);
  t.equal(status, 3);
  t.match(JSON.parse(stdout), { code: 'JOB_NOT_FOUND' });
  t.equal(asked, 2, 'once more after the first refusal');
  isFull = true;
  t.equal((await run(['job', 'watch', 'f'.repeat(32), '--server', url])).status, 3);
  t.equal(asked, 3, 'a full quota is reported at once');
});

t.test('an interrupt leaves the job, and the printed command fetches its answer', async (t) => {
  const cwd = writeSheets(t.testdir());
  process.chdir(cwd);
  const terminal = recordTerminal({ folder: cwd });
  const status = await runCli(resolve('-o', 'an answer.obj', '--job', ...at), {
    terminal,
    async openBackend(choice) {
      const backend = await openBackend(choice, terminal);
      const wait: NonNullable<typeof backend.jobs>['wait'] = (id, onStatus, signal) => {
        process.emit('SIGINT');
        return backend.jobs!.wait(id, onStatus, signal);
      };
      return { ...backend, jobs: { ...backend.jobs!, wait } };
    },
  });
  t.equal(status, 130);
  t.notOk(existsSync('an answer.obj'));
  const id = idOf(terminal.written.err);
  const printed = /interstice (job fetch .*)\n/.exec(terminal.written.err)?.[1] ?? '';
  t.equal(printed, `job fetch ${id} start.obj -o 'an answer.obj' --server ${service.url}`);
  t.match(await list(), [{ id, label: 'start.obj' }]);

  const fetched = await run(['job', 'fetch', id, 'start.obj', '-o', 'answer.obj', ...at], { cwd });
  t.ok(fetched.status === 0 || fetched.status === 4, fetched.stderr);
  t.match(fetched.stdout, /verified .*0 intersections\n.*written +answer.obj/);
  t.equal((await run(['check', 'answer.obj'], { cwd })).status, 0);
  const watched = await run(['job', 'watch', id, ...at]);
  t.match(watched, { status: 0, stdout: new RegExp(`^job ${id}  done`) });
  t.match((await run(['job', 'list', ...at])).stdout, new RegExp(`^${id}  done.*submitted .* ago  start.obj\n$`));
  t.match(JSON.parse((await run(['job', 'watch', id, '--json', ...at])).stdout), { id, state: 'JOB_DONE' });

  t.match(await run(['job', 'cancel', id, ...at]), { status: 0, stdout: /forgotten; if it still ran, it stops/ });
  const gone = await run(['job', 'fetch', id, '--json', ...at]);
  t.equal(gone.status, 3);
  t.match(JSON.parse(gone.stdout), { code: 'JOB_NOT_FOUND' });
});

t.test('a job that fails ends with its error wherever it is asked for', async (t) => {
  const cwd = writeSheets(t.testdir());
  const argv = ['resolve', 'crossing.obj', 'start.obj', ...lowerIsKinematic, '--job', ...at];
  const { status, stderr } = await run(argv, { cwd });
  t.equal(status, 3);
  t.match(stderr, /error: INTERSECTING_START/);
  const id = idOf(stderr);
  t.match(await run(['job', 'watch', id, ...at]), { status: 3, stdout: /failed: INTERSECTING_START/ });
  t.match(await run(['job', 'fetch', id, ...at]), { status: 3, stdout: '', stderr: /INTERSECTING_START/ });
  t.equal((await run(['job', 'cancel', id, ...at])).status, 0);
});

t.test('the wrong start is not written over the answer of another mesh', async (t) => {
  const cwd = writeSheets(t.testdir({ 'one.obj': 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' }));
  const { stderr } = await run(resolve('--job', '--quiet', ...at), { cwd });
  const id = idOf(stderr);
  t.not(id, '', 'even a quiet command names a job that is kept');
  t.match(await run(['job', 'fetch', id, 'one.obj', '-o', 'x.obj', ...at], { cwd }), {
    status: 2,
    stderr: /not the start of this job/,
  });
  t.notOk(existsSync(join(cwd, 'x.obj')));
});

t.test('impossible combinations of job options are refused', async (t) => {
  const cwd = writeSheets(t.testdir());
  t.match(await run(resolve('--job'), { cwd }), { status: 2, stderr: /--job needs --server/ });
  t.match(await run(resolve('--job', '--sequence', '-o', 'out', ...at), { cwd }), { status: 2, stderr: /--sequence/ });
  t.match(await run(['job', 'list'], { cwd }), { status: 2, stderr: /--server/ });
  t.match(await run(['job', 'fetch', 'x', '-o', 'y.obj', ...at], { cwd }), { status: 2, stderr: /needs START/ });
  for (const name of ['list', 'watch', 'fetch', 'cancel'])
    t.match(await run(['job', name, '--help']), { status: 0, stdout: /--server <URL>/ }, name);
});
