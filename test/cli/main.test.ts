import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CliContext } from '../../src/cli/backend.js';
import { EXIT_MEANINGS } from '../../src/cli/exit-codes.js';
import { flagNameOf, PARAMETER_FLAGS } from '../../src/cli/parameter-flags.js';
import { buildProgram } from '../../src/cli/program.js';
import type { Parameters } from '../../src/contract/parameters.js';
import { packageVersion, projectRoot } from '../../src/paths.js';
import { run } from './in-process.js';
import { main } from './main-program.js';

const triangle = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n';

t.test('--version prints the version of the package', async (t) => {
  t.match(main(['--version']), { status: 0, stdout: `${packageVersion}\n`, stderr: '' });
});

t.test('--help teaches the method, the commands, the exit codes and examples', async (t) => {
  const { status, stdout, stderr } = main(['--help']);
  t.equal(status, 0);
  t.equal(stderr, '');
  for (const word of [
    'backward',
    'forward',
    'Kinematic vertices',
    'resolve',
    'check',
    'serve',
    'bench',
    'Exit codes',
  ]) {
    t.match(stdout, word);
  }
  for (const code of [0, 1, 2, 3, 4, 5, 130]) t.match(stdout, new RegExp(`^ +${code}  \\w`, 'm'), `exit code ${code}`);
  t.match(stdout, 'interstice resolve start.obj target.obj -o answer.obj');
});

t.test('resolve --help tells unit, default and range of every parameter', async (t) => {
  const { status, stdout } = await run(['resolve', '--help']);
  t.equal(status, 0);
  const text = stdout.replace(/\s+/g, ' ');
  for (const [field, row] of Object.entries(PARAMETER_FLAGS)) {
    t.match(text, `--${flagNameOf(field as keyof Parameters)} <`, field);
    t.match(text, `default: ${row.defaultText}`, `default of ${field}`);
    if (row.range !== '') t.match(text, `range: ${row.range}`, `range of ${field}`);
  }
  const longest = Math.max(...stdout.split('\n').map((line) => line.length));
  t.ok(longest <= 110, `longest line: ${longest}`);
});

t.test('certify tests paths by default, and its help says so', async (t) => {
  for (const [command, fallback] of [
    ['certify', 'path'],
    ['resolve', 'state'],
  ] as const) {
    const { stdout } = await run([command, '--help']);
    t.match(stdout.replace(/\s+/g, ' '), new RegExp(`--verify <[^>]*> [^(]*\\(default: ${fallback}\\)`), command);
  }
});

t.test('the help of a flag names only flags that its command has', async (t) => {
  const program = buildProgram({ terminal: { out: {}, err: {} } } as unknown as CliContext, () => undefined);
  let named = 0;
  for (const command of program.commands) {
    const flags = command.options.map(({ long }) => long);
    for (const { long, description } of command.options) {
      for (const [flag] of description.matchAll(/--[a-z][a-z-]*/g)) {
        named++;
        t.ok(flags.includes(flag), `${command.name()} ${long} names ${flag}`);
      }
    }
  }
  t.ok(named > 10, `${named} flags are named`);
});

t.test('the guide tells the same exit codes', async (t) => {
  const guide = readFileSync(join(projectRoot, 'docs', 'cli.md'), 'utf8');
  for (const [code, meaning] of EXIT_MEANINGS) t.match(guide, `| ${code} | ${meaning} |`);
});

t.test('every command has a help page', async (t) => {
  for (const command of ['check', 'serve'])
    t.match(await run([command, '--help']), { status: 0, stdout: /Usage:/ }, command);
});

t.test('without a command the help comes as an error', async (t) => {
  t.match(await run([]), { status: 2, stdout: '', stderr: /Usage: interstice/ });
});

