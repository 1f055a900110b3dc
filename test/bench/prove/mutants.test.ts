import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { applyEdits, MUTANTS, misfits } from '../../../bench/prove/mutants.js';
import { GENERATED } from '../../../bench/prove/scenes/generated.js';

const build = fileURLToPath(new URL('../../../', import.meta.url));

for (const mutant of MUTANTS) {
  t.test(`${mutant.name} can be planted: ${mutant.fault}`, async (t) => {
    t.same(misfits(mutant, build), []);
    for (const file of new Set(mutant.edits.map((edit) => edit.file))) {
      const text = readFileSync(join(build, file), 'utf8');
      t.not(applyEdits(file, text, mutant.edits), text);
    }
    for (const scene of mutant.scenes) t.ok(GENERATED[scene], scene);
    t.ok(mutant.caughtBy.length > 0);
  });
}

t.test('a patch that no longer fits is named, not skipped', async (t) => {
  const edits = [{ file: 'src/errors.js', search: 'no such text', replacement: '' }];
  t.match(misfits({ ...MUTANTS[0], edits }, build)[0], /src\/errors\.js has 0 times: no such text/);
  t.throws(() => applyEdits('a', 'x x', [{ file: 'a', search: 'x', replacement: 'y' }]), /2 times/);
});
