import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { scatteredSheet } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { rmsOf, STRETCH_ROUNDING, stretchOf } from '../../support/nearness.js';
import { seeded } from '../../support/random.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

/** How far the rms may be above that of the reference engine: runs of a hundred steps end in other minima. */
const RMS_FACTOR = 1.1;

if (!engine) t.test('the pull-back of the GPU engine: scattered targets', options, async () => undefined);
else {
  t.test('if targets are scattered it follows Algorithm 1, and comes as near as the reference engine', async (t) => {
    const { mesh, start, target } = scatteredSheet(12, 4, seeded(20261122)).build();
    const fast = await resolveJudged(engine, mesh, start, target, { quality: 'FAST' });
    const balanced = await resolveJudged(engine, mesh, start, target, { quality: 'BALANCED' });
    const reference = await resolveJudged(createCpuEngine(), mesh, start, target, { quality: 'BALANCED' });
    t.equal(balanced.intersections + balanced.collisions, 0, 'safe');
    const { steps, pullBack } = balanced.resolution;
    t.same(pullBack?.before, fast.resolution.positions, 'it begins with the answer of FAST');
    t.equal(steps - (pullBack?.steps ?? 0), fast.resolution.steps);
    t.ok(steps <= 2 * fast.resolution.steps, `${steps} steps, FAST ${fast.resolution.steps}`);
    const [near, far, expected] = [rmsOf(balanced, target), rmsOf(fast, target), rmsOf(reference, target)];
    t.ok(near < far, `rms ${near}, FAST ${far}`);
    t.ok(near <= RMS_FACTOR * expected, `rms ${near}, the reference ${expected}`);
    t.ok(stretchOf(balanced, target) <= 1.1 * (1 + STRETCH_ROUNDING), `stretch ${stretchOf(balanced, target)}`);
  });
}
