import t from 'tap';
import { readSettings, UsageError } from '../../../bench/load/settings.js';

t.test('without flags it sweeps the CPU engine at every door', async (t) => {
  t.match(readSettings([]), {
    scenarios: ['sweep'],
    engine: 'cpu',
    concurrency: [1, 4, 16],
    doors: ['http', 'unary', 'stream'],
    seconds: 5,
    triangles: 1_000_000,
  });
  t.equal(readSettings(['--help']), 'HELP');
});

t.test('lists are split', async (t) => {
  const args = ['--scenario', 'fairness, mixed', '--sessions', '8,64', '--door', 'stream', '--out', ''];
  t.match(readSettings(args), { scenarios: ['fairness', 'mixed'], sessions: [8, 64], doors: ['stream'], out: '' });
});

t.test('arguments without a meaning are refused with their flag', async (t) => {
  const wrong: readonly [string, string][] = [
    ['--scenario', 'sweep,nothing'],
    ['--engine', 'gpu'],
    ['--seconds', '0'],
    ['--vertices', '1e3'],
    ['--sessions', '4,'],
    ['--door', 'ftp'],
  ];
  for (const [flag, value] of wrong) {
    t.throws(
      () => readSettings([flag, value]),
      { constructor: UsageError, message: new RegExp(flag) },
      `${flag} ${value}`,
    );
  }
  t.throws(() => readSettings(['--unknown']), { constructor: UsageError, message: /unknown/ });
});
