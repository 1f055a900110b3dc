import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { openAdapter } from '../../../gpu/device/adapter.js';
import type { GpuScene } from '../../../gpu/scene.js';
import { stackSwap } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';

// A software driver compiles every kernel when an engine opens, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const SCENES = 500;
/** The first scenes fill the caches of the driver, the binding and V8. */
const SETTLING = 150;
/** Permitted growth of the resident set over the other scenes; leaked scenes would take over four times as much. */
const GROWTH_BYTES = 24 * 2 ** 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const { engine, options } = await openTestEngine(undefined, { open: openAdapter });
t.teardown(() => engine?.close());

if (!engine) t.test('the GPU engine', options, async () => undefined);
else {
  t.test(`${SCENES} scenes opened, resolved and closed leave nothing behind`, async (t) => {
    const { mesh, start, target } = stackSwap(2).build();
    const base = engine.memoryBudget.total;
    const residentBytes = async (): Promise<number> => {
      for (let n = 0; n < 3; n++) {
        collect();
        // Finalizers of the binding run in later turns.
        await new Promise(setImmediate);
      }
      return process.memoryUsage.rss();
    };
    let settled = 0;
    let sceneBytes = 0;
    for (let n = 0; n < SCENES; n++) {
      const { scene, resolve } = await openCase(engine, mesh, start, target, { stepLimit: 1 });
      await resolve();
      sceneBytes += scene.bytes;
      scene.close();
      if (n === SETTLING) {
        settled = await residentBytes();
        sceneBytes = 0;
      }
    }
    const growth = (await residentBytes()) - settled;
    t.equal(engine.memoryBudget.total, base);
    t.ok(growth < GROWTH_BYTES, `the process grew by ${growth} bytes`);
    t.ok(sceneBytes > 4 * GROWTH_BYTES, `kept, the scenes would have taken ${sceneBytes}`);
    t.comment(`grew by ${growth} bytes over ${SCENES - SETTLING} scenes of ${sceneBytes} bytes together`);
  });

  t.test('a lost device is freed with its kernels once another has replaced it', async (t) => {
    const { mesh, start, target } = stackSwap(2).build();
    const lose = async (): Promise<WeakRef<GPUDevice>> => {
      const { scene } = await openCase(engine, mesh, start, target);
      const { device } = (scene as GpuScene).memory;
      device.destroy();
      await device.lost;
      scene.close();
      return new WeakRef(device);
    };
    const lost = await lose();
    const { scene, resolve } = await openCase(engine, mesh, start, target);
    await resolve();
    scene.close();
    for (let n = 0; lost.deref() && n < 20; n++) {
      await new Promise(setImmediate);
      collect();
    }
    t.equal(lost.deref(), undefined);
  });
}
