import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import type { Engine } from '../../../src/solver/engine.js';
import { openTestEngine } from '../../support/gpu.js';
import {
  examplePair,
  expectNearReference,
  resolveExample,
  rmsOf,
  STRETCH_ROUNDING,
  stretchOf,
} from '../../support/nearness.js';
import { shareOf } from '../../support/share.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());
const cpu = createCpuEngine();

/**
 * How far the rms of this engine may be above that of the reference engine: contacts are swept in another order, so
 * that long runs end in other minima.
 */
const RMS_FACTOR = 1.05;

if (!engine) t.test('the pull-back of the GPU engine: the examples', options, async () => undefined);
else {
  t.test(
    'the examples are as near as the answers of the reference engine, and no edge exceeds its limit',
    async (t) => {
      for (const name of shareOf(['layers', 'hair', 'solid', 'spike', 'sleeve'], 3)) {
        const { target } = examplePair(name);
        const judged = await resolveExample(engine, name, 'BALANCED');
        const expected = await resolveExample(cpu, name, 'BALANCED');
        t.equal(judged.intersections + judged.collisions, 0, `${name}: safe`);
        t.equal(judged.resolution.status, 'CONVERGED', name);
        // The limit is σ = 1.1 in float32, relative to a rest length of the target as the caller sends it.
        const stretch = stretchOf(judged, target);
        t.ok(stretch <= 1.1 * (1 + STRETCH_ROUNDING), `${name}: stretch ${stretch}`);
        const [near, reference] = [rmsOf(judged, target), rmsOf(expected, target)];
        t.ok(near <= RMS_FACTOR * reference, `${name}: rms ${near}, the reference ${reference}`);
      }
    },
  );

  t.test('answers are about as near to their targets as the references', (t) =>
    expectNearReference(t, engine, shareOf(['layers', 'spike', 'hair', 'solid', 'sleeve'], 3)),
  );

  t.test('FINE comes as near as FINE of the reference engine', async (t) => {
    const { target } = examplePair('solid');
    const rms = async (of: Engine, quality: 'BALANCED' | 'FINE'): Promise<number> =>
      rmsOf(await resolveExample(of, 'solid', quality), target);
    const [fine, balanced, reference] = [
      await rms(engine, 'FINE'),
      await rms(engine, 'BALANCED'),
      await rms(cpu, 'FINE'),
    ];
    t.ok(fine <= RMS_FACTOR * reference, `rms ${fine}, the reference ${reference}`);
    t.ok(fine <= 1.01 * balanced, `rms ${fine}, BALANCED ${balanced}`);
  });

  t.test('if the host searches, answers are as near', async (t) => {
    const opened = await openTestEngine('HOST');
    const { target } = examplePair('hair');
    const judged = await resolveExample(opened.engine as Engine, 'hair', 'BALANCED');
    const expected = await resolveExample(engine, 'hair', 'BALANCED');
    await opened.engine?.close();
    t.equal(judged.intersections + judged.collisions, 0);
    t.equal(judged.resolution.status, expected.resolution.status);
    const [near, reference] = [rmsOf(judged, target), rmsOf(expected, target)];
    t.ok(near <= RMS_FACTOR * reference, `rms ${near}, with its own search ${reference}`);
  });
}
