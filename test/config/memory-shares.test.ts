import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { memoryBytes } from '../../src/config/machine.js';
import { divideMemory } from '../../src/config/memory-shares.js';

const GiB = 2 ** 30;
const sizes = [0.5, 1, 2, 3, 4, 8, 12, 16, 24, 28, 32, 64, 256, 2048].map((size) => size * GiB);

t.test('all shares together are less than the memory, and none is larger than it is needed', async (t) => {
  for (const memory of sizes) {
    const { bodies, sessions, jobs, queue, work, pairs, scenes } = divideMemory(memory);
    const sum = bodies + sessions + jobs + 2 * queue + work + scenes;
    t.ok(sum < memory, `${memory / GiB} GiB: ${(sum / GiB).toFixed(2)}`);
    t.ok(bodies <= 4 * GiB && sessions <= 4 * GiB && pairs <= 4 * GiB && jobs <= GiB && queue <= GiB);
    t.ok(work <= memory / 2);
    t.ok(pairs <= work, 'a request with as many pairs as are allowed finds room');
    for (const share of [bodies, sessions, jobs, queue, work, pairs, scenes])
      t.ok(Number.isSafeInteger(share) && share >= 2 ** 24, `${share} of ${memory}`);
  }
});

t.test('more memory makes no share smaller', async (t) => {
  const shares = sizes.map(divideMemory);
  for (const [k, larger] of shares.slice(1).entries()) {
    for (const name of Object.keys(larger) as (keyof typeof larger)[])
      t.ok(larger[name] >= shares[k]![name], `${name} of ${sizes[k + 1]! / GiB} GiB`);
  }
});

t.test('a large machine gives each use as much as it can need', async (t) => {
  const { scenes, ...others } = divideMemory(64 * GiB);
  t.same(others, {
    bodies: 4 * GiB,
    sessions: 4 * GiB,
    jobs: GiB,
    queue: GiB,
    work: 32 * GiB,
    pairs: 4 * GiB,
  });
  t.ok(scenes > 20 * GiB);
});

t.test('a container of 8 GiB', async (t) => {
  t.match(divideMemory(8 * GiB), { bodies: 2 * GiB, sessions: GiB, jobs: GiB / 2, queue: GiB / 4, scenes: GiB });
});

t.test('the settings have these defaults, until they are set', async (t) => {
  const shares = divideMemory(memoryBytes());
  t.match(readConfig({}), {
    maxBodyBytes: shares.bodies,
    maxSessionBytes: shares.sessions,
    maxJobBytes: shares.jobs,
    maxQueueBytes: shares.queue,
    maxWorkBytes: shares.work,
    maxPairBytes: shares.pairs,
    maxSceneBytes: shares.scenes,
  });
  for (const [INTERSTICE_MAX_DEVICE_BYTES, maxDeviceBytes] of [
    ['0', 0],
    ['1000', 1000],
  ] as const)
    t.match(readConfig({ INTERSTICE_MAX_DEVICE_BYTES }), { maxSceneBytes: 0, limits: { maxDeviceBytes } });
  t.match(readConfig({ INTERSTICE_MAX_DEVICE_BYTES: 'auto' }), { maxSceneBytes: shares.scenes });
  t.throws(() => readConfig({ INTERSTICE_MAX_DEVICE_BYTES: 'off' }), /, or auto/);
});
