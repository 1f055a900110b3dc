import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { READ } from '../support/fake-engine.js';
import { openTask, sceneOf, stepTask } from '../support/scenes.js';
import { CLAIM, ENGINES, flyer, schedulerOf } from '../support/schedulers.js';

t.test('a thread that closes while a parked scene is read from its device ends after the read', async (t) => {
  const shared = new SharedArrayBuffer(4 * Object.keys(READ).length);
  const marks = new Int32Array(shared);
  const happened = async (place: number) => {
    while (Atomics.load(marks, place) === 0) await sleep(1);
  };
  const engine = { module: ENGINES, factory: 'createHeldReadEngine', options: { shared }, closesFirst: true };
  const scheduler = schedulerOf(t, '', { engine });
  const scene = sceneOf(flyer());
  await scheduler.open(openTask(scene), { claim: CLAIM });
  await scheduler.step(stepTask(scene, flyer(1).start), { claim: CLAIM });
  const parked = scheduler.park(scene.key);
  await happened(READ.began);
  const closed = scheduler.close();
  await happened(READ.engineClosed);
  t.equal(Atomics.load(marks, READ.ended), 0, 'the device is closed in the middle of the read');
  Atomics.store(marks, READ.mayEnd, 1);
  await closed;
  t.equal(Atomics.load(marks, READ.ended), 1, 'the thread has not been ended before');
  t.type(await parked, 'number', 'and who asked for it is answered');
});
