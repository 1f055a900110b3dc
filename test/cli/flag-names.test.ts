import t from 'tap';
import { run } from './in-process.js';
import { twoSheets } from './sheets.js';

t.test('errors name what the user wrote: a flag of the command line, or a field of the options file', async (t) => {
  const cwd = t.testdir({
    's.obj': twoSheets(0.004, 0),
    't.obj': twoSheets(-0.004, 0),
    'options.json': '{"parameters": {"stepLimit": 0}}',
    'delta.json': '{"parameters": {"activationDistance": 0.002}}',
    'empty.json': '{}',
  });
  const pair = ['resolve', 's.obj', 't.obj'];
  const cases: readonly (readonly [argv: readonly string[], said: RegExp, notSaid?: RegExp])[] = [
    [[...pair, '--step-limit', '0'], /: --step-limit is 0; .*\n +hint +.*leave it out/, /stepLimit|field/],
    [[...pair, '--damping', '2'], /: --damping is 2;/],
    [[...pair, '--quality', 'fine', '--preset', 'paper'], /: --quality is FINE; .* under preset PAPER/],
    [[...pair, '--contact-offset', '1'], /: --contact-offset is 1; .* at most --activation-distance/],
    [
      [...pair, '--activation-distance', '1e-12'],
      /--activation-distance 1e-12 is smaller[\s\S]*Ask for an --activation-distance/,
    ],
    [[...pair, '--kinematic-from', '99'], /: --kinematic-from is 99/],
    [[...pair, '--time-budget', '0'], /: --time-budget is 0 s/],
    [[...pair, '--rest', 's.obj', '--strain-max', '0.5'], /limits of --strain-min, --strain-max are/, /mesh\./],
    [[...pair, '--threads', '0'], /1 problem:\n- --threads is "0"/],
    [['check', 's.obj', '--closer-than', '0'], /--closer-than is 0/],
    [['check', 's.obj', '--max-pairs', '99999'], /--max-pairs is 99999/],
    [['doctor', 's.obj', '--max-elements', '99999'], /--max-elements is 99999/],
    [['untangle', 's.obj', '--max-iterations', '0'], /: --max-iterations is 0/],
    [['untangle', 's.obj', '--max-displacement', '0'], /: --max-displacement is 0/],
    [['untangle', 's.obj', '--turn', '9'], /: --turn names contour 9/],
    [['serve', '--http-port', 'x'], /- --http-port is "x"/],
    [['key', 'ab', '--priority', 'x'], /--priority .* argument 'x' is invalid/],
    // What came from the file has the name that it has there.
    [[...pair, '--options', 'options.json'], /: stepLimit is 0;/, /--step-limit/],
    [[...pair, '--options', 'empty.json', '--step-limit', '0'], /: --step-limit is 0;/],
    [
      [...pair, '--options', 'delta.json', '--contact-offset', '1'],
      /: --contact-offset is 1; .* at most activationDistance/,
    ],
  ];
  for (const [argv, said, notSaid] of cases) {
    const { status, stderr } = await run(argv, { cwd });
    t.not(status, 0);
    t.match(stderr, said, argv.join(' '));
    if (notSaid) t.notMatch(stderr, notSaid, argv.join(' '));
  }
  const env = { INTERSTICE_THREADS: '0' };
  t.match((await run(pair, { cwd, env })).stderr, /- INTERSTICE_THREADS is "0"/, 'a variable of the environment');
  const { stdout } = await run([...pair, '--step-limit', '0', '--json'], { cwd });
  t.match(JSON.parse(stdout).detail, /^stepLimit is 0;/, 'scripts read the names of the contract');
});
