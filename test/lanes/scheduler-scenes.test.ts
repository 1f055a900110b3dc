import t from 'tap';
import type { IntersticeError } from '../../src/contract/errors.js';
import type { SceneState } from '../../src/jobs/tasks.js';
import { Scheduler } from '../../src/lanes/scheduler.js';
import { LIMITS, refusalOf, spike } from '../support/job.js';
import { committed, openTask, sceneOf, stepTask } from '../support/scenes.js';
import { CLAIM, flyer, resolve, schedulerOf, started } from '../support/schedulers.js';

t.test('small jobs run beside a heavy one, and heavy ones wait for each other', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessForManyEngine', { threads: 1, heavyElements: 1 });
  const abort = new AbortController();
  const { running, hooks } = started();
  const huge = resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal });
  await running;
  const next = resolve(scheduler, spike(1, 0.5), { signal: abort.signal });
  const { mesh, start } = flyer();
  const request = { mesh, start, target: flyer(1).start, parameters: {} };
  for (let k = 0; k < 3; k++) t.equal((await resolve(scheduler, request)).report.status, 'CONVERGED');
  t.equal(scheduler.runningCount, 1);
  t.equal(scheduler.waitingCount, 1, 'half of one thread is still one heavy lane, and no more');
  abort.abort();
  for (const work of [huge, next]) t.equal((await refusalOf(work)).code, 'CANCELLED');
});

t.test('the bytes that lanes keep for their next jobs are counted, and freed with the last session', async (t) => {
  const scheduler = new Scheduler({
    engine: { module: new URL('../../src/solver/cpu/engine.js', import.meta.url).href, factory: 'createCpuEngine' },
    limits: LIMITS,
    allowUnverified: false,
    threads: 1,
    maxQueue: 4,
  });
  t.teardown(() => scheduler.close());
  t.equal(scheduler.sharedBytes, 0);
  const request = spike(0.25, 0);
  const scene = sceneOf(request);
  await scheduler.open(openTask(scene), { claim: CLAIM });
  const { target } = spike(0.25, 0.2);
  await scheduler.step(stepTask(scene, target), { claim: CLAIM });
  t.ok(scheduler.sharedBytes > target.byteLength, 'mailbox, image and what the engine computes in');
  await scheduler.park(scene.key);
  t.equal(scheduler.sharedBytes, 0);
  await scheduler.step(stepTask(scene, target), { claim: CLAIM });
  t.ok(scheduler.sharedBytes > target.byteLength);
  await scheduler.forget(scene.key);
  t.equal(scheduler.sharedBytes, 0);
});

t.test('a session is opened, stepped, parked, stepped again and forgotten', async (t) => {
  const scheduler = schedulerOf(t, 'createMortalEngine');
  let scene = sceneOf(flyer());
  const { summary, resolved } = await scheduler.open(openTask(scene), { claim: CLAIM });
  t.match(summary, { vertices: 3, triangles: 1, components: 1, contentHash: /^[0-9a-f]{64}$/ });
  const delta = resolved.activationDistance;
  for (const x of [1, 2, 3, 4]) {
    const task = stepTask(
      scene,
      flyer(x).start.map((value) => value * x),
    );
    const answer = await scheduler.step(task, { claim: CLAIM });
    t.same(answer.positions, task.target);
    t.equal(answer.report.resolved.activationDistance, delta, 'not from the grown triangle, parked or not');
    t.notOk(answer.report.sessionRebuilt, 'parking is no loss');
    scene = committed(scene, task, answer.positions);
    if (x === 2) await scheduler.park(scene.key);
  }
  t.equal(scheduler.sceneCount, 1);
  await scheduler.forget(scene.key);
  t.equal(scheduler.sceneCount, 0);
  await scheduler.forget(scene.key);
});

t.test('an open that is refused has no effect', async (t) => {
  const scheduler = schedulerOf(t, 'createMortalEngine');
  const error = await refusalOf(scheduler.open(openTask(sceneOf(spike(-0.1, 0))), { claim: CLAIM }));
  t.equal(error.code, 'INTERSECTING_START');
  t.equal(scheduler.sceneCount, 0);
});

t.test('steps of one session run in order, one at a time, on the lane of its scene', async (t) => {
  const scheduler = schedulerOf(t, 'createMortalEngine', { threads: 2, maxQueue: 20 });
  const scene = sceneOf(flyer());
  await scheduler.open(openTask(scene), { claim: CLAIM });
  const order: number[] = [];
  let state: SceneState = scene;
  const steps = Array.from({ length: 6 }, async (_, k) => {
    const task = stepTask({ ...state }, flyer(k / 8).start);
    state = { ...state, stateVersion: task.nextVersion, start: task.target };
    const { positions } = await scheduler.step(task, {
      claim: { ...CLAIM, priority: k % 2 ? 'BATCH' : 'INTERACTIVE' },
    });
    t.same(positions, task.target);
    order.push(k);
  });
  t.equal(scheduler.runningCount, 1, 'though a second thread stands idle');
  await Promise.all(steps);
  t.same(order, [0, 1, 2, 3, 4, 5]);
});

/** A scene whose session has accepted a step. */
const steppedScene = (): SceneState => ({ ...sceneOf(flyer()), stateVersion: 1 });

