import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';

const RUNNER = '../examples/solver/runner';
const run = (program: string, flags: readonly string[]) =>
  spawnSync(process.execPath, [join(projectRoot, 'dist', 'bench', program), ...flags], { encoding: 'utf8' });

t.test('a mistake in the flags of a measurement is told with its help', async (t) => {
  for (const [program, flags, words] of [
    ['plan/main.js', ['--nonsense'], /Unknown option '--nonsense'/],
    ['plan/main.js', ['--lanes', 'two'], /--lanes is two; it must be a whole number above 0/],
    ['cluster/main.js', ['--worker', '2'], /Unknown option '--worker'/],
    ['page/main.js', ['--nonsense'], /Unknown option '--nonsense'/],
    ['page/main.js', ['--vertices', 'many'], /--vertices is many; it must be a whole number above 0/],
    ['page/main.js', ['--budget', '0'], /--budget is 0; it must be a number above 0/],
    ['page/main.js', ['--scene', 'nowhere'], /There is no scene nowhere/],
    ['answers/main.js', ['--nonsense'], /Unknown option '--nonsense'/],
    ['answers/main.js', ['--engine', 'cpu,gpu'], /--engine takes cpu and webgpu, not gpu/],
    ['bounds/main.js', ['--nonsense'], /Unknown option '--nonsense'/],
    ['bounds/main.js', ['--seed', 'x'], /--seed is x; it must be a whole number/],
    ['bounds/main.js', ['--seconds', '-1'], /--seconds/],
    ['bounds/main.js', ['--only', 'no such bound'], /No bound has "no such bound"/],
    [`${RUNNER}/publish.js`, ['--nonsense'], /Unknown option '--nonsense'/],
    [`${RUNNER}/isometric.js`, ['--frames', '0'], /--frames is 0; it must be a whole number above 0/],
    [`${RUNNER}/isometric.js`, ['--coupling', 'loose'], /--coupling is one of /],
    [`${RUNNER}/repair.js`, ['--good', 'x'], /--good is x; it must be a whole number above 0/],
    [`${RUNNER}/repair.js`, ['--scene', 'nowhere'], /--scene is one of /],
    [`${RUNNER}/trajectories.js`, ['--scene', 'blade'], /--scene is one of spin-0/],
    ['cluster/main.js', ['--workers', '1'], /--workers is 1; it must be at least 2/],
    ['cluster/main.js', ['--fsync', 'sometimes'], /--fsync is sometimes; it must be one of everysec, always/],
    ['cluster/cost.js', ['--steps', '4'], /--steps is 4; it must be at least 5/],
    ['cluster/cost.js', ['--fsync', 'no'], /--fsync is no; it must be one of everysec, always/],
    ['rivals/main.js', ['--frame'], /SECONDS is --frame; it must be a number above 0/],
  ] as const) {
    const { status, stderr, stdout } = run(program, flags);
    t.equal(status, 2, `${program} ${flags.join(' ')}`);
    t.match(stderr, words);
    t.notMatch(stderr, /\n {4}at /, 'no trace of the stack');
    t.equal(stdout, '');
  }
});
