import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { toRequest } from '../../src/cli/commands/resolve.js';
import { readInputs } from '../../src/cli/inputs.js';
import { openBackend, runCli } from '../../src/cli/run.js';
import { readMeshFile } from '../../src/mesh/files/index.js';
import { recordTerminal } from './fakes.js';
import { run } from './in-process.js';
import { main } from './main-program.js';
import { sheetVertices, verticesOf, writeSheets } from './sheets.js';

const lowerIsKinematic = ['--kinematic-from', String(sheetVertices)];
const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

t.test('a motion without obstacles ends at the target, number for number', async (t) => {
  const cwd = writeSheets(t.testdir());
  const { status, stdout, stderr } = main(['resolve', 'start.obj', 'free.obj', '-o', 'out.obj'], { cwd });
  t.equal(status, 0, stderr);
  t.equal(stderr, '', 'a pipe gets no progress');
  t.match(stdout, /^converged in \d+ steps?/);
  t.match(stdout, /every vertex is at its target/);
  t.match(stdout, /written +out\.obj/);
  t.strictSame(verticesOf(read(cwd, 'out.obj')), verticesOf(read(cwd, 'free.obj')));
  const lines = (name: string): string[] =>
    read(cwd, name)
      .split('\n')
      .filter((line) => line.startsWith('f '));
  t.strictSame(lines('out.obj'), lines('start.obj'), 'the faces are those of the start');
});

t.test('a sheet is kept above the one it was sent through', async (t) => {
  const cwd = writeSheets(t.testdir());
  const result = await run(['resolve', 'start.obj', 'through.obj', '-o', 'out.obj', '--json', ...lowerIsKinematic], {
    cwd,
  });
  t.ok(result.status === 0 || result.status === 4, result.stderr);
  const report = JSON.parse(result.stdout);
  t.equal(result.status, report.status === 'CONVERGED' ? 0 : 4);
  t.match(report, { verification: { performed: 'STATE', intersections: '0' }, unreachedKinematic: 0 });
  t.ok(report.distanceToTargetMax > 0.0049, 'the target lies on the other side');
  const answer = verticesOf(read(cwd, 'out.obj'));
  t.strictSame(answer.slice(sheetVertices), verticesOf(read(cwd, 'through.obj')).slice(sheetVertices));
  t.equal((await run(['check', 'out.obj'], { cwd })).status, 0, 'the checker agrees');
});

t.test('a run that may not finish is safe, written, and ends with 4', async (t) => {
  const cwd = writeSheets(t.testdir());
  const argv = ['resolve', 'start.obj', 'through.obj', '-o', 'out.obj', '--step-limit', '1', ...lowerIsKinematic];
  const { status, stdout } = await run(argv, { cwd });
  t.equal(status, 4);
  t.match(stdout, /^stopped at the step limit \(safe, not converged\) in 1 step/);
  t.match(stdout, /hint +Raise --step-limit/);
  t.equal((await run(['check', 'start.obj', 'out.obj'], { cwd })).status, 0, 'one step is one straight, free piece');
});

t.test('flags take precedence over the options file, and kinematic vertices add up', async (t) => {
  const cwd = writeSheets(t.testdir());
  const options = { parameters: { stepLimit: 1, damping: 0.5 }, kinematicVertices: [0] };
  writeFileSync(join(cwd, 'options.json'), JSON.stringify(options));
  writeFileSync(join(cwd, 'pins.txt'), '1-3 # the corner\n');
  const argv = ['resolve', 'start.obj', 'free.obj', '--options', 'options.json', '--kinematic', 'pins.txt'];
  const { stdout, stderr } = await run([...argv, '--step-limit', '40', '--trace', 'path', '--json'], { cwd });
  t.match(JSON.parse(stdout), { resolved: { stepLimit: 40, damping: 0.5 } }, stderr);
  t.match(JSON.parse(read(cwd, 'path/trace.json')), { kinematicVertices: [0, 1, 2, 3] });
  t.notOk(readdirSync(cwd).includes('out.obj'));
});

