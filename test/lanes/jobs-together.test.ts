import t from 'tap';
import { refusalOf, spike } from '../support/job.js';
import { committed, openTask, sceneOf, stepTask } from '../support/scenes.js';
import { CLAIM, flyer, resolve, schedulerOf } from '../support/schedulers.js';

const request = (x: number) => {
  const { mesh, start } = flyer(x);
  return { mesh, start, target: flyer(x + 1).start, parameters: {} };
};

t.test('A lane runs as many small jobs at once as its engine takes, and a large one alone.', async (t) => {
  const scheduler = schedulerOf(t, 'createMeetingEngine', { maxQueue: 20 });
  await scheduler.hello();
  const answers = [
    ...[0, 1, 2].map((x) => resolve(scheduler, request(x))),
    // Small ones that come after it do not start before it, or it might wait for ever.
    resolve(scheduler, spike(1, 0.5)),
    ...[3, 4, 5].map((x) => resolve(scheduler, request(x))),
  ];
  t.equal(scheduler.runningCount, 3);
  t.equal(scheduler.waitingCount, 4);
  for (const { report } of await Promise.all(answers)) t.equal(report.status, 'CONVERGED');
});

t.test('Small jobs behind a large one need places in the queue, and start when it is withdrawn.', async (t) => {
  const scheduler = schedulerOf(t, 'createMeetingEngine', { maxQueue: 2 });
  await scheduler.hello();
  const [abort, withdrawal] = [new AbortController(), new AbortController()];
  const { signal } = abort;
  const small = (x: number) => refusalOf(resolve(scheduler, request(x), { signal }));
  const work = [small(0)];
  const large = refusalOf(resolve(scheduler, spike(1, 0.5), { signal: withdrawal.signal }));
  work.push(small(1));
  t.equal(scheduler.runningCount, 1, 'the lane has room for two more, but not before the large one');
  t.equal(scheduler.waitingCount, 2);
  t.match(await small(2), { code: 'QUEUE_FULL', message: /^2 requests are waiting already/, retryable: true });
  t.equal(scheduler.waitingCount, 2, 'the refused one left nothing behind');
  withdrawal.abort();
  t.equal((await large).code, 'CANCELLED');
  t.equal(scheduler.runningCount, 2);
  t.equal(scheduler.waitingCount, 0);
  t.equal(scheduler.waitingBytes, 0);
  abort.abort();
  for (const one of work) t.equal((await one).code, 'CANCELLED');
});

t.test('Scenes that go together share a lane, and each keeps its own order and target.', async (t) => {
  const scheduler = schedulerOf(t, 'createMeetingEngine', { threads: 2, maxQueue: 20 });
  await scheduler.hello();
  const scenes = [0, 1, 2].map((x) => sceneOf({ mesh: flyer(x).mesh, start: flyer(x).start }));
  await Promise.all(scenes.map((scene) => scheduler.open(openTask(scene), { claim: CLAIM })));
  for (const frame of [1, 2, 3]) {
    const steps = scenes.map(async (scene, n) => {
      const target = flyer(10 * n + frame).start;
      const task = stepTask(scene, target);
      const { positions } = await scheduler.step(task, { claim: CLAIM });
      t.strictSame([...positions], [...target], `scene ${n}, frame ${frame}`);
      scenes[n] = committed(scene, task, positions);
    });
    // On different lanes none of them would ever meet two others.
    await Promise.all(steps);
  }
});
