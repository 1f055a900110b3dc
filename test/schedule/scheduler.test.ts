import { spawnSync } from 'node:child_process';
import t, { type Test } from 'tap';
import type { IntersticeError } from '../../src/errors.js';
import { bytesOf } from '../../src/mesh/bytes.js';
import { monotonicMs } from '../../src/schedule/clock.js';
import type { JobHooks } from '../../src/schedule/pool-job.js';
import type { SceneState } from '../../src/schedule/scene-tasks.js';
import { Scheduler, type SchedulerOptions } from '../../src/schedule/scheduler.js';
import type { ResolveRequest } from '../../src/session/types.js';
import { LIMITS, refusalOf, spike } from '../support/job.js';
import { committed, openTask, sceneOf, stepTask } from '../support/scenes.js';

const ENGINES = new URL('../support/fake-engine.js', import.meta.url).href;

const CLAIM = { tenant: 'a', priority: 'NORMAL' } as const;

function schedulerOf(t: Test, factory: string, more: Partial<SchedulerOptions> = {}): Scheduler {
  const scheduler = new Scheduler({
    engine: { module: ENGINES, factory },
    limits: LIMITS,
    allowUnverified: false,
    threads: 1,
    maxQueue: 4,
    ...more,
  });
  t.teardown(() => scheduler.close());
  return scheduler;
}

function resolve(scheduler: Scheduler, request: ResolveRequest = spike(1, 0.5), hooks: JobHooks = {}) {
  const now = monotonicMs();
  return scheduler.resolve({ request, receivedAt: now, queuedAt: now }, { claim: CLAIM, ...hooks });
}

/** Resolves once the job runs in its worker; the hooks are to be passed to it. */
function started(): { readonly running: Promise<void>; readonly hooks: JobHooks } {
  let hear = () => {};
  const running = new Promise<void>((done) => {
    hear = done;
  });
  return { running, hooks: { onProgress: () => hear() } };
}

t.test('a resolve in a worker: the answer comes back, the caller keeps its arrays', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  t.equal((await scheduler.hello()).name, 'fake');
  const request = spike(1, 0.5);
  const answer = await resolve(scheduler, request);
  t.same(answer.positions, request.target);
  t.equal(request.start.length, 18);
  t.ok(answer.report.timings.total > 0);
  t.equal(scheduler.runningCount, 0);
});

t.test('checks run on the same lanes', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  const { mesh, start } = spike(-0.1, 0);
  t.equal((await scheduler.check({ mesh, positions: start }, { claim: CLAIM })).intersectionCount, 2);
});

t.test('refusals cross the thread with all they say', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  const error = await refusalOf(resolve(scheduler, spike(-0.1, 0)));
  t.match(error, { code: 'INTERSECTING_START', pairCount: 2 });
  t.equal(error.pairs.length, 2);
  await t.resolves(resolve(scheduler), 'and the worker goes on');
});

t.test('an engine that throws fails its request with INTERNAL, and only that', async (t) => {
  const scheduler = schedulerOf(t, 'createThrowingEngine');
  t.match(await refusalOf(resolve(scheduler)), { code: 'INTERNAL', message: /the fake engine broke/ });
  t.equal((await refusalOf(resolve(scheduler, spike(-0.1, 0)))).code, 'INTERSECTING_START');
});

t.test('states arrive in order, and a slow reader holds the worker back', async (t) => {
  const scheduler = schedulerOf(t, 'createSlowEngine');
  const heights: number[] = [];
  let reading = 0;
  const answer = await resolve(scheduler, spike(1, 0.5), {
    onState: async (positions) => {
      t.equal(++reading, 1, 'one at a time');
      await new Promise(setImmediate);
      heights.push(positions[11]!);
      reading--;
    },
  });
  t.equal(heights.length, 1001);
  t.ok(heights.every((height, k) => k === 0 || height < heights[k - 1]!));
  t.equal(heights[0], 1);
  t.equal(heights.at(-1), answer.positions[11]);
});

t.test('a reader of states that never finishes does not run away: the worker waits for it', async (t) => {
  const scheduler = schedulerOf(t, 'createSlowEngine');
  const abort = new AbortController();
  let seen = 0;
  const first = new Promise<void>((hear) => {
    const work = resolve(scheduler, spike(1, 0.5), {
      signal: abort.signal,
      onState: () => {
        seen++;
        hear();
        return new Promise(() => {});
      },
    });
    work.catch(() => {});
  });
  await first;
  abort.abort();
  t.equal(seen, 1);
});

