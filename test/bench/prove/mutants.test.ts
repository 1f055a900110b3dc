import t from 'tap';
import { GPU_MUTANTS } from '../../../bench/prove/gpu-mutants.js';
import { MUTED_PROBE } from '../../../bench/prove/mutant.js';
import { MUTANTS } from '../../../bench/prove/mutants.js';
import { applyEdits, misfits, readBuilt } from '../../../bench/prove/planting.js';
import { SABOTAGE } from '../../../bench/prove/sabotage.js';
import { GENERATED } from '../../../bench/prove/scenes/generated.js';

for (const mutant of [...MUTANTS, ...GPU_MUTANTS]) {
  t.test(`${mutant.name} can be planted: ${mutant.fault}`, async (t) => {
    t.same(misfits({ ...mutant, edits: [...mutant.edits, MUTED_PROBE] }), []);
    for (const file of new Set(mutant.edits.map((edit) => edit.file))) {
      t.not(applyEdits(file, readBuilt(file), mutant.edits), readBuilt(file));
    }
    for (const scene of mutant.scenes) t.ok(GENERATED[scene], scene);
    t.ok(mutant.caughtBy.length > 0);
  });
}

t.test('the ways to break a service from outside can be planted', async (t) => {
  for (const plant of Object.values(SABOTAGE)) t.same(misfits(plant), [], plant.name);
});

t.test('a patch that no longer fits is named, not skipped', async (t) => {
  const edits = [{ file: 'src/contract/errors.js', search: 'no such text', replacement: '' }];
  t.match(misfits({ name: 'none', edits })[0], /src\/contract\/errors\.js has 0 times: no such text/);
  t.throws(() => applyEdits('a', 'x x', [{ file: 'a', search: 'x', replacement: 'y' }]), /2 times/);
});
