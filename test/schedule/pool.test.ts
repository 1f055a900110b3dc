import { spawnSync } from 'node:child_process';
import t, { type Test } from 'tap';
import type { IntersticeError } from '../../src/errors.js';
import { monotonicMs } from '../../src/schedule/clock.js';
import { type PoolOptions, WorkerPool } from '../../src/schedule/pool.js';
import type { JobHooks } from '../../src/schedule/pool-job.js';
import type { ResolveRequest } from '../../src/session/types.js';
import { LIMITS, refusalOf, spike } from '../support/job.js';

const ENGINES = new URL('../support/fake-engine.js', import.meta.url).href;

function poolOf(t: Test, factory: string, more: Partial<PoolOptions> = {}): WorkerPool {
  const pool = new WorkerPool({
    engine: { module: ENGINES, factory },
    limits: LIMITS,
    allowUnverified: false,
    threads: 1,
    maxQueue: 4,
    ...more,
  });
  t.teardown(() => pool.close());
  return pool;
}

function resolve(pool: WorkerPool, request: ResolveRequest = spike(1, 0.5), hooks: JobHooks = {}) {
  const now = monotonicMs();
  return pool.run('resolve', { request, receivedAt: now, queuedAt: now }, hooks);
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
  const pool = poolOf(t, 'createSteppingEngine');
  t.equal((await pool.hello()).name, 'fake');
  const request = spike(1, 0.5);
  const answer = await resolve(pool, request);
  t.same(answer.positions, request.target);
  t.equal(request.start.length, 18);
  t.ok(answer.report.timings.total > 0);
  t.equal(pool.runningCount, 0);
});

t.test('checks run in the same pool', async (t) => {
  const pool = poolOf(t, 'createSteppingEngine');
  const { mesh, start } = spike(-0.1, 0);
  t.equal((await pool.run('check', { mesh, positions: start })).intersectionCount, 2);
});

t.test('refusals cross the thread with all they say', async (t) => {
  const pool = poolOf(t, 'createSteppingEngine');
  const error = await refusalOf(resolve(pool, spike(-0.1, 0)));
  t.match(error, { code: 'INTERSECTING_START', pairCount: 2 });
  t.equal(error.pairs.length, 2);
  await t.resolves(resolve(pool), 'and the worker goes on');
});

t.test('an engine that throws fails its request with INTERNAL, and only that', async (t) => {
  const pool = poolOf(t, 'createThrowingEngine');
  t.match(await refusalOf(resolve(pool)), { code: 'INTERNAL', message: /the fake engine broke/ });
  t.equal((await refusalOf(resolve(pool, spike(-0.1, 0)))).code, 'INTERSECTING_START');
});

