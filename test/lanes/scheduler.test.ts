import { spawnSync } from 'node:child_process';
import t from 'tap';
import type { IntersticeError } from '../../src/contract/errors.js';
import { refusalOf, spike } from '../support/job.js';
import { threadsOfSystem } from '../support/refused-threads.js';
import { CLAIM, ENGINES, flyer, resolve, schedulerOf, started } from '../support/schedulers.js';

t.test('a resolve on a worker thread: the answer returns, and the caller keeps its arrays', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  t.equal((await scheduler.hello()).name, 'fake');
  const request = spike(1, 0.5);
  const answer = await resolve(scheduler, request);
  t.same(answer.positions, request.target);
  t.equal(request.start.length, 18);
  t.ok(answer.report.timings.total > 0);
  t.equal(scheduler.runningCount, 0);
});

t.test('checks run on the lanes of resolves', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  const { mesh, start } = spike(-0.1, 0);
  t.equal((await scheduler.check({ mesh, positions: start }, { claim: CLAIM })).intersectionCount, 2);
});

t.test('refusals arrive from the thread with all their fields', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  const error = await refusalOf(resolve(scheduler, spike(-0.1, 0)));
  t.match(error, { code: 'INTERSECTING_START', pairCount: 2 });
  t.equal(error.pairs.length, 2);
  await t.resolves(resolve(scheduler), 'and the worker goes on');
});

t.test('an engine that throws fails its request with INTERNAL, and only that', async (t) => {
  const scheduler = schedulerOf(t, 'createThrowingEngine');
  t.match(await refusalOf(resolve(scheduler)), { code: 'INTERNAL', message: /The fake engine broke\./ });
  t.equal((await refusalOf(resolve(scheduler, spike(-0.1, 0)))).code, 'INTERSECTING_START');
});

t.test('a request for whose arrays the system has no memory may be sent again', async (t) => {
  const scheduler = schedulerOf(t, 'createBoundlessEngine');
  const refusal = await refusalOf(resolve(scheduler));
  t.match(refusal, { code: 'OUT_OF_DEVICE_MEMORY', retryable: true, retryAfterSeconds: 1 });
  t.match(refusal.cause, /Array buffer allocation failed/, 'the log shows where');
});

t.test('states arrive in order, and a slow reader blocks the thread', async (t) => {
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

t.test('the thread waits for a reader of states that never finishes', async (t) => {
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

t.test('jobs of one thread run in order of arrival', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine', { maxQueue: 10 });
  const order: number[] = [];
  const work = Array.from({ length: 8 }, async (_, k) => {
    await resolve(scheduler);
    order.push(k);
  });
  await Promise.all(work);
  t.same(order, [0, 1, 2, 3, 4, 5, 6, 7]);
});

t.test('two threads run two jobs at once', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine', { threads: 2 });
  const abort = new AbortController();
  const jobs = [started(), started()].map(({ running, hooks }) => {
    const work = resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal });
    work.catch(() => {});
    return running;
  });
  await Promise.all(jobs);
  t.equal(scheduler.runningCount, 2);
  t.equal(scheduler.scenesTogether, 1, 'each alone');
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

t.test('the count of submissions that scenes share continues when a thread dies', async (t) => {
  const scheduler = schedulerOf(t, 'createCountingEngine');
  const { mesh, start } = flyer();
  const resolveTo = (x: number) => resolve(scheduler, { mesh, start, target: flyer(x).start, parameters: {} });
  const aloneFor = (memory: number) => ({ size: 0, strainLimits: 0, scenes: 0, memory });
  for (const x of [1, 2]) await resolveTo(x);
  t.same(scheduler.convoy, {
    submissions: 2,
    parts: 4,
    dispatches: 6,
    launches: 8,
    waited: 10,
    sizes: [0, 2],
    alone: aloneFor(2),
  });
  t.equal((await refusalOf(resolveTo(70))).code, 'DEVICE_LOST');
  t.same(
    scheduler.convoy,
    { submissions: 2, parts: 4, dispatches: 6, launches: 8, waited: 10, sizes: [0, 2], alone: aloneFor(2) },
    'what has ended',
  );
  await resolveTo(3);
  t.same(scheduler.convoy, {
    submissions: 3,
    parts: 6,
    dispatches: 9,
    launches: 12,
    waited: 15,
    sizes: [0, 3],
    alone: aloneFor(3),
  });
});

t.test('a thread that runs out of memory fails its job, and is replaced', async (t) => {
  const scheduler = schedulerOf(t, 'createGreedyEngine', {
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  const error = await refusalOf(resolve(scheduler));
  t.match(error, { code: 'OUT_OF_DEVICE_MEMORY', retryable: true, message: /ran out of memory/ });
  t.equal((await refusalOf(resolve(scheduler, spike(-0.1, 0)))).code, 'INTERSECTING_START');
});

t.test('an engine that cannot be opened fails hello and every job', async (t) => {
  const scheduler = schedulerOf(t, 'createNothing');
  t.match(await refusalOf(scheduler.hello()), {
    code: 'INTERNAL',
    message: /does not export a function createNothing/,
  });
  t.equal((await refusalOf(resolve(scheduler))).code, 'INTERNAL');
});

t.test('a thread that the system refuses fails the jobs that wait for it, and the next one gets another', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  const { refuse, allow } = threadsOfSystem();
  t.teardown(allow);
  refuse();
  t.match(await refusalOf(resolve(scheduler)), { code: 'DEVICE_LOST', retryable: true, message: /no thread for you/ });
  t.equal(scheduler.runningCount, 0);
  t.match(await refusalOf(resolve(scheduler)), { code: 'DEVICE_LOST' });
  allow();
  t.equal((await resolve(scheduler)).report.status, 'CONVERGED');
});

t.test('a request that is not plain data fails without affecting others', async (t) => {
  const scheduler = schedulerOf(t, 'createSteppingEngine');
  const odd = { ...spike(1, 0.5), surprise: () => 1 };
  t.equal((await refusalOf(resolve(scheduler, odd))).code, 'INTERNAL');
  t.equal(scheduler.runningCount, 0);
  await t.resolves(resolve(scheduler));
});

t.test('close ends running jobs, even those that do not respond, and refuses new ones', async (t) => {
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
    import { Scheduler } from ${url('../../src/lanes/scheduler.js')};
    import { spike, LIMITS } from ${url('../support/job.js')};
    const engine = { module: ${JSON.stringify(ENGINES)}, factory: 'createSteppingEngine' };
    const scheduler = new Scheduler({ engine, limits: LIMITS, allowUnverified: false, threads: 1, maxQueue: 1 });
    await scheduler.hello();
    const task = { request: spike(1, 0.5), receivedAt: 0, queuedAt: 0 };
    scheduler.resolve(task, { claim: { tenant: 'a', priority: 'NORMAL' } }).then((answer) => console.log(answer.report.status));`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  t.equal(child.stdout.trim(), 'CONVERGED', child.stderr);
  t.equal(child.status, 0);
});

t.test('a scheduler needs a whole number of threads', async (t) => {
  for (const threads of [0, -1, 1.5]) t.throws(() => schedulerOf(t, 'x', { threads }), { code: 'INVALID_PARAMETER' });
});

t.test('a factory gets its options, may be asynchronous, and may refuse with a code', async (t) => {
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
