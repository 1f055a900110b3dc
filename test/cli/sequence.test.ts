import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SessionStepOptions } from '../../src/cli/backend.js';
import { openBackend, runCli } from '../../src/cli/run.js';
import { hashesOf, keysOf, orderFrames } from '../../src/cli/sequence/frames.js';
import { toPriority } from '../../src/transport/messages/fields.js';
import { openService } from '../clients/service.js';
import { recordTerminal } from './fakes.js';
import { run } from './in-process.js';
import { sheetVertices, twoSheets, verticesOf } from './sheets.js';

const lowerIsKinematic = ['--kinematic-from', String(sheetVertices)];
const HEIGHTS = [0.005, 0.002, -0.001, -0.004];
const NAMES = ['f1.obj', 'f2.obj', 'f10.obj', 'f11.obj'];
const INPUTS = ['in/f1.obj', 'in/f10.obj', 'in/f11.obj', 'in/f2.obj'];
const argv = (...more: string[]): string[] => [
  'resolve',
  ...INPUTS,
  '--sequence',
  '-o',
  'out',
  ...lowerIsKinematic,
  ...more,
];

/** The upper sheet sinks through the lower one, frame by frame; a shell lists f10 before f2. */
const writeFrames = (folder: string): string => {
  for (const [i, name] of NAMES.entries()) writeFileSync(join(folder, 'in', name), twoSheets(HEIGHTS[i]!, 0));
  return folder;
};
const lines = (text: string): { frame: number; output: string; isSkipped: boolean; status: string }[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const lowestOf = (path: string): number =>
  Math.min(
    ...verticesOf(readFileSync(path, 'utf8'))
      .slice(0, sheetVertices)
      .map(([, , z]) => z!),
  );

t.test('frames follow each other in the order of their numbers, and no answer passes', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {} }));
  const { status, stdout, stderr } = await run(argv('--json'), { cwd });
  t.ok(status === 0 || status === 4, stderr);
  t.same(
    lines(stdout).map(({ frame, output, isSkipped }) => [frame, output, isSkipped]),
    NAMES.map((name, i) => [i, name, false]),
  );
  t.equal(readFileSync(join(cwd, 'out/f1.obj'), 'utf8'), twoSheets(HEIGHTS[0]!, 0), 'the first frame is the start');
  for (const name of NAMES) t.ok(lowestOf(join(cwd, 'out', name)) > 0, `${name} stays above`);
  const path = NAMES.map((name) => join('out', name));
  t.equal((await run(['check', path[2]!], { cwd })).status, 0);

  const kept = readFileSync(join(cwd, 'out/f10.obj'));
  const again = await run(argv('--json'), { cwd });
  t.same(
    lines(again.stdout).map(({ isSkipped }) => isSkipped),
    [true, true, true, true],
    'nothing is computed twice',
  );
  t.equal(again.status, status);

  writeFileSync(join(cwd, 'in/f11.obj'), twoSheets(-0.01, 0));
  const third = await run(argv('--json'), { cwd });
  t.same(
    lines(third.stdout).map(({ isSkipped }) => isSkipped),
    [true, true, true, false],
    'only what has changed',
  );
  t.same(readFileSync(join(cwd, 'out/f10.obj')), kept);

  rmSync(join(cwd, 'out/f2.obj'));
  const fourth = await run(argv('--json'), { cwd });
  t.same(
    lines(fourth.stdout).map(({ isSkipped }) => isSkipped),
    [true, false, false, false],
    'and what follows from it',
  );
  const other = await run(argv('--json', '--damping', '0.5'), { cwd });
  t.ok(
    lines(other.stdout).every(({ isSkipped }) => !isSkipped),
    'other settings begin anew',
  );
});

/** Runs the command in this process, and says before each step what is asked of it. */
function runWatched(
  words: string[],
  terminal: ReturnType<typeof recordTerminal>,
  onStep: (options: SessionStepOptions | undefined) => void,
): Promise<number> {
  return runCli(words, {
    terminal,
    async openBackend(choice) {
      const backend = await openBackend(choice, terminal);
      return {
        ...backend,
        async openSession(request, signal) {
          const session = await backend.openSession(request, signal);
          const step: typeof session.step = (target, options) => {
            onStep(options);
            return session.step(target, options);
          };
          return { ...session, step };
        },
      };
    },
  });
}

