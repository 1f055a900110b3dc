import t from 'tap';
import { CASES } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(300_000);

const { engine, options } = await openTestEngine(undefined, { subgroups: false });
const { engine: together } = engine ? await openTestEngine(undefined, { subgroups: true }) : {};
t.teardown(() => Promise.all([engine?.close(), together?.close()]));

if (!engine || !together) t.test('counters with and without subgroups', options, async () => undefined);
else {
  for (const { name, mesh, start, target, parameters } of CASES.slice(0, 12)) {
    t.test(`${name}: the bytes are the same whether threads count alone or by subgroups`, async (t) => {
      const own = { stepLimit: 40, ...parameters };
      const [alone, counted] = await Promise.all(
        [engine, together].map(async (each) => (await openCase(each, mesh, start, target, own)).resolve()),
      );
      t.strictSame(alone.positions, counted.positions);
      t.strictSame(alone.residuals, counted.residuals);
      t.strictSame(
        [alone.steps, alone.pairs, alone.limitingPairs],
        [counted.steps, counted.pairs, counted.limitingPairs],
      );
    });
  }
}