t.test('states arrive in order, and a slow reader holds the worker back', async (t) => {
  const pool = poolOf(t, 'createSlowEngine');
  const heights: number[] = [];
  let reading = 0;
  const answer = await resolve(pool, spike(1, 0.5), {
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
  const pool = poolOf(t, 'createSlowEngine');
  const abort = new AbortController();
  let seen = 0;
  const first = new Promise<void>((hear) => {
    const work = resolve(pool, spike(1, 0.5), {
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
  const pool = poolOf(t, 'createSlowEngine');
  const bad = resolve(pool, spike(1, 0.5), {
    onState: () => {
      throw new Error('disk full');
    },
  });
  t.match(await refusalOf(bad), { code: 'INTERNAL', message: 'disk full' });
  await t.resolves(resolve(pool));
  const worse = resolve(pool, spike(1, 0.5), {
    onProgress: () => {
      throw new Error('terminal gone');
    },
  });
  t.match(await refusalOf(worse), { message: 'terminal gone' });
  await t.resolves(resolve(pool));
});

t.test('progress is throttled', async (t) => {
  const pool = poolOf(t, 'createSlowEngine');
  let count = 0;
  await resolve(pool, spike(1, 0.5), { onProgress: () => count++ });
  t.ok(count >= 1 && count < 1000, `${count} of 1000`);
});

t.test('a running job stops when its caller goes away, and its thread is free again', async (t) => {
  const pool = poolOf(t, 'createEndlessEngine');
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = resolve(pool, spike(1, 0.5), { ...hooks, signal: abort.signal });
  const next = resolve(pool, spike(-0.1, 0));
  await running;
  abort.abort();
  t.equal((await refusalOf(work)).code, 'CANCELLED');
  t.equal((await refusalOf(next)).code, 'INTERSECTING_START', 'the one thread went on to the next job');
});

t.test('a waiting job is dropped at once', async (t) => {
  const pool = poolOf(t, 'createEndlessEngine');
  const first = new AbortController();
  const second = new AbortController();
  const { running, hooks } = started();
  const work = resolve(pool, spike(1, 0.5), { ...hooks, signal: first.signal });
  const waiting = resolve(pool, spike(1, 0.5), { signal: second.signal });
  await running;
  t.equal(pool.waitingCount, 1);
  second.abort();
  t.equal((await refusalOf(waiting)).code, 'CANCELLED');
  t.equal(pool.waitingCount, 0);
  t.equal(pool.runningCount, 1, 'the running one was not touched');
  first.abort();
  t.equal((await refusalOf(work)).code, 'CANCELLED');
  t.equal((await refusalOf(resolve(pool, spike(1, 0.5), { signal: AbortSignal.abort() }))).code, 'CANCELLED');
});

t.test('a waiting job whose budget is spent is refused while it waits', async (t) => {
  const pool = poolOf(t, 'createEndlessEngine');
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = resolve(pool, spike(1, 0.5), { ...hooks, signal: abort.signal });
  await running;
  const late = resolve(pool, spike(1, 0.5), { expiresAt: monotonicMs() - 1 });
  t.match(await refusalOf(late), { code: 'DEADLINE_EXCEEDED', message: /in the queue/ });
  t.equal(pool.waitingCount, 0);
  abort.abort();
  await t.rejects(work);
});

t.test('a full queue refuses, and says when to come back', async (t) => {
  const pool = poolOf(t, 'createEndlessEngine', { maxQueue: 1 });
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = [
    resolve(pool, spike(1, 0.5), { ...hooks, signal: abort.signal }),
    resolve(pool, spike(1, 0.5), { signal: abort.signal }),
  ];
  await running;
  const error = await refusalOf(resolve(pool));
  t.equal(error.code, 'QUEUE_FULL');
  t.ok(error.retryable);
  t.ok((error.retryAfterSeconds ?? 0) >= 1);
  abort.abort();
  for (const one of work) t.equal((await refusalOf(one)).code, 'CANCELLED');
});

t.test('jobs of one thread run in the order they came', async (t) => {
  const pool = poolOf(t, 'createSteppingEngine', { maxQueue: 10 });
  const order: number[] = [];
  const work = Array.from({ length: 8 }, async (_, k) => {
    await resolve(pool);
    order.push(k);
  });
  await Promise.all(work);
  t.same(order, [0, 1, 2, 3, 4, 5, 6, 7]);
});

t.test('two threads run two jobs', async (t) => {
  const pool = poolOf(t, 'createEndlessEngine', { threads: 2 });
  const abort = new AbortController();
  const jobs = [started(), started()].map(({ running, hooks }) => {
    const work = resolve(pool, spike(1, 0.5), { ...hooks, signal: abort.signal });
    work.catch(() => {});
    return running;
  });
  await Promise.all(jobs);
  t.equal(pool.runningCount, 2);
  abort.abort();
});

t.test('a thread that dies fails its job, and is replaced', async (t) => {
  const lost: IntersticeError[] = [];
  const pool = poolOf(t, 'createDyingEngine', { onWorkerLost: (reason) => lost.push(reason) });
  const dying = resolve(pool);
  const waiting = resolve(pool, spike(1, 0));
  t.match(await refusalOf(dying), { code: 'INTERNAL', message: /ended with code 7/ });
  t.same((await waiting).positions, spike(1, 0).start, 'the next job got a new thread');
  t.equal(lost.length, 1);
});

t.test('a thread that runs out of memory fails its job, and is replaced', async (t) => {
  const pool = poolOf(t, 'createGreedyEngine', {
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  const error = await refusalOf(resolve(pool));
  t.match(error, { code: 'INTERNAL', message: /ran out of memory/ });
  t.equal((await refusalOf(resolve(pool, spike(-0.1, 0)))).code, 'INTERSECTING_START');
});

t.test('an engine that cannot be opened fails the greeting, and every job', async (t) => {
  const pool = poolOf(t, 'createNothing');
  t.match(await refusalOf(pool.hello()), { code: 'INTERNAL', message: /does not export a function createNothing/ });
  t.equal((await refusalOf(resolve(pool))).code, 'INTERNAL');
});

t.test('a request that is no plain data fails alone', async (t) => {
  const pool = poolOf(t, 'createSteppingEngine');
  const odd = { ...spike(1, 0.5), surprise: () => 1 };
  t.equal((await refusalOf(resolve(pool, odd))).code, 'INTERNAL');
  t.equal(pool.runningCount, 0);
  await t.resolves(resolve(pool));
});

t.test('close ends what runs, even what does not listen, and refuses what comes', async (t) => {
  const pool = poolOf(t, 'createDeafEngine');
  const { running, hooks } = started();
  const work = resolve(pool, spike(1, 0.5), hooks);
  const waiting = resolve(pool);
  await running;
  const closed = pool.close();
  t.equal((await refusalOf(work)).code, 'DRAINING');
  t.equal((await refusalOf(waiting)).code, 'DRAINING');
  await closed;
  t.equal((await refusalOf(resolve(pool))).code, 'DRAINING');
  t.equal((await refusalOf(pool.hello())).code, 'DRAINING');
  await pool.close();
});

t.test('an idle pool lets the process end, and a busy one does not', async (t) => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    import { WorkerPool } from ${url('../../src/schedule/pool.js')};
    import { spike, LIMITS } from ${url('../support/job.js')};
    const engine = { module: ${JSON.stringify(ENGINES)}, factory: 'createSteppingEngine' };
    const pool = new WorkerPool({ engine, limits: LIMITS, allowUnverified: false, threads: 1, maxQueue: 1 });
    await pool.hello();
    const task = { request: spike(1, 0.5), receivedAt: 0, queuedAt: 0 };
    pool.run('resolve', task).then((answer) => console.log(answer.report.status));`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  t.equal(child.stdout.trim(), 'CONVERGED', child.stderr);
  t.equal(child.status, 0);
});

t.test('a pool needs a whole number of threads', async (t) => {
  for (const threads of [0, -1, 1.5]) t.throws(() => poolOf(t, 'x', { threads }), { code: 'INVALID_PARAMETER' });
});
