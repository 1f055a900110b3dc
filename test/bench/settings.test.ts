import t from 'tap';
import { main } from '../../bench/run.js';
import { readSettings, UsageError } from '../../bench/settings.js';

t.test('settings have defaults', async (t) => {
  t.match(readSettings([]), {
    engines: ['cpu'],
    isWhole: false,
    suite: undefined,
    minutes: 10,
    scenes: ['layers'],
    vertices: [],
    repeat: 3,
    warmUp: 1,
    out: undefined,
  });
});

t.test('lists and numbers are read', async (t) => {
  const settings = readSettings(['--scene', 'layers, hair', '--vertices', '10000,40000', '--repeat', '5', '--out', '']);
  t.match(settings, { scenes: ['layers', 'hair'], vertices: [10000, 40000], repeat: 5, out: '' });
});

t.test('engines, --whole, and the time of a suite are read', async (t) => {
  t.match(readSettings(['--engine', 'cpu, webgpu,cpu']), { engines: ['cpu', 'webgpu'], isWhole: false });
  t.match(readSettings(['--engine', 'webgpu', '--whole']), { engines: ['webgpu'], isWhole: true });
  t.match(readSettings(['--suite', 'hardware', '--minutes', '3']), { suite: 'hardware', minutes: 3 });
});

t.test('seeds of a suite are a range or one number', async (t) => {
  t.same(readSettings(['--suite', 'untangle'])?.seeds, [1, 3]);
  t.same(readSettings(['--suite', 'untangle', '--seeds', '26-50', '--scene', 'cuff'])?.seeds, [26, 50]);
  t.same(readSettings(['--suite', 'untangle', '--seeds', '7'])?.seeds, [7, 7]);
});

t.test('the suite of answers has scenes, qualities and references of its own', async (t) => {
  t.match(readSettings(['--suite', 'fidelity']), { scenes: [], qualities: ['FAST', 'BALANCED'], isReference: false });
  t.match(readSettings(['--suite', 'fidelity', '--scene', 'dress-x8, hair/held', '--quality', 'FINE', '--reference']), {
    scenes: ['dress-x8', 'hair/held'],
    qualities: ['FINE'],
    isReference: true,
  });
});

t.test('without a suite there is one quality at most', async (t) => {
  t.same(readSettings([])?.qualities, []);
  t.same(readSettings(['--whole', '--quality', 'FAST'])?.qualities, ['FAST']);
});

t.test('all means every scene, and the dress only if its data exists', async (t) => {
  const without = readSettings(['--scene', 'all'])?.scenes ?? [];
  t.equal(without.includes('dress'), process.env.INTERSTICE_DATA !== undefined);
  t.ok((readSettings(['--scene', 'all', '--data', 'somewhere'])?.scenes ?? []).includes('dress'));
});

t.test('arguments without a meaning are refused by name', async (t) => {
  for (const [argv, message] of [
    [['--scene', 'lakes'], /"lakes".*layers/],
    [['--engine', 'cpu,abacus'], /cpu.*"abacus"/],
    [['--engine', 'cpu,webgpu', '--whole'], /--whole.*one engine/],
    [['--suite', 'moon'], /hardware.*"moon"/],
    [['--suite', 'hardware', '--whole'], /--suite.*--whole/],
    [['--suite', 'fidelity', '--scene', 'lakes'], /"lakes".*dress-x8/],
    [['--suite', 'fidelity', '--quality', 'BEST'], /--quality.*"BEST"/],
    [['--quality', 'FAST,FINE'], /--quality.*one quality/],
    [['--vertices', '10k'], /--vertices.*"10k"/],
    [['--repeat', '0'], /--repeat.*at least 1/],
    [['--seeds', '9-3'], /--seeds.*"9-3"/],
    [['--seeds', '1-3-9'], /--seeds.*"1-3-9"/],
    [['--seeds', '0-3'], /--seeds.*at least 1/],
    [['--sizes', '3'], /--sizes/],
    [['stray'], /stray/],
  ] as const) {
    try {
      readSettings(argv);
      t.fail(`${argv.join(' ')} was taken`);
    } catch (thrown) {
      if (!(thrown instanceof UsageError)) throw thrown;
      t.match(thrown.message, message, argv.join(' '));
    }
  }
});

t.test('usage errors are exit code 2', async (t) => {
  t.equal(await main(['--scene', 'lakes']), 2);
});