t.test('the priority of the options file is that of the request', async (t) => {
  const cwd = writeSheets(t.testdir());
  const options = join(cwd, 'options.json');
  writeFileSync(options, JSON.stringify({ priority: 'BATCH' }));
  const inputs = await readInputs('resolve', join(cwd, 'start.obj'), join(cwd, 'free.obj'), { options });
  t.equal(toRequest(inputs, { options, parameters: {} }, 'resolve').priority, 'BATCH');
});

t.test('a trace that cannot be written ends the run with its reason', async (t) => {
  const cwd = writeSheets(t.testdir());
  process.chdir(cwd);
  const terminal = recordTerminal({ folder: cwd });
  const status = await runCli(['resolve', 'start.obj', 'through.obj', '-o', 'out.obj', '--trace', 'path'], {
    terminal,
    openBackend: (choice, command) => {
      rmSync('path', { recursive: true });
      return openBackend(choice, terminal, command);
    },
  });
  t.equal(status, 2);
  t.equal(terminal.written.err, 'error: Cannot write path: a folder of the path does not exist.\n');
  t.notOk(existsSync('out.obj'));
});

t.test('a trace holds every state, from the start to the answer', async (t) => {
  const cwd = writeSheets(t.testdir());
  const files = ['resolve', 'start.obj', 'through.obj', '-o', 'out.obj', '--trace', 'path'];
  // Under the other qualities steps beyond the best state are no part of the path.
  const argv = [...files, '--quality', 'fast', ...lowerIsKinematic];
  for (const round of ['first', 'again']) {
    const { status, stdout, stderr } = await run(argv, { cwd });
    t.ok(status === 0 || status === 4, `${round} ${stderr}`);
    t.match(stdout, /trace +path \(\d+ states\)/);
  }
  const trace = JSON.parse(read(cwd, 'path/trace.json'));
  t.match(trace, { isComplete: true, discardedStates: 0, scalar: 'FLOAT64', vertexCount: 2 * sheetVertices });
  t.equal(trace.states, trace.report.steps + 1, 'the start, and a state a step');
  const names = readdirSync(join(cwd, 'path')).filter((name) => name !== 'trace.json');
  t.strictSame(
    names.sort(),
    Array.from({ length: trace.states }, (_, index) => `state-${String(index).padStart(5, '0')}.ply`),
  );
  const state = async (index: number) => readMeshFile(join(cwd, 'path', names[index] ?? ''));
  const [first, last, start, answer] = await Promise.all([
    state(0),
    state(names.length - 1),
    readMeshFile(join(cwd, 'start.obj')),
    readMeshFile(join(cwd, 'out.obj')),
  ]);
  t.strictSame(first.positions, start.positions);
  t.strictSame(last.positions, answer.positions);
  t.strictSame(last.triangles, start.triangles);
  t.equal(last.plyEncoding, 'binary_little_endian');
  for (let index = 1; index < names.length; index++) {
    const piece = [`path/${names[index - 1]}`, `path/${names[index]}`];
    t.equal((await run(['check', ...piece, ...lowerIsKinematic], { cwd })).status, 0, `piece ${index} is free`);
    if (index === 4) break; // a process a piece: a few are enough here
  }
});

t.test('the answer takes the format of its name', async (t) => {
  const cwd = writeSheets(t.testdir());
  t.equal((await run(['resolve', 'start.obj', 'free.obj', '-o', 'out.ply', '--quiet'], { cwd })).status, 0);
  const [answer, target] = await Promise.all([readMeshFile(join(cwd, 'out.ply')), readMeshFile(join(cwd, 'free.obj'))]);
  t.equal(answer.format, 'ply');
  t.strictSame(answer.positions, target.positions, 'doubles stay doubles');
});

