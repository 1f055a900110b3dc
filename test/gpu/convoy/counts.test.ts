import t from 'tap';
import { openAdapter } from '../../../gpu/device/adapter.js';
import type { GpuScene } from '../../../gpu/scene.js';
import { stackSwap } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { refusalOf } from '../../support/job.js';
import { openCase } from '../../support/open-case.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine(undefined, { open: openAdapter, convoy: { scenes: 8, delay: 0 } });
t.teardown(() => engine?.close());

t.test('Counts of scenes that submit together survive the loss of their device.', options, async (t) => {
  const { mesh, start, target } = stackSwap(4).build();
  const open = () => openCase(engine!, mesh, start, target, { stepLimit: 3 });
  t.match(engine!.convoyCounts, { submissions: 0, parts: 0, dispatches: 0, launches: 0 }, 'nothing yet');
  const first = await open();
  await first.resolve();
  const before = engine!.convoyCounts!;
  t.ok(before.submissions > 0 && before.dispatches > 0);
  (first.scene as GpuScene).memory.device.destroy();
  t.equal((await refusalOf(first.resolve())).code, 'DEVICE_LOST');
  first.scene.close();
  const second = await open();
  const between = engine!.convoyCounts!;
  t.ok(between.parts >= before.parts && between.launches >= before.launches);
  await second.resolve();
  const after = engine!.convoyCounts!;
  // The same work again, and what the lost device was asked for in vain.
  t.ok(after.parts >= 2 * before.parts && after.launches >= 2 * before.launches);
  second.scene.close();
});
