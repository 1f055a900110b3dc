import t from 'tap';
import type { JobPreflight } from '../../src/lanes/scheduler.js';
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

t.test('A lane that has just started takes jobs that arrived meanwhile as soon as its engine is known.', async (t) => {
  const scheduler = schedulerOf(t, 'createMeetingEngine', { maxQueue: 2 });
  const answers = [0, 1, 2].map((x) => resolve(scheduler, request(x)));
  t.equal(scheduler.waitingCount, 2);
  // None of them ends before all three are there.
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

t.test('Saving a large scene waits until the lane is free, and saving a small one does not.', async (t) => {
  const scheduler = schedulerOf(t, 'createMeetingEngine', { maxQueue: 20 });
  await scheduler.hello();
  const scenes = { large: sceneOf(spike(1, 0.5)), small: sceneOf(flyer()) };
  for (const scene of Object.values(scenes)) await scheduler.open(openTask(scene), { claim: CLAIM });
  const abort = new AbortController();
  const work = refusalOf(resolve(scheduler, request(0), { signal: abort.signal }));
  const small = scheduler.save(scenes.small.key);
  t.same([scheduler.runningCount, scheduler.waitingCount], [2, 0]);
  const large = [scheduler.save(scenes.large.key), scheduler.park(scenes.large.key)];
  t.same([scheduler.runningCount, scheduler.waitingCount], [2, 2]);
  t.ok(await small);
  t.same([scheduler.runningCount, scheduler.waitingCount], [1, 2]);
  abort.abort();
  t.equal((await work).code, 'CANCELLED');
  await scheduler.close();
  await Promise.all(large);
});

t.test('The preflight counts places, not lanes.', async (t) => {
  const scheduler = schedulerOf(t, 'createMeetingEngine', { maxQueue: 0 });
  await scheduler.hello();
  const scene = sceneOf(flyer());
  await scheduler.open(openTask(scene), { claim: CLAIM });
  const passes = (ahead: number, known: Partial<JobPreflight>) => {
    try {
      scheduler.preflight({ tenant: 'a', isForScene: true, ...known, ahead: { count: ahead, bytes: 0 } });
      return true;
    } catch (thrown) {
      t.match(thrown, { code: 'QUEUE_FULL' });
      return false;
    }
  };
  const small = { mesh: scene.mesh };
  const large = { mesh: spike(1, 0.5).mesh };
  const ofSession = { session: scene.key };
  const unknown = { isForScene: true };
  const atMost = (known: Partial<JobPreflight>) => [0, 1, 2, 3].filter((ahead) => passes(ahead, known)).length;
  t.same([small, ofSession, unknown, large].map(atMost), [3, 3, 3, 1], 'the lane is idle');
  const work = refusalOf(resolve(scheduler, request(0)));
  t.same([small, ofSession, unknown, large].map(atMost), [2, 2, 2, 0], 'a small job runs');
  await scheduler.close();
  t.equal((await work).code, 'DRAINING');
});

t.test('Jobs side by side share the time of their lane, which predicts the end of the next one.', async (t) => {
  let now = 0n;
  t.intercept(process.hrtime, 'bigint', { value: () => now });
  const scheduler = schedulerOf(t, 'createMeetingEngine', { maxQueue: 0 });
  await scheduler.hello();
  const answers = [0, 1, 2].map((x) => resolve(scheduler, request(x)));
  t.equal(scheduler.runningCount, 3);
  now += 30_000_000_000n;
  await Promise.all(answers);
  const large = resolve(scheduler, spike(1, 0.5));
  const { retryAfterSeconds } = await refusalOf(resolve(scheduler, request(0)));
  // The mean of 1 s, which is assumed at first, and of three times 10 s: each of the three took a third of half a minute.
  t.equal(retryAfterSeconds, Math.ceil(0.8 ** 3 * 1 + (1 - 0.8 ** 3) * 10));
  await large;
});

t.test('If small jobs run together, one lane is enough unless more are requested.', async (t) => {
  const runningOf = async (threads: number | undefined): Promise<number> => {
    const scheduler = schedulerOf(t, 'createMeetingEngine', { threads, maxQueue: 20 });
    await scheduler.hello();
    const answers = [0, 1, 2, 3, 4, 5].map((x) => resolve(scheduler, request(x)));
    const ended = Promise.allSettled(answers);
    const { runningCount } = scheduler;
    await scheduler.close();
    await ended;
    return runningCount;
  };
  t.equal(await runningOf(undefined), 3);
  // What the second thread takes at once is not known before it has opened its engine.
  t.equal(await runningOf(2), 4);
});

t.test('Scenes that run together share a lane, and each keeps its own order and target.', async (t) => {
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