t.test('a reader that throws ends its own request, with its own reason', async (t) => {
  const scheduler = schedulerOf(t, 'createSlowEngine');
  const bad = resolve(scheduler, spike(1, 0.5), {
    onState: () => {
      throw new Error('disk full');
    },
  });
  t.match(await refusalOf(bad), { code: 'INTERNAL', message: 'disk full' });
  await t.resolves(resolve(scheduler));
  const worse = resolve(scheduler, spike(1, 0.5), {
    onProgress: () => {
      throw new Error('terminal gone');
    },
  });
  t.match(await refusalOf(worse), { message: 'terminal gone' });
  await t.resolves(resolve(scheduler));
});

t.test('progress is throttled', async (t) => {
  const scheduler = schedulerOf(t, 'createSlowEngine');
  let count = 0;
  await resolve(scheduler, spike(1, 0.5), { onProgress: () => count++ });
  t.ok(count >= 1 && count < 1000, `${count} of 1000`);
});

t.test('a running job stops when its caller goes away, and its thread is free again', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine');
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal });
  const next = resolve(scheduler, spike(-0.1, 0));
  await running;
  abort.abort();
  t.equal((await refusalOf(work)).code, 'CANCELLED');
  t.equal((await refusalOf(next)).code, 'INTERSECTING_START', 'the one thread went on to the next job');
});

t.test('a waiting job is dropped at once', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine');
  const first = new AbortController();
  const second = new AbortController();
  const { running, hooks } = started();
  const work = resolve(scheduler, spike(1, 0.5), { ...hooks, signal: first.signal });
  const waiting = resolve(scheduler, spike(1, 0.5), { signal: second.signal });
  await running;
  t.equal(scheduler.waitingCount, 1);
  second.abort();
  t.equal((await refusalOf(waiting)).code, 'CANCELLED');
  t.equal(scheduler.waitingCount, 0);
  t.equal(scheduler.runningCount, 1, 'the running one was not touched');
  first.abort();
  t.equal((await refusalOf(work)).code, 'CANCELLED');
  t.equal((await refusalOf(resolve(scheduler, spike(1, 0.5), { signal: AbortSignal.abort() }))).code, 'CANCELLED');
});

t.test('a waiting job whose budget is spent is refused while it waits', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine');
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal });
  await running;
  const late = resolve(scheduler, spike(1, 0.5), { expiresAt: monotonicMs() - 1 });
  t.match(await refusalOf(late), { code: 'DEADLINE_EXCEEDED', message: /in the queue/ });
  t.equal(scheduler.waitingCount, 0);
  abort.abort();
  await t.rejects(work);
});

t.test('a full queue refuses, and says when to come back', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine', { maxQueue: 1 });
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = [
    resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal }),
    resolve(scheduler, spike(1, 0.5), { signal: abort.signal }),
  ];
  await running;
  const error = await refusalOf(resolve(scheduler));
  t.equal(error.code, 'QUEUE_FULL');
  t.ok(error.retryable);
  t.ok((error.retryAfterSeconds ?? 0) >= 1);
  abort.abort();
  for (const one of work) t.equal((await refusalOf(one)).code, 'CANCELLED');
});

t.test('a queue that is full by bytes refuses, and says how full', async (t) => {
  const request = spike(1, 0.5);
  const bytes = bytesOf(request);
  const scheduler = schedulerOf(t, 'createEndlessEngine', { maxQueue: 9, maxQueueBytes: 2 * bytes });
  const abort = new AbortController();
  const { running, hooks } = started();
  const { signal } = abort;
  const work = [resolve(scheduler, request, { ...hooks, signal })];
  await running;
  t.equal(scheduler.waitingBytes, 0, 'what runs does not wait');
  for (let k = 0; k < 2; k++) work.push(resolve(scheduler, request, { signal }));
  t.equal(scheduler.waitingBytes, 2 * bytes);
  const error = await refusalOf(resolve(scheduler, request));
  t.match(error, { code: 'QUEUE_FULL', retryable: true });
  t.match(error.message, new RegExp(`2 requests of ${2 * bytes} bytes .* the limit, ${2 * bytes} bytes`));
  t.ok((error.retryAfterSeconds ?? 0) >= 1);
  const knock = { tenant: 'a', isForScene: false, ahead: { count: 0, bytes: 0 } };
  t.throws(() => scheduler.knock({ ...knock, bytes: 1 }), { code: 'QUEUE_FULL' });
  // A step and a check of a session keep nothing but what came with them.
  const scene = sceneOf(request);
  const check = scheduler.check(
    { mesh: scene.mesh, positions: scene.start },
    { claim: CLAIM, signal, waitingBytes: 0 },
  );
  t.equal(scheduler.waitingBytes, 2 * bytes);
  abort.abort();
  for (const one of [...work, check]) t.equal((await refusalOf(one)).code, 'CANCELLED');
  t.equal(scheduler.waitingBytes, 0);
});

