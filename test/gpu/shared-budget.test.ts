import t from 'tap';
import { BYTES_PER_PAIR } from '../../src/solver/pair-budget.js';
import { ByteAccount } from '../../src/threads/account.js';
import { here } from '../../src/threads/here.js';
import { stackSwap } from '../solver/cases.js';
import { openSpecialEngine, openTestEngine } from '../support/gpu.js';
import { refusalOf } from '../support/job.js';
import { openCase } from '../support/open-case.js';

// A software driver compiles every kernel when an engine opens, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
await engine?.close();

if (!engine) t.test('the GPU engine', options, async () => undefined);
else {
  t.test('Pairs beyond the bytes of a request are refused as on the CPU.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    const limit = 500;
    const engine = await openSpecialEngine(t, { firstPairs: 16, maxPairBytes: limit * BYTES_PER_PAIR });
    const { scene, x, resolve } = await openCase(engine, mesh, start, target, { activationDistance: 0.02 });
    const refusal = await refusalOf(resolve());
    t.equal(refusal.code, 'TOO_LARGE');
    const [found, demand, pairs, capacity] = refusal.message.match(/\d+/g)!.map(Number);
    t.ok(found! > limit, refusal.message);
    t.strictSame([demand, pairs, capacity], [found! * BYTES_PER_PAIR, limit, limit * BYTES_PER_PAIR]);
    t.equal((await scene.resolve({ x, y: x })).status, 'CONVERGED', 'the scene goes on');
  });

  t.test('A request that is refused during an allocation leaves no bytes counted.', async (t) => {
    const { mesh, start, target } = stackSwap(4).build();
    const limit = 2 ** 26;
    const engine = await openSpecialEngine(t, { maxDeviceBytes: limit });
    // Enough for none, one and several of the buffers of a first search.
    for (const left of [0, 600, 2_000, 6_000]) {
      const { scene, resolve } = await openCase(engine, mesh, start, target);
      const opened = scene.bytes;
      const others = limit - engine.memoryBudget.total - left;
      engine.memoryBudget.take('others', others);
      t.equal((await refusalOf(resolve())).code, 'OUT_OF_DEVICE_MEMORY', `${left} bytes`);
      t.equal(scene.bytes, opened, 'what was allocated before the refusal is free again');
      engine.memoryBudget.give('others', others);
      t.equal((await resolve()).status, 'CONVERGED', 'the same request, once there is room');
      scene.close();
      t.equal(engine.memoryBudget.total, 0, `${left} bytes`);
    }
  });

  t.test('Engines of several threads share one limit, including work in progress.', async (t) => {
    const { mesh, start, target } = stackSwap(8).build();
    const alone = await openSpecialEngine(t, { firstPairs: 1 });
    const opened = await openCase(alone, mesh, start, target);
    const atFirst = opened.scene.bytes;
    await opened.resolve();
    const grown = opened.scene.bytes;
    opened.scene.close();
    // Room for one that has worked beside one that has not.
    const limit = grown + atFirst + Math.floor((grown - atFirst) / 2);
    here.device = new ByteAccount(undefined, limit);
    t.teardown(() => {
      here.device = undefined;
    });
    const [one, two] = [await openSpecialEngine(t, { firstPairs: 1 }), await openSpecialEngine(t, { firstPairs: 1 })];
    const first = await openCase(one, mesh, start, target);
    const second = await openCase(two, mesh, start, target);
    await first.resolve();
    const refusal = await refusalOf(second.resolve());
    t.equal(refusal.code, 'OUT_OF_DEVICE_MEMORY');
    t.ok(refusal.retryable);
    t.match(refusal.message, new RegExp(`of the ${limit} that may be used`));
    t.ok(here.device.total <= limit);
    t.equal(here.device.total, one.memoryBudget.total + two.memoryBudget.total);
    first.scene.close();
    t.equal((await second.resolve()).status, 'CONVERGED', 'the same request, once there is room');
    second.scene.close();
    t.equal(here.device.total, one.memoryBudget.total + two.memoryBudget.total);
  });
}
