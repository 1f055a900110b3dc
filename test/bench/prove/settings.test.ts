import t from 'tap';
import { readSettings, UsageError } from '../../../bench/prove/settings.js';

t.test('flags are read, with data from the environment unless a flag says so', async (t) => {
  const settings = readSettings(['--seed', '7', '--minutes', '2', '--engine', 'cpu', '--only', 'a,b'], {
    INTERSTICE_DATA: 'there',
  });
  t.match(settings, { seed: 7, minutes: 2, engines: ['cpu'], only: ['a', 'b'], data: 'there' });
  t.match(readSettings(['--data', 'here'], { INTERSTICE_DATA: 'there' }), { data: 'here', engines: ['cpu', 'webgpu'] });
  t.equal(readSettings(['--help'], {}), 'HELP');
});

t.test('arguments without a meaning are refused', async (t) => {
  for (const flag of [
    '--seed=x',
    '--minutes=-1',
    '--engine=cuda',
    '--parts=all',
    '--cases=0',
    '--cases=1.5',
    '--sed=1',
  ]) {
    try {
      readSettings([flag], {});
      t.fail(`${flag} was taken`);
    } catch (error) {
      t.ok(error instanceof UsageError, flag);
    }
  }
});

t.test('--ci takes the same cases each time, unless a flag changes them', async (t) => {
  t.match(readSettings(['--ci'], {}), { seed: 2026, cases: 28, soak: 60, isHurried: true });
  t.match(readSettings(['--ci', '--seed', '9', '--soak', '5'], {}), { seed: 9, soak: 5, isHurried: true });
  t.match(readSettings([], {}), { cases: Number.POSITIVE_INFINITY, isHurried: false });
});