t.test('whether there is room is told before the work has come, and takes none', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine', { maxQueue: 1 });
  const small = { tenant: 'a', isForScene: false, bytes: 1000, ahead: { count: 0, bytes: 0 } };
  t.throws(
    () => scheduler.knock({ ...small, ahead: { count: 2, bytes: 0 } }),
    { code: 'QUEUE_FULL' },
    'one lane, one place, two ahead',
  );
  scheduler.knock({ ...small, ahead: { count: 1, bytes: 0 } });
  for (let i = 0; i < 3; i++) scheduler.knock(small);
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = [resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal })];
  await running;
  for (let i = 0; i < 3; i++) scheduler.knock(small);
  work.push(resolve(scheduler, spike(1, 0.5), { signal: abort.signal }));
  t.throws(() => scheduler.knock(small), { code: 'QUEUE_FULL', retryable: true });
  t.throws(() => scheduler.knock({ tenant: 'a', isForScene: true, ahead: { count: 0, bytes: 0 } }), {
    code: 'QUEUE_FULL',
  });
  scheduler.knock({ tenant: 'a', isForScene: false, ahead: { count: 0, bytes: 0 } });
  t.pass('of unknown size it may be for a heavy lane, which is free');
  const placed = scheduler.resolve(
    { request: spike(1, 0.5), receivedAt: monotonicMs(), queuedAt: monotonicMs() },
    { claim: CLAIM, hasPlace: true, signal: abort.signal },
  );
  t.equal(scheduler.waitingCount, 2, 'what has waited elsewhere is let in');
  abort.abort();
  for (const one of [...work, placed]) t.equal((await refusalOf(one)).code, 'CANCELLED');
  scheduler.knock(small);
  await scheduler.close();
  t.throws(() => scheduler.knock(small), { code: 'DRAINING' });
});

t.test('jobs of one thread run in the order they came', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine', { maxQueue: 10 });
  const order: number[] = [];
  const work = Array.from({ length: 8 }, async (_, k) => {
    await resolve(scheduler);
    order.push(k);
  });
  await Promise.all(work);
  t.same(order, [0, 1, 2, 3, 4, 5, 6, 7]);
});

t.test('two threads run two jobs', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine', { threads: 2 });
  const abort = new AbortController();
  const jobs = [started(), started()].map(({ running, hooks }) => {
    const work = resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal });
    work.catch(() => {});
    return running;
  });
  await Promise.all(jobs);
  t.equal(scheduler.runningCount, 2);
  abort.abort();
});

t.test('a thread that dies fails its job, and is replaced', async (t) => {
  const lost: IntersticeError[] = [];
  const scheduler = schedulerOf(t, 'createDyingEngine', { onWorkerLost: (reason) => lost.push(reason) });
  const dying = resolve(scheduler);
  const waiting = resolve(scheduler, spike(1, 0));
  t.match(await refusalOf(dying), { code: 'DEVICE_LOST', retryable: true, message: /ended with code 7/ });
  t.same((await waiting).positions, spike(1, 0).start, 'the next job got a new thread');
  t.equal(lost.length, 1);
});

