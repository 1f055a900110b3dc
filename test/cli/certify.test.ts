import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { openBackend, runCli } from '../../src/cli/run.js';
import { projectRoot } from '../../src/paths.js';
import { openService } from '../clients/service.js';
import { boxesObj } from './boxes.js';
import { recordTerminal } from './fakes.js';
import { run } from './in-process.js';

const CHECKER = join(projectRoot, 'checker', 'certificate.mjs');

const at = (x: number) =>
  boxesObj([
    { at: [0, 0, 0], size: [1, 1, 1], cells: 2 },
    { at: [x, 0.1, 0.1], size: [1, 1, 1], cells: 2 },
  ]);

t.test('certify resolves, writes and checks; --check checks what was written', async (t) => {
  const cwd = t.testdir({ 'start.obj': at(1.5), 'target.obj': at(0.8) });
  const certify = (...argv: string[]) => run(['certify', ...argv], { cwd });
  const made = await certify('start.obj', 'target.obj', '-o', 'a.certificate');
  t.ok(made.status === 0 || made.status === 4, made.stderr);
  t.match(made.stdout, /^confirmed\n/);
  t.match(made.stdout, /no state intersects, no piece collides/);
  const [, checker = '', name] = /check it +node (\S+) (\S+)$/m.exec(made.stdout) ?? [];
  t.equal(resolve(cwd, checker), CHECKER, 'the printed command runs here');
  t.equal(name, 'a.certificate');

  const checked = await certify('--check', 'a.certificate', '--json');
  t.equal(checked.status, 0, checked.stderr);
  const verdict = JSON.parse(checked.stdout);
  t.match(verdict, { isConfirmed: true, problemCount: 0 });
  t.match(made.stdout, new RegExp(verdict.sha256));

  const bytes = readFileSync(join(cwd, 'a.certificate'));
  bytes[bytes.length - 3]! ^= 4;
  writeFileSync(join(cwd, 'b.certificate'), bytes);
  const refused = await certify('--check', 'b.certificate');
  t.equal(refused.status, 1);
  t.match(refused.stdout, /^refused\n[\s\S]*The array states was changed/);
});

t.test('a certificate is written once it has been checked: Ctrl-C leaves none without a verdict', async (t) => {
  const folder = t.testdir({ 'start.obj': at(1.5), 'target.obj': at(0.8) });
  const file = join(folder, 'a.certificate');
  const recorded = recordTerminal({ folder, isTerminal: true });
  let looks = 0;
  const write = (text: string) => {
    if (!text.includes('checking')) return;
    looks += 1;
    t.notOk(existsSync(file), text);
  };
  const terminal = { ...recorded, err: { ...recorded.err, write }, now: () => (recorded.clock += 1000) };
  const pair = ['start.obj', 'target.obj'].map((name) => join(folder, name));
  await runCli(['certify', ...pair, '-o', file], { terminal, openBackend: (choice) => openBackend(choice, terminal) });
  t.ok(looks > 0, 'the check was seen');
  t.match(recorded.written.out, /^confirmed\n/);
  t.ok(existsSync(file));
});

t.test('a verdict says that pairs of kinematic elements are not covered', async (t) => {
  const cwd = t.testdir({ 'start.obj': at(1.5), 'target.obj': at(0.8) });
  const certify = (...argv: string[]) =>
    run(['certify', 'start.obj', 'target.obj', '--kinematic-from', '26', ...argv], { cwd });
  const skipping = await certify('-o', 'a.certificate');
  t.match(
    skipping.stdout,
    /^ +not covered +pairs of elements whose vertices all belong to the 26 kinematic vertices$/m,
  );
  const protecting = await certify('-o', 'b.certificate', '--kinematic-pairs', 'PROTECT');
  t.match(protecting.stdout, /^confirmed\n/);
  t.notMatch(protecting.stdout, /not covered/);
  for (const [file, says] of [['a.certificate', true] as const, ['b.certificate', false] as const]) {
    const { status, stdout } = spawnSync(process.execPath, [CHECKER, join(cwd, file)], { encoding: 'utf8' });
    t.equal(status, 0);
    t.equal(/^not covered: pairs .* the 26 kinematic ones$/m.test(stdout), says, stdout);
  }
});

t.test('certify on a service writes what it answers', async (t) => {
  const cwd = t.testdir({ 'start.obj': at(1.5), 'target.obj': at(0.8) });
  const service = await openService();
  t.teardown(() => service.close());
  const { status, stdout, stderr } = await run(
    ['certify', 'start.obj', 'target.obj', '-o', 'remote.certificate', '--server', service.url],
    { cwd },
  );
  t.ok(status === 0 || status === 4, stderr);
  t.match(stdout, /^confirmed\n/);
});

t.test('certify says what it needs', async (t) => {
  const cwd = t.testdir({ 'start.obj': at(1.5), 'target.obj': at(0.8), 'through.obj': at(0.5) });
  const certify = (...argv: string[]) => run(['certify', ...argv], { cwd });
  t.match(await certify('start.obj', 'target.obj'), { status: 2, stderr: /-o FILE, or --check FILE/ });
  t.match(await certify('start.obj', '--check', 'x'), { status: 2, stderr: /takes no meshes/ });
  for (const [flag, ...value] of [
    ['--verify', 'state'],
    ['--engine', 'cpu'],
    ['--server', 'http://127.0.0.1:1'],
    ['--kinematic-from', '0'],
    ['--options', 'options.json'],
    ['--step-limit', '4'],
  ]) {
    const ended = await certify('--check', 'nowhere', flag!, ...value);
    t.match(ended, { status: 2, stderr: `--check reads a certificate; ${flag} has no effect on it.` });
  }
  t.match(await certify('--check', 'nowhere'), { status: 2, stderr: /nowhere/ });
  t.match(await certify('start.obj', 'target.obj', '-o', 'start.obj'), { status: 2, stderr: /overwrite/ });
  t.equal((await certify('through.obj', 'target.obj', '-o', 'c.certificate')).status, 3);
  // Nothing of the options file is dropped.
  const withOptions = (options: object) => {
    writeFileSync(join(cwd, 'options.json'), JSON.stringify(options));
    return certify('start.obj', 'target.obj', '-o', 'd.certificate', '--options', 'options.json');
  };
  t.match(await withOptions({ include: { contacts: true } }), {
    status: 2,
    stderr: /"include" is not supported[\s\S]*interstice certify --help/,
  });
  t.match(await withOptions({ timeBudget: '0.000001s', onBudget: 'FAIL' }), { stderr: /DEADLINE_EXCEEDED/ });
});
