import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { writeWhole } from '../../bench/whole-file.js';

t.test('a result is written as a whole or not at all', async (t) => {
  const folder = t.testdir({ 'a.json': 'old' });
  symlinkSync('a.json', join(folder, 'link'));
  writeWhole(join(folder, 'link'), 'new');
  t.equal(readFileSync(join(folder, 'a.json'), 'utf8'), 'new');
  t.ok(lstatSync(join(folder, 'link')).isSymbolicLink());
  mkdirSync(join(folder, 'b'));
  t.throws(() => writeWhole(join(folder, 'b'), 'new'), { code: 'EISDIR' });
  t.throws(() => writeWhole(join(folder, 'no', 'c.json'), 'new'), { code: 'ENOENT' });
  t.strictSame(readdirSync(folder), ['a.json', 'b', 'link'], 'no draft is left');
});