t.test('mistakes on the command line end with 2 and say where the help is', async (t) => {
  const folder = t.testdir({
    'a.obj': triangle,
    'b.obj': triangle,
    'other.obj': triangle,
    'other.txt': 'x',
    busy: { 'mine.txt': '' },
  });
  const cases: [argv: string[], message: RegExp][] = [
    [['resolv', 'a.obj', 'b.obj'], /unknown command 'resolv'[\s\S]*Did you mean resolve/],
    [['help', 'resolv'], /unknown command 'resolv'[\s\S]*Did you mean resolve/],
    [['resolve', 'a.obj'], /missing required argument 'TARGET'[\s\S]*See interstice resolve --help/],
    [['resolve', 'a.obj', 'b.obj', 'c.obj'], /frames need --sequence/],
    [['resolve', 'a.obj', 'b.obj', '--activation-distanc', '1'], /unknown option[\s\S]*--activation-distance/],
    [['resolve', 'a.obj', 'b.obj', '--activation-distance', '1mm'], /A number is needed/],
    [['resolve', 'a.obj', 'b.obj', '--step-limit', '-3'], /A whole number is needed/],
    [['resolve', 'a.obj', 'b.obj', '--preset', 'fast'], /Choose one of: tuned, paper/],
    [['resolve', 'a.obj', 'b.obj', '-o', 'a.obj'], /would overwrite the input a\.obj/],
    ...['--rest', '--kinematic', '--options'].map((flag): [string[], RegExp] => [
      ['resolve', 'a.obj', 'b.obj', flag, 'other.obj', '-o', 'other.obj'],
      /would overwrite the input other\.obj/,
    ]),
    [
      ['certify', 'a.obj', 'b.obj', '--options', 'other.txt', '-o', 'other.txt'],
      /would overwrite the input other\.txt/,
    ],
    [['untangle', 'a.obj', '--rest', 'other.obj', '-o', 'other.obj'], /would overwrite the input other\.obj/],
    [['doctor', 'a.obj', '--kinematic', 'other.obj', '--weld-to', 'other.obj'], /would overwrite the input other\.obj/],
    [['resolve', 'a.obj', 'b.obj', '-o', 'out.stl'], /must end in \.obj, \.ply or \.glb/],
    [['resolve', 'a.obj', 'b.obj', '-o', '-'], /written to files, not to -; the name must end in \.obj/],
    [['resolve', 'a.obj', 'b.obj', '-o', 'no/out.obj'], /the folder no does not exist/],
    [['resolve', 'a.obj', 'b.obj', '-o', 'b.obj/out.obj'], /Cannot write b\.obj\/out\.obj: b\.obj is not a folder/],
    [['resolve', 'a.obj', 'b.obj', '-o', `${'n'.repeat(300)}.obj`], /: the name is too long\.\n/],
    [['resolve', 'a.obj', 'none.obj'], /Cannot read none\.obj: the file does not exist/],
    [['resolve', 'a.obj', `${'n'.repeat(300)}.obj`], /Cannot read n+\.obj: the name is too long/],
    [['resolve', 'a.obj', 'b.obj', '--options', 'none.json'], /Cannot read none\.json/],
    [['resolve', 'a.obj', 'b.obj', '--kinematic', 'none.txt'], /Cannot read none\.txt: the file does not exist\.\n/],
    [
      ['resolve', 'a.obj', 'b.obj', '--kinematic', '4-'],
      /the file does not exist\. --kinematic takes a file .* --kinematic-from N/,
    ],
    [['resolve', 'a.obj', 'b.obj', '--trace', 'busy'], /it contains mine\.txt/],
    [['resolve', 'a.obj', 'b.obj', '--trace', 'a.obj'], /is not a folder/],
    [['resolve', 'a.obj', 'b.obj', '--server', 'http://h', '--trace', 't'], /--trace cannot be used with --server/],
    [['resolve', 'a.obj', 'b.obj', '--server', 'http://h', '--threads', '2'], /--threads cannot be used with --server/],
    [['resolve', 'a.obj', 'b.obj', '--api-key-file', 'a.obj'], /--api-key-file needs --server/],
    [['resolve', 'a.obj', 'b.obj', '--server', 'here'], /--server needs a URL/],
    [['check', 'a.obj', '--server', 'http://h', '--engine', 'cpu'], /--engine cannot be used with --server/],
    [['check'], /missing required argument 'MESH'[\s\S]*See interstice check --help/],
    [['serve', '--http-port', 'x'], /--http-port is "x"/],
    [['serve', 'something'], /too many arguments/],
  ];
  for (const [argv, message] of cases) {
    t.match(await run(argv, { cwd: folder }), { status: 2, stdout: '', stderr: message }, argv.join(' '));
  }
  t.strictSame(readdirSync(folder).sort(), ['a.obj', 'b.obj', 'busy', 'other.obj', 'other.txt'], 'nothing was written');
});

