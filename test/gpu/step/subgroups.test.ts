import t from 'tap';
import { requestOf } from '../../../examples/resolve-scene.js';
import { SCENES } from '../../../examples/scenes/index.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { CASES } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';
import { shareOf } from '../../support/share.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine(undefined, { subgroups: false });
const { engine: together } = engine ? await openTestEngine(undefined, { subgroups: true }) : {};
t.teardown(() => Promise.all([engine?.close(), together?.close()]));

/** Meshes with more vertices than one workgroup sweeps, and more contacts than it makes all rounds of. */
const LARGE = ['layers', 'sleeve'].map((scene) => {
  const { mesh, start, target } = requestOf(SCENES[scene](3_400));
  return { name: `${scene} of 3400`, mesh, start: Float64Array.from(start), target: Float64Array.from(target) };
});

const MIXED = CASES.filter(({ name }) => name === 'cloth, rods, sand and a solid');

const FEW_STEPS = 6;

const RUNS: readonly {
  readonly subjects: readonly Pick<(typeof CASES)[number], 'name' | 'mesh' | 'start' | 'target' | 'parameters'>[];
  readonly asked: ParametersInput;
}[] = [
  { subjects: CASES.slice(0, 12), asked: { quality: 'FAST', stepLimit: 40 } },
  { subjects: CASES.slice(0, 4), asked: { quality: 'BALANCED', stepLimit: 30 } },
  // Pairs of every kind, some of which leave slots unused.
  { subjects: MIXED, asked: { quality: 'FAST', contact: 'VOLUME', stepLimit: 20 } },
  { subjects: MIXED, asked: { quality: 'BALANCED', contact: 'VOLUME', stepLimit: 20 } },
  { subjects: LARGE, asked: { quality: 'FAST', stepLimit: FEW_STEPS } },
  { subjects: LARGE, asked: { quality: 'BALANCED', stepLimit: FEW_STEPS } },
];

if (!engine || !together) t.test('kernels with and without subgroups', options, async () => undefined);
else {
  for (const { subjects, asked } of RUNS) {
    for (const { name, mesh, start, target, parameters } of shareOf(subjects, 3)) {
      t.test(`${name}, ${asked.quality}: kernels of cards and of processors give the same bytes`, async (t) => {
        const own = { ...asked, ...parameters };
        const [alone, counted] = await Promise.all(
          [engine, together].map(async (each) => (await openCase(each, mesh, start, target, own)).resolve()),
        );
        t.ok(alone.steps > 0 || alone.status === 'CONVERGED');
        t.strictSame(alone.positions, counted.positions);
        t.strictSame(alone.residuals, counted.residuals);
        t.strictSame(
          [alone.steps, alone.pairs, alone.limitingPairs],
          [counted.steps, counted.pairs, counted.limitingPairs],
        );
      });
    }
  }
}
