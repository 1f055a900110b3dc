import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';

const folder = t.testdir({ 'other.txt': 'something else' });

const check = (...argv: string[]) => {
  const checker = join(projectRoot, 'checker', 'certificate.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [checker, ...argv], { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
};

const usage = /^usage: node certificate\.mjs FILE\n$/m;

t.test('a wrong command line has the usage and an exit code that is no verdict', async (t) => {
  for (const argv of [[], ['--help'], ['other.txt', 'one-more']])
    t.match(check(...argv), { status: 2, stdout: '', stderr: usage }, argv.join(' '));
  for (const name of ['nowhere.certificate', '.']) {
    const { status, stdout, stderr } = check(name);
    t.match({ status, stdout, stderr }, { status: 2, stdout: '', stderr: usage });
    t.match(stderr, `Cannot read ${name}: `);
    t.notMatch(stderr, /^ +at /m, 'no stack trace');
  }
});

t.test('a file that is no certificate is refused', async (t) => {
  t.match(check('other.txt'), {
    status: 1,
    stdout: /does not begin with ISTCERT1\.\nrefused: 1 problem\n/,
    stderr: '',
  });
});