t.test('the help of a command can be asked for in two ways', async (t) => {
  const page = await run(['resolve', '--help']);
  t.same(await run(['help', 'resolve']), page);
  t.same(await run(['help']), await run(['--help']));
  t.equal(page.status, 0);
});

t.test('the help says which time budget applies if none is given', async (t) => {
  for (const command of ['resolve', 'explain', 'untangle']) {
    const { stdout } = await run([command, '--help']);
    t.match(
      stdout.replace(/\s+/g, ' '),
      /within this time \(default: none; with --server that of the service;/,
      command,
    );
  }
});

t.test('a setting that is wrong is a matter of the command that reads it', async (t) => {
  const folder = t.testdir({ 'a.obj': triangle });
  for (const command of ['check', 'doctor']) {
    const { status, stderr } = await run([command, 'a.obj', '--engine', 'steam'], { cwd: folder });
    t.match({ status, stderr }, { status: 2, stderr: `See interstice ${command} --help.` });
  }
});

t.test('the process ends with the exit code', async (t) => {
  const folder = t.testdir({ 'a.obj': triangle, 'broken.obj': 'v 0 0 zero\n' });
  t.match(main(['resolve', 'a.obj', '--fast'], { cwd: folder }), { status: 2, stdout: '', stderr: /--fast/ });
  t.match(main(['check', 'broken.obj'], { cwd: folder }), { status: 3, stdout: '', stderr: /broken\.obj/ });
});

t.test('input that is refused ends with 3 and names the place', async (t) => {
  const folder = t.testdir({
    'a.obj': triangle,
    'broken.obj': 'v 0 0 zero\n',
    'more.obj': `v 9 9 9\n${triangle}`,
    'pins.txt': '0\n7\n',
    'unknown.json': '{"parameters": {"stepLimitt": 3}}',
    'no-elements.obj': 'v 0 0 0\n',
    'twice.obj': `${triangle}f 1 2 3\n`,
    'far.obj': triangle.replace('v 0 1 0', 'v 0 1e36 0'),
    'flat.obj': 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n',
    'cut.json': '{"parameters": ',
    'list.json': '[]',
  });
  const cases: [argv: string[], message: RegExp][] = [
    [['resolve', 'broken.obj', 'a.obj'], /broken\.obj[\s\S]*Line 1/],
    [['resolve', 'a.obj', 'more.obj'], /SIZE_MISMATCH: .*more\.obj/],
    [['resolve', 'a.obj', 'a.obj', '--kinematic', 'pins.txt'], /INDEX_OUT_OF_RANGE: pins\.txt, line 2: Vertex 7/],
    [['resolve', 'a.obj', 'a.obj', '--kinematic-from', '4'], /INDEX_OUT_OF_RANGE/],
    [['resolve', 'a.obj', 'a.obj', '--options', 'unknown.json'], /UNKNOWN_FIELD: .*unknown\.json.*stepLimitt/],
    [['resolve', 'a.obj', 'a.obj', '--options', 'cut.json'], /MALFORMED_BODY: cut\.json/],
    [['resolve', 'a.obj', 'a.obj', '--options', 'list.json'], /MALFORMED_BODY: list\.json/],
    [['check', 'broken.obj'], /broken\.obj[\s\S]*Line 1/],
    [['check', 'no-elements.obj'], /INVALID_MESH: no-elements\.obj: The mesh has no elements/],
    [['check', 'twice.obj'], /INVALID_MESH: twice\.obj: Triangle 1/],
    [['check', 'a.obj', 'far.obj'], /COORDINATE_RANGE: a\.obj, far\.obj: /],
    [['untangle', 'twice.obj'], /INVALID_MESH: twice\.obj: Triangle 1/],
    [['certify', 'twice.obj', 'twice.obj', '-o', 'c.certificate'], /INVALID_MESH: twice\.obj: Triangle 1/],
    [['resolve', 'a.obj', 'far.obj'], /COORDINATE_RANGE: a\.obj, far\.obj: /],
    [
      ['resolve', 'a.obj', 'a.obj', '--rest', 'flat.obj', '--strain-max', '2'],
      /INVALID_MESH: a\.obj, flat\.obj: The rest shape of triangle 0 is flat/,
    ],
    [['explain', 'twice.obj', 'twice.obj', '-o', 'r.html', '--quiet'], /INVALID_MESH: twice\.obj: Triangle 1/],
  ];
  for (const [argv, message] of cases) {
    t.match(await run(argv, { cwd: folder }), { status: 3, stdout: '', stderr: message }, argv.join(' '));
  }
});

t.test('a file is read no further than to the first vertex or element beyond the limits', async (t) => {
  const folder = t.testdir({
    'vertices.obj': `${triangle}v 1 1 1\nv broken\n`,
    'vertices2.obj': triangle,
    'elements.obj': `${triangle.replace('v 0 1 0', 'v 0 1 0\nv 1 1 0')}f 2 3 4\nf broken\n`,
  });
  const env = { INTERSTICE_MAX_VERTICES: '3', INTERSTICE_MAX_ELEMENTS: '1' };
  const tooLarge = { status: 3, stderr: /TOO_LARGE: vertices\.obj: .*at least 4 vertices; the limit is 3/ };
  for (const argv of [
    ['check', 'vertices.obj'],
    ['doctor', 'vertices.obj'],
    ['flow', 'vertices.obj', '--offset', '1'],
    ['untangle', 'vertices.obj'],
    ['resolve', 'vertices.obj', 'vertices.obj'],
    ['certify', 'vertices.obj', 'vertices.obj', '-o', 'c.certificate'],
    ['explain', 'vertices.obj', 'vertices.obj', '-o', 'r.html'],
    ['resolve', 'vertices.obj', 'vertices2.obj', '--sequence', '-o', 'out'],
  ])
    t.match(await run(argv, { cwd: folder, env }), tooLarge, argv.join(' '));
  const elements = { INTERSTICE_MAX_ELEMENTS: '1' };
  t.match(await run(['check', 'elements.obj'], { cwd: folder, env: elements }), {
    status: 3,
    stderr: /TOO_LARGE: elements\.obj: .*2 elements; the limit is 1/,
  });
  t.match(await run(['check', 'elements.obj', '--weld'], { cwd: folder, env: elements }), {
    stderr: /MALFORMED_BODY: elements\.obj/,
  });
});

t.test('with --json a refusal is a problem document on stdout as well', async (t) => {
  const folder = t.testdir({ 'broken.obj': 'v 0 0 zero\n' });
  const { status, stdout, stderr } = main(['check', 'broken.obj', '--json'], { cwd: folder });
  t.equal(status, 3);
  const problem = JSON.parse(stdout);
  t.match(problem, { status: 400, code: String, message: /broken\.obj/, hint: String });
  t.match(stderr, `error: ${problem.code}: ${problem.message}`);
});

t.test('a stack trace is shown only on request', async (t) => {
  const folder = t.testdir({ 'broken.obj': 'v 0 0 zero\n' });
  t.notMatch((await run(['check', 'broken.obj'], { cwd: folder })).stderr, /\n +at .*\.js:\d+/);
  t.match(
    (await run(['check', 'broken.obj'], { cwd: folder, env: { INTERSTICE_DEBUG: '1' } })).stderr,
    /\n +at .*\.js:\d+/,
  );
});

t.test('a service that is not there ends with 5', async (t) => {
  const folder = t.testdir({ 'a.obj': triangle });
  // Port 9 (discard) is never served on a machine of today; a refused connection is what is wanted.
  const result = await run(['check', 'a.obj', '--server', 'http://127.0.0.1:9'], { cwd: folder });
  t.match(result, { status: 5, stderr: /^error: UNREACHABLE: .*does not answer[\s\S]*interstice serve/ });
  const json = await run(['check', 'a.obj', '--json', '--server', 'http://127.0.0.1:9'], { cwd: folder });
  t.match(JSON.parse(json.stdout), { code: 'UNREACHABLE', status: 502, message: /does not answer/ });
});

t.test('the program runs where its path and the current folder are far apart', async (t) => {
  const folder = t.testdir({ deep: { 'a.obj': triangle } });
  t.equal(spawnSync(process.execPath, [main.path, '--version'], { cwd: join(folder, 'deep') }).status, 0);
});
