import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { writeWhole } from '../../bench/whole-file.js';
import { projectRoot } from '../../src/paths.js';

const moduleUrl = pathToFileURL(join(projectRoot, 'dist', 'bench', 'whole-file.js')).href;

t.test('a file is written into new folders, and replaced where a link leads', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'deeper', 'result.json');
  writeWhole(file, 'one');
  symlinkSync(file, join(folder, 'link.json'));
  writeWhole(join(folder, 'link.json'), 'two');
  t.equal(readFileSync(file, 'utf8'), 'two');
  t.ok(lstatSync(join(folder, 'link.json')).isSymbolicLink());
  t.strictSame(readdirSync(join(folder, 'deeper')), ['result.json']);
});

t.test('what is no regular file is written to', async (t) => {
  const write = `import(${JSON.stringify(moduleUrl)}).then(({ writeWhole }) => writeWhole('/dev/stdout', 'text'))`;
  const { stdout, stderr } = spawnSync('sh', ['-c', `${process.execPath} -e "$1" | cat`, 'sh', write], {
    encoding: 'utf8',
  });
  t.equal(stdout, 'text', stderr);
});

t.test('a run that ends in the middle leaves the earlier file', async (t) => {
  const file = join(t.testdir(), 'result.json');
  writeFileSync(file, 'earlier');
  const write = `import(${JSON.stringify(moduleUrl)}).then(({ writeWhole }) => writeWhole(${JSON.stringify(file)}, 'x'.repeat(2 ** 20)))`;
  // The system ends the process, or refuses, at the limit of the size of a file: 64 blocks of at most 1 KiB.
  const { status } = spawnSync('sh', ['-c', `ulimit -f 64; exec ${process.execPath} -e "$1"`, 'sh', write]);
  t.not(status, 0);
  t.equal(readFileSync(file, 'utf8'), 'earlier');
});

t.test('what examples and rivals leave behind is written whole', async (t) => {
  // The frames of a run are appended to, and its state is replaced by renaming; both are read again by the next run.
  const own = /^examples\/solver\/(runner\/(cache|follow)|test\/.*)\.ts$/;
  const files = ['examples', 'bench/rivals'].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const sources = files.filter((name) => name.endsWith('.ts') && !own.test(name));
  t.ok(sources.length > 50, `${sources.length} sources`);
  for (const name of sources)
    t.notMatch(
      readFileSync(join(projectRoot, name), 'utf8'),
      /writeFile|copyFile|WriteStream|\.toFile\(|path: out/,
      name,
    );
});