t.test(
  'a thread that dies fails its step; another thread runs the waiting steps and builds the scenes again',
  async (t) => {
    const lost: IntersticeError[] = [];
    const scheduler = schedulerOf(t, 'createMortalEngine', {
      onWorkerLost: (reason) => lost.push(reason),
      maxQueue: 9,
    });
    const [victim, neighbour] = [steppedScene(), steppedScene()];
    for (const scene of [victim, neighbour]) await scheduler.open(openTask(scene), { claim: CLAIM });
    const dying = scheduler.step(stepTask(victim, flyer(70).start), { claim: CLAIM });
    const after = scheduler.step(stepTask(victim, flyer(1).start), { claim: CLAIM });
    const beside = scheduler.step(stepTask(neighbour, flyer(2).start), { claim: CLAIM });
    t.match(await refusalOf(dying), { code: 'DEVICE_LOST', retryable: true, message: /ended with code 7/ });
    const answer = await after;
    t.same(answer.positions, flyer(1).start);
    t.ok(answer.report.sessionRebuilt);
    t.ok((await beside).report.sessionRebuilt);
    t.equal(lost.length, 1);
    const scene = { ...victim, stateVersion: 2, start: answer.positions };
    const again = await scheduler.step(stepTask(scene, flyer(2).start), { claim: CLAIM });
    t.notOk(again.report.sessionRebuilt, 'said once');
  },
);

for (const [what, ask] of [
  ['saved', (scheduler: Scheduler, key: number) => scheduler.save(key)],
  ['parked', (scheduler: Scheduler, key: number) => scheduler.park(key)],
] as const) {
  t.test(
    `a scene that was lost with its thread says so in its next step, even if it was to be ${what} in the meantime`,
    async (t) => {
      const scheduler = schedulerOf(t, 'createMortalEngine', { maxQueue: 9 });
      const scene = steppedScene();
      await scheduler.open(openTask(scene), { claim: CLAIM });
      const dying = scheduler.step(stepTask(scene, flyer(70).start), { claim: CLAIM });
      const asked = ask(scheduler, scene.key);
      t.equal((await refusalOf(dying)).code, 'DEVICE_LOST');
      t.notOk(await asked, 'there is nothing left of it');
      const answer = await scheduler.step(stepTask(scene, flyer(1).start), { claim: CLAIM });
      t.ok(answer.report.sessionRebuilt);
    },
  );
}

t.test('a scene says that it was lost also if its thread ends while the states of its step are read', async (t) => {
  let hear: (reason: IntersticeError) => void = () => {};
  const lost = new Promise<IntersticeError>((resolve) => {
    hear = resolve;
  });
  const scheduler = schedulerOf(t, 'createSoonMortalEngine', { onWorkerLost: (reason) => hear(reason) });
  const scene = steppedScene();
  await scheduler.open(openTask(scene), { claim: CLAIM });
  const dying = scheduler.step(stepTask(scene, flyer(70).start), {
    claim: CLAIM,
    onState: async () => void (await lost),
  });
  t.equal((await refusalOf(dying)).code, 'DEVICE_LOST');
  t.ok((await scheduler.step(stepTask(scene, flyer(1).start), { claim: CLAIM })).report.sessionRebuilt);
});

t.test('a scene that was lost says so until a step that says so is accepted', async (t) => {
  const scheduler = schedulerOf(t, 'createMortalEngine', { maxQueue: 9 });
  const scene = steppedScene();
  await scheduler.open(openTask(scene), { claim: CLAIM });
  t.equal((await refusalOf(scheduler.step(stepTask(scene, flyer(70).start), { claim: CLAIM }))).code, 'DEVICE_LOST');
  const late = stepTask(scene, flyer(1).start, { nextVersion: 3 });
  t.ok((await scheduler.step(late, { claim: CLAIM })).report.sessionRebuilt);
  // Its answer came too late, so the session did not take it.
  const next = stepTask(scene, flyer(2).start, { nextVersion: 4 });
  const { positions, report } = await scheduler.step(next, { claim: CLAIM });
  t.ok(report.sessionRebuilt);
  const last = stepTask(committed(scene, next, positions), flyer(3).start, { nextVersion: 5 });
  t.notOk((await scheduler.step(last, { claim: CLAIM })).report.sessionRebuilt);
});

t.test('a scene that dies in its first step has no earlier frames to lose', async (t) => {
  const scheduler = schedulerOf(t, 'createMortalEngine', { maxQueue: 9 });
  const scene = sceneOf(flyer());
  await scheduler.open(openTask(scene), { claim: CLAIM });
  t.equal((await refusalOf(scheduler.step(stepTask(scene, flyer(70).start), { claim: CLAIM }))).code, 'DEVICE_LOST');
  const task = stepTask(scene, flyer(1).start);
  const { positions, report } = await scheduler.step(task, { claim: CLAIM });
  t.notOk(report.sessionRebuilt);
  const next = stepTask(committed(scene, task, positions), flyer(2).start);
  t.notOk((await scheduler.step(next, { claim: CLAIM })).report.sessionRebuilt);
});

for (const [reason, factory] of [
  ['for lack of memory', 'createShortOfMemoryEngine'],
  ['because of a fault', 'createFaultySaveEngine'],
] as const) {
  t.test(`a scene that cannot be saved ${reason} is freed all the same, and its next step says so`, async (t) => {
    const scheduler = schedulerOf(t, factory);
    let scene = sceneOf(flyer());
    await scheduler.open(openTask(scene), { claim: CLAIM });
    for (const [x, isRebuilt] of [
      [1, false],
      [2, true],
      [3, true],
      [4, false],
    ] as const) {
      const task = stepTask(scene, flyer(x).start);
      const answer = await scheduler.step(task, { claim: CLAIM });
      t.equal(answer.report.sessionRebuilt, isRebuilt);
      scene = committed(scene, task, answer.positions);
      if (x < 3) await scheduler.park(scene.key);
    }
    await scheduler.forget(scene.key);
    t.equal(scheduler.sceneCount, 0);
  });
}
