import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeFolder } from '../src/folders.js';

t.test('missing folders are created with their mode, and existing ones stay as they are', async (t) => {
  const folder = t.testdir();
  makeFolder(`${join(folder, 'b', 'c')}/`, 0o700);
  t.equal(statSync(join(folder, 'b')).mode & 0o777, 0o700);
  t.equal(statSync(join(folder, 'b', 'c')).mode & 0o777, 0o700);
  makeFolder(join(folder, 'b'));
  t.equal(statSync(join(folder, 'b')).mode & 0o777, 0o700);
});

t.test('a path through a file, or of one, is refused', async (t) => {
  const file = join(t.testdir(), 'file');
  writeFileSync(file, '');
  t.throws(() => makeFolder(file), { code: 'EEXIST' });
  t.throws(() => makeFolder(join(file, 'deeper')), { code: 'ENOTDIR' });
});

const skip = existsSync('/proc/self') ? false : 'this system has no /proc';

t.test('where a file system creates no folders, the attempt ends', { skip }, async (t) => {
  t.throws(() => makeFolder('/proc/interstice'), { code: 'ENOENT' });
  t.throws(() => makeFolder('/proc/interstice/deeper'), { code: 'ENOENT' });
});