t.test('a thread that runs out of memory fails its job, and is replaced', async (t) => {
  const scheduler = schedulerOf(t, 'createGreedyEngine', {
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  const error = await refusalOf(resolve(scheduler));
  t.match(error, { code: 'OUT_OF_DEVICE_MEMORY', retryable: true, message: /ran out of memory/ });
  t.equal((await refusalOf(resolve(scheduler, spike(-0.1, 0)))).code, 'INTERSECTING_START');
});

t.test('an engine that cannot be opened fails the greeting, and every job', async (t) => {
  const scheduler = schedulerOf(t, 'createNothing');
  t.match(await refusalOf(scheduler.hello()), {
    code: 'INTERNAL',
    message: /does not export a function createNothing/,
  });
  t.equal((await refusalOf(resolve(scheduler))).code, 'INTERNAL');
});

t.test('a request that is no plain data fails alone', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  const odd = { ...spike(1, 0.5), surprise: () => 1 };
  t.equal((await refusalOf(resolve(scheduler, odd))).code, 'INTERNAL');
  t.equal(scheduler.runningCount, 0);
  await t.resolves(resolve(scheduler));
});

t.test('close ends what runs, even what does not listen, and refuses what comes', async (t) => {
  const scheduler = schedulerOf(t, 'createDeafEngine');
  const { running, hooks } = started();
  const work = resolve(scheduler, spike(1, 0.5), hooks);
  const waiting = resolve(scheduler);
  await running;
  const closed = scheduler.close();
  t.equal((await refusalOf(work)).code, 'DRAINING');
  t.equal((await refusalOf(waiting)).code, 'DRAINING');
  await closed;
  t.equal((await refusalOf(resolve(scheduler))).code, 'DRAINING');
  t.equal((await refusalOf(scheduler.hello())).code, 'DRAINING');
  await scheduler.close();
});

t.test('an idle scheduler lets the process end, and a busy one does not', async (t) => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    import { Scheduler } from ${url('../../src/schedule/scheduler.js')};
    import { spike, LIMITS } from ${url('../support/job.js')};
    const engine = { module: ${JSON.stringify(ENGINES)}, factory: 'createSteppingEngine' };
    const scheduler = new Scheduler({ engine, limits: LIMITS, allowUnverified: false, threads: 1, maxQueue: 1 });
    await scheduler.hello();
    const task = { request: spike(1, 0.5), receivedAt: 0, queuedAt: 0 };
    scheduler.resolve(task, { claim: { tenant: 'a', priority: 'NORMAL' } }).then((answer) => console.log(answer.report.status));`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  t.equal(child.stdout.trim(), 'CONVERGED', child.stderr);
  t.equal(child.status, 0);
});

t.test('a scheduler needs a whole number of threads', async (t) => {
  for (const threads of [0, -1, 1.5]) t.throws(() => schedulerOf(t, 'x', { threads }), { code: 'INVALID_PARAMETER' });
});

t.test('a factory gets its options, may take its time, and may refuse with a code', async (t) => {
  const engine = { module: ENGINES, factory: 'createOptionEngine', options: { adapter: 'x' } };
  t.equal((await schedulerOf(t, '', { engine }).hello()).name, 'fake {"adapter":"x"}');
  const refusing = schedulerOf(t, 'createRefusingEngine');
  t.match(await refusalOf(refusing.hello()), {
    code: 'UNIMPLEMENTED',
    message: /no such adapter/,
    hint: 'Plug one in.',
  });
  t.equal((await refusalOf(resolve(refusing))).code, 'UNIMPLEMENTED');
});

/** One triangle, alone: nothing to meet, so a fake engine's answers verify. */
function flyer(x = 0): { mesh: ResolveRequest['mesh']; start: Float32Array } {
  return {
    mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
    start: Float32Array.of(x, 0, 0, 1 + x, 0, 0, x, 1, 0),
  };
}

t.test('small jobs go on while a heavy one runs, and heavy ones wait for each other', async (t) => {
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

t.test('what lanes keep for the next job is told, and is gone with the last session', async (t) => {
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

t.test('a session: opened, stepped, parked, stepped, forgotten', async (t) => {
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

t.test('an open that is refused leaves nothing behind', async (t) => {
  const scheduler = schedulerOf(t, 'createMortalEngine');
  const error = await refusalOf(scheduler.open(openTask(sceneOf(spike(-0.1, 0))), { claim: CLAIM }));
  t.equal(error.code, 'INTERSECTING_START');
  t.equal(scheduler.sceneCount, 0);
});

t.test('steps of one session run in their order, one at a time, on the lane of its scene', async (t) => {
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

t.test(
  'a worker that dies fails its step; the waiting ones are served by another, which builds the scenes again',
  async (t) => {
    const lost: IntersticeError[] = [];
    const scheduler = schedulerOf(t, 'createMortalEngine', {
      onWorkerLost: (reason) => lost.push(reason),
      maxQueue: 9,
    });
    const [victim, neighbour] = [sceneOf(flyer()), sceneOf(flyer())];
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
    const scene = { ...victim, stateVersion: 1, start: answer.positions };
    const again = await scheduler.step(stepTask(scene, flyer(2).start), { claim: CLAIM });
    t.notOk(again.report.sessionRebuilt, 'said once');
  },
);

t.test('one tenant may not use the whole queue when another waits', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine', { maxQueue: 4 });
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = [resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal })];
  await running;
  const of = (tenant: string) => {
    const now = monotonicMs();
    const claim = { tenant, priority: 'NORMAL' } as const;
    return scheduler.resolve(
      { request: spike(1, 0.5), receivedAt: now, queuedAt: now },
      { claim, signal: abort.signal },
    );
  };
  work.push(of('b'), of('a'), of('a'));
  t.match(await refusalOf(of('a')), { code: 'QUEUE_FULL', message: /half of the queue/ });
  work.push(of('b'));
  t.match(await refusalOf(of('b')), { code: 'QUEUE_FULL', message: /4 requests are waiting already/ });
  abort.abort();
  for (const one of work) t.equal((await refusalOf(one)).code, 'CANCELLED');
  t.equal(scheduler.waitingCount, 0);
});
