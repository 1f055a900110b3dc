import t from 'tap';
import { countTurns } from '../../bench/launches/turns.js';
import { LaunchWatch } from '../../bench/launches/watch.js';
import type { GpuScene } from '../../gpu/scene.js';
import { stackSwap } from '../solver/cases.js';
import { openTestEngine } from '../support/gpu.js';
import { openCase } from '../support/open-case.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const watch = new LaunchWatch();
const plain = await openTestEngine();
const watched = await openTestEngine(undefined, { open: watch.open, watch: { usage: watch.usage } });
t.teardown(async () => {
  await plain.engine?.close();
  await watched.engine?.close();
});

t.test(
  'Turns that are counted from outside are those that the engine reports, and no answer changes.',
  plain.options,
  async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    const alone = await openCase(plain.engine!, mesh, start, target, { quality: 'FAST' });
    const answer = await alone.resolve();
    const counted = await openCase(watched.engine!, mesh, start, target, { quality: 'FAST' });
    watch.clear();
    const same = await counted.resolve();
    const launches = await watch.read();
    t.same(same.positions, answer.positions);
    t.equal(same.steps, answer.steps);
    const { ofSweep, ofStep, overContacts } = countTurns(launches, { colours: Uint32Array.of(0), wideColours: 0 });
    t.ok(ofSweep > 0, `${ofSweep} turns`);
    t.equal(ofSweep, (alone.scene as GpuScene).mostTurns);
    t.ok(ofStep >= ofSweep && overContacts >= ofStep);
    alone.scene.close();
    counted.scene.close();
  },
);