t.test('a signal ends a sequence after a frame, and the same command continues it', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {} }));
  process.chdir(cwd);
  const terminal = recordTerminal({ folder: cwd });
  let steps = 0;
  const status = await runWatched(argv(), terminal, () => {
    if (++steps === 2) process.emit('SIGINT');
  });
  t.equal(status, 130, terminal.written.err);
  t.match(terminal.written.err, /2 frames in out finished; the same command goes on from there/);
  t.match(terminal.written.err, /Interrupted\. No further answer was written\./, 'those of the frames were');
  t.same(readdirSync('out').sort(), ['f1.obj', 'f2.obj', 'sequence.jsonl']);
  const { stdout } = await run(argv('--json'), { cwd });
  t.same(
    lines(stdout).map(({ isSkipped }) => isSkipped),
    [true, true, false, false],
  );
});

t.test('a sequence runs on a service', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {} }));
  const service = await openService();
  t.teardown(() => service.close());
  const { status, stderr } = await run(argv('--server', service.url, '--time-budget', '60'), { cwd });
  t.ok(status === 0 || status === 4, stderr);
  t.equal(service.seen.filter(({ line }) => /POST .*\/steps/.test(line)).length, 3, 'one session, a step a frame');
  for (const name of NAMES) t.ok(lowestOf(join(cwd, 'out', name)) > 0);
});

t.test('the priority of the options file is that of every step, here and on a service', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {}, 'options.json': JSON.stringify({ priority: 'BATCH' }) }));
  process.chdir(cwd);
  const options = ['--options', 'options.json'];
  const terminal = recordTerminal({ folder: cwd });
  const asked: unknown[] = [];
  await runWatched(argv(...options), terminal, (asks) => asked.push(asks?.priority));
  t.same(asked, ['BATCH', 'BATCH', 'BATCH'], terminal.written.err);
  rmSync('out', { recursive: true });
  const service = await openService();
  t.teardown(() => service.close());
  const sent: unknown[] = [];
  // As the service has decoded it.
  const note = ({ body }: { body: unknown }): void =>
    void sent.push(toPriority((body as { decoded: { message: { priority?: never } } }).decoded.message.priority, ''));
  service.plan(/POST .*\/steps/, note, note, note);
  const { stderr } = await run(argv(...options, '--server', service.url), { cwd });
  t.same(sent, ['BATCH', 'BATCH', 'BATCH'], stderr);
});

t.test('files that the command did not write are not overwritten', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {}, out: { 'f2.obj': 'precious' } }));
  const foreign = await run(argv(), { cwd });
  t.equal(foreign.status, 2);
  t.match(foreign.stderr, /f2\.obj exists and is no answer of this sequence/);
  t.equal(readFileSync('out/f2.obj', 'utf8'), 'precious');
  t.notOk(existsSync('out/f1.obj'));
  t.match((await run(['resolve', ...INPUTS, '--sequence', '-o', 'in'], { cwd })).stderr, /would overwrite the input/);
  t.match((await run(['resolve', ...INPUTS, '--sequence'], { cwd })).stderr, /needs -o FOLDER/);
  t.match((await run(['resolve', ...INPUTS, '-o', 'x.obj'], { cwd })).stderr, /frames need --sequence/);
});

t.test('a frame that is refused is named, and the same command continues once it is repaired', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {} }));
  await run(argv('--quiet'), { cwd });
  writeFileSync(join(cwd, 'in/f10.obj'), 'v 0 0 0\n');
  const { status, stderr } = await run(argv(), { cwd });
  t.equal(status, 3);
  t.match(stderr, /in\/f10\.obj: .*72 vertices|in\/f10\.obj: .*1 vertices/);
  t.match(stderr, /2 frames in out finished/);
  writeFrames(cwd);
  const repaired = await run(argv('--json'), { cwd });
  t.same(
    lines(repaired.stdout).map(({ isSkipped }) => isSkipped),
    [true, true, false, false],
    "answers of the first run are outdated, but are nobody else's",
  );
});

