import t, { type Test } from 'tap';
import ts from 'typescript';
import { SABOTAGE } from '../../../bench/prove/failures/sabotage.js';
import { GPU_MUTANTS } from '../../../bench/prove/mutants/gpu-mutants.js';
import { MUTED_PROBE } from '../../../bench/prove/mutants/mutant.js';
import { MUTANTS } from '../../../bench/prove/mutants/mutants.js';
import { misfits, type Plant, plantInto, readBuilt } from '../../../bench/prove/mutants/planting.js';
import { GENERATED } from '../../../bench/prove/scenes/generated.js';

/** Every fault fits, changes its file, and leaves a module that can be parsed. */
function assertFits(t: Test, { name, faults }: Plant): void {
  t.same(misfits({ name, faults }), []);
  for (const file of new Set(faults.map((fault) => fault.file))) {
    const built = readBuilt(file);
    for (const fault of faults) if (fault.file === file) t.not(plantInto(file, built, [fault]), built);
    if (!file.endsWith('.js')) continue;
    const compilerOptions = { target: ts.ScriptTarget.ES2022, allowJs: true };
    const { diagnostics } = ts.transpileModule(plantInto(file, built, faults), {
      fileName: file,
      compilerOptions,
      reportDiagnostics: true,
    });
    t.same(diagnostics, [], file);
  }
}

for (const mutant of [...MUTANTS, ...GPU_MUTANTS]) {
  t.test(`${mutant.name} can be planted: ${mutant.description}`, async (t) => {
    assertFits(t, { ...mutant, faults: [...mutant.faults, MUTED_PROBE] });
    for (const scene of mutant.scenes) t.ok(GENERATED[scene], scene);
    t.ok(mutant.caughtBy.length > 0);
  });
}

t.test('the ways to break a service from outside can be planted', async (t) => {
  for (const plant of Object.values<Plant>(SABOTAGE)) assertFits(t, plant);
});
