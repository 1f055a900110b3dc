import t, { type Test } from 'tap';
import ts from 'typescript';
import { SABOTAGE } from '../../../bench/prove/failures/sabotage.js';
import { GPU_MUTANTS } from '../../../bench/prove/mutants/gpu-mutants.js';
import { MUTED_PROBE } from '../../../bench/prove/mutants/mutant.js';
import { MUTANTS } from '../../../bench/prove/mutants/mutants.js';
import { misfits, type Plant, plantInto, readBuilt } from '../../../bench/prove/mutants/planting.js';
import { GENERATED } from '../../../bench/prove/scenes/generated.js';
import { TANGLED_STARTS } from '../../../bench/prove/untangling/tangled-starts.js';

function syntaxErrorsOf(file: string, text: string): unknown[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS);
  const { parseDiagnostics } = source as ts.SourceFile & { readonly parseDiagnostics: readonly ts.Diagnostic[] };
  return parseDiagnostics.map(({ messageText }) => messageText);
}

/** Every fault fits, changes its file, and leaves a module that can be parsed. */
function assertFits(t: Test, { name, faults }: Plant): void {
  t.same(misfits({ name, faults }), []);
  for (const file of new Set(faults.map((fault) => fault.file))) {
    const built = readBuilt(file);
    const ofFile = faults.filter((fault) => fault.file === file);
    if (ofFile.length > 1) for (const fault of ofFile) t.not(plantInto(file, built, [fault]), built);
    const planted = plantInto(file, built, ofFile);
    t.not(planted, built);
    if (file.endsWith('.js')) t.same(syntaxErrorsOf(file, planted), []);
  }
}

for (const mutant of [...MUTANTS, ...GPU_MUTANTS]) {
  t.test(`${mutant.name} can be planted: ${mutant.description}`, async (t) => {
    assertFits(t, { ...mutant, faults: [...mutant.faults, MUTED_PROBE] });
    const scenes = mutant.mode === 'UNTANGLE' ? TANGLED_STARTS : GENERATED;
    for (const scene of mutant.scenes) t.ok(scenes[scene], scene);
    t.ok(mutant.caughtBy.length > 0);
  });
}

t.test('the ways to break a service from outside can be planted', async (t) => {
  for (const plant of Object.values<Plant>(SABOTAGE)) assertFits(t, plant);
});