t.test('a target in other units is named before the run and in the report', async (t) => {
  const cwd = writeSheets(t.testdir());
  const scaled = read(cwd, 'free.obj').replace(
    /^v (\S+) (\S+) (\S+)$/gm,
    (_, ...xyz: string[]) =>
      `v ${xyz
        .slice(0, 3)
        .map((c) => 1000 * Number(c))
        .join(' ')}`,
  );
  writeFileSync(join(cwd, 'millimetres.obj'), scaled);
  const { stdout, stderr } = await run(['resolve', 'start.obj', 'millimetres.obj', '--step-limit', '1'], { cwd });
  const words =
    /TARGET_SCALED: The target of the dynamic vertices is 1000 times as large as the start, the ratio of metres to millimetres/;
  t.match(stderr, words);
  t.match(stdout, words);
  t.match(stdout, /Convert one of the files/);
});

t.test('--quiet prints nothing', async (t) => {
  const cwd = writeSheets(t.testdir());
  t.match(await run(['resolve', 'start.obj', 'free.obj', '--quiet'], { cwd }), { status: 0, stdout: '', stderr: '' });
});

t.test('an intersecting start is refused with the pairs, and nothing is written', async (t) => {
  const cwd = writeSheets(t.testdir());
  const before = readdirSync(cwd);
  const { status, stdout, stderr } = await run(['resolve', 'crossing.obj', 'free.obj', '-o', 'out.obj', '--json'], {
    cwd,
  });
  t.equal(status, 3);
  t.match(stderr, /^error: INTERSECTING_START: [\s\S]*pairs +edge \d+-\d+ × triangle \d+-\d+-\d+/);
  t.match(JSON.parse(stdout), { code: 'INTERSECTING_START', status: 422, pairs: [{ kind: 'EDGE_TRIANGLE' }] });
  t.strictSame(readdirSync(cwd), before);
});

t.test('a parameter out of range is refused by name', async (t) => {
  const cwd = writeSheets(t.testdir());
  t.match(await run(['resolve', 'start.obj', 'free.obj', '--damping', '2'], { cwd }), {
    status: 3,
    stderr: /^error: INVALID_PARAMETER: .*damping/,
  });
});

t.test('check finds intersections and paths that collide', async (t) => {
  const cwd = writeSheets(t.testdir());
  t.match(await run(['check', 'start.obj'], { cwd }), {
    status: 0,
    stdout: `start.obj (${2 * sheetVertices} vertices): free of intersections\n`,
  });
  t.match(await run(['check', 'crossing.obj'], { cwd }), { status: 1, stdout: /intersections\n +pairs +edge/ });
  const path = await run(['check', 'start.obj', 'through.obj', '--json'], { cwd });
  t.equal(path.status, 1);
  const answer = JSON.parse(path.stdout);
  t.match(answer, { intersectionFree: true, pathFree: false });
  t.ok(answer.earliestImpact > 0.4 && answer.earliestImpact <= 0.5, 'half-way, and never later than the impact');
  t.match(await run(['check', 'start.obj', 'free.obj', '--closer-than', '0.006'], { cwd }), {
    status: 0,
    stdout: /min distance +0\.005\n +close pairs/,
  });
});

t.test('what the start holds besides the mesh is written back, or named where the format cannot hold it', async (t) => {
  const plain = (z: number) => `v 0 0 ${z}\nv 1 0 ${z}\nv 0 1 ${z}\n`;
  const start = `mtllib a.mtl\n${plain(0)}vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\ng top\nusemtl silk\nf 1/1/1 2/2/1 3/3/1\n`;
  const cwd = t.testdir({ 'start.obj': start, 'target.obj': `${plain(1)}f 1 2 3\n` });
  const same = await run(['resolve', 'start.obj', 'target.obj', '-o', 'out.obj'], { cwd });
  t.match(same, { status: 0, stderr: '' });
  t.equal(read(cwd, 'out.obj'), start.replace(plain(0), plain(1)));
  const other = await run(['resolve', 'start.obj', 'target.obj', '-o', 'out.ply'], { cwd });
  t.match(other, {
    status: 0,
    stderr: /^warning: out\.ply does not hold mtllib, vt, vn, g, usemtl.* of start\.obj\.\n$/,
  });
});
