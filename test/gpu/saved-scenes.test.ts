import t from 'tap';
import { openSpecialEngine, openTestEngine } from '../support/gpu.js';
import { compare, motionOf } from '../support/parked-sessions.js';
import { seeded } from '../support/random.js';
import { DirectSession } from '../support/scenes.js';

/** Scenes on a device that are read, closed and opened again between steps, against scenes that stay open. */

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

const motion = motionOf('layers', 120);

if (!engine) t.test('scenes that are read from a device', options, async () => undefined);
else {
  const kinds = [{ quality: 'FAST' }, { quality: 'BALANCED' }, { preset: 'PAPER', stepLimit: 12 }] as const;
  for (const parameters of kinds) {
    t.test(`${JSON.stringify(parameters)}: opened again, a scene continues with the same bytes`, async (t) => {
      t.ok((await compare(t, motion, parameters, () => engine)) > 0, 'pairs of one frame served the next');
      t.equal(engine.memoryBudget.total, 0, 'the memory of the copies is free again');
    });
  }

  t.test('the same with rods and grains, and if buffers had to grow, parked before any of the frames', async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}`);
    const small = await openSpecialEngine(t, { firstPairs: 16, firstCandidates: 4 });
    for (const scene of ['layers', 'hair', 'sand']) {
      await compare(
        t,
        motionOf(scene, 60),
        { quality: 'FAST' },
        () => small,
        () => random() < 0.6,
      );
    }
  });

  t.test('pairs that were excluded once remain excluded', async (t) => {
    const { mesh, start, frames } = motion;
    // Its layers have been pushed through each other.
    const crossed = start.map((x, i) => x + 0.55 * (frames[6]![i]! - x));
    const parameters = { quality: 'FAST', onIntersectingStart: 'IGNORE_PAIRS' } as const;
    await compare(t, { mesh, start: crossed, frames: frames.slice(4) }, parameters, () => engine);
  });

  t.test('if the device has no room for copies the pairs are lost, and the report says so once', async (t) => {
    const limit = 2 ** 26;
    const full = await openSpecialEngine(t, { maxDeviceBytes: limit });
    const session = new DirectSession(motion, full);
    await session.open({ quality: 'FAST' });
    await session.step(motion.frames[0]!);
    const rest = limit - full.memoryBudget.total;
    full.memoryBudget.take('something else', rest);
    await session.park();
    full.memoryBudget.give('something else', rest);
    t.match(session.saved, { isSceneLost: true, scene: undefined });
    t.equal((await session.step(motion.frames[1]!)).report.sessionRebuilt, true);
    t.equal((await session.step(motion.frames[2]!)).report.sessionRebuilt, false);
  });
}
