import { spawnSync } from 'node:child_process';
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';

const folder = t.testdir({ 'other.txt': 'something else' });

const checker = join(projectRoot, 'checker', 'certificate.mjs');

const run = (program: string, ...argv: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
};

const check = (...argv: string[]) => run(checker, ...argv);

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

t.test('it checks under any name, and only where it is started', async (t) => {
  // As a browser calls a second download; a link on the search path.
  const copy = join(folder, 'certificate (1).mjs');
  copyFileSync(checker, copy);
  const link = join(folder, 'confirm');
  symlinkSync(checker, link);
  for (const program of [copy, link])
    t.match(run(program, 'other.txt'), { status: 1, stdout: /refused: 1 problem\n/, stderr: '' }, program);
  // A program that has its name, or the end of it, and imports it.
  for (const name of ['certificate.mjs', 'e.mjs']) {
    const importer = join(folder, name);
    writeFileSync(importer, `import ${JSON.stringify(pathToFileURL(checker).href)};\nconsole.log('mine');\n`);
    t.strictSame(run(importer, 'other.txt'), { status: 0, stdout: 'mine\n', stderr: '' }, name);
  }
});