t.test('an answer that the journal cannot list is not written, so that the same command continues', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {} }));
  process.chdir(cwd);
  const terminal = recordTerminal({ folder: cwd });
  let steps = 0;
  const status = await runWatched(argv(), terminal, () => {
    if (++steps !== 2) return;
    renameSync('out/sequence.jsonl', 'kept.jsonl');
    mkdirSync('out/sequence.jsonl');
  });
  t.equal(status, 2, 'as on a full disk, nothing can be added');
  t.match(terminal.written.err, /Cannot write out\/sequence\.jsonl: the path is a folder/);
  t.same(readdirSync('out').sort(), ['f1.obj', 'f2.obj', 'sequence.jsonl']);
  rmSync('out/sequence.jsonl', { recursive: true });
  renameSync('kept.jsonl', 'out/sequence.jsonl');
  const { stdout, stderr } = await run(argv('--json'), { cwd });
  t.same(
    lines(stdout).map(({ isSkipped }) => isSkipped),
    [true, true, false, false],
    stderr,
  );
});

t.test('a folder that cannot take the answers is a mistake of the command line', async (t) => {
  const triangle = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n';
  const cwd = t.testdir({ 'start.obj': triangle, 'free.obj': triangle, taken: '', odd: { 'sequence.jsonl': {} } });
  for (const [folder, message] of [
    ['taken', /Cannot write to taken: it exists and is not a folder\./],
    ...(existsSync('/proc/self')
      ? [['/proc/deeper', /Cannot write to \/proc\/deeper: no folder can be created there\./] as const]
      : []),
    ['taken/deeper', /Cannot write taken\/deeper: a part of the path is not a folder\./],
    ['odd', /Cannot write odd\/sequence\.jsonl: the path is a folder\./],
  ] as const) {
    const { status, stderr } = await run(['resolve', 'start.obj', 'free.obj', '--sequence', '-o', folder], { cwd });
    t.equal(status, 2, folder);
    t.match(stderr, message);
  }
});

t.test('two frames with one name are refused, even with one of the same number between them', async (t) => {
  t.throws(() => orderFrames(['a/f1.obj', 'b/f01.obj', 'c/f1.obj']), { message: /Two frames .* as f1\.obj/ });
  t.throws(() => orderFrames(['a/f1.obj', 'c/F1.OBJ']), { message: /Two frames/ }, 'they are one file on some disks');
  t.throws(() => orderFrames(['a/f1.gltf', 'c/f1.glb']), { message: /Two frames .* as f1\.glb/ });
});

t.test('a frame that is missing is a mistake of the command line, before anything is computed', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {} }));
  rmSync(join(cwd, 'in/f10.obj'));
  const { status, stderr } = await run(argv(), { cwd });
  t.equal(status, 2, stderr);
  t.match(stderr, /Cannot read in\/f10\.obj: the file does not exist/);
  t.notOk(existsSync('out/f1.obj'));
});

t.test('the files that a .gltf frame refers to are part of it', async (t) => {
  const gltf = { buffers: [{ uri: 'my%20frame.bin' }, { uri: 'data:;base64,AAAA' }], images: [{ uri: 'skin.png' }] };
  const cwd = t.testdir({ 'f1.gltf': JSON.stringify(gltf), 'f2.obj': '', 'my frame.bin': 'one', 'broken.gltf': '{' });
  const frames = orderFrames([join(cwd, 'f1.gltf'), join(cwd, 'f2.obj')]);
  const keys = await keysOf(frames, {});
  t.same(await keysOf(frames, {}), keys);
  writeFileSync(join(cwd, 'my frame.bin'), 'two');
  const changed = await keysOf(frames, {});
  t.not(changed[0], keys[0], 'its positions');
  t.not(changed[1], keys[1], 'and every later frame starts from them');
  writeFileSync(join(cwd, 'skin.png'), 'red');
  t.not((await keysOf(frames, {}))[0], changed[0], 'an image goes into the answer');
  t.equal((await hashesOf(join(cwd, 'broken.gltf'))).length, 2, 'what is no glTF is refused when it is read');
});

t.test('the shape at rest of a sequence may be a morph target', async (t) => {
  const cwd = writeFrames(t.testdir({ in: {}, 'rest.glb': 'one' }));
  const [morph, hash] = await hashesOf(join(cwd, 'rest.glb#Relaxed'));
  t.equal(morph, 'Relaxed');
  t.equal(hash, (await hashesOf(join(cwd, 'rest.glb')))[1]);
});
