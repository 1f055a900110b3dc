import t from 'tap';
import { monotonicMs } from '../../src/jobs/clock.js';
import { bytesOf } from '../../src/mesh/bytes.js';
import { refusalOf, spike } from '../support/job.js';
import { openTask, sceneOf } from '../support/scenes.js';
import { CLAIM, flyer, resolve, schedulerOf, started } from '../support/schedulers.js';

t.test('a cancelled job that waits is removed immediately', async (t) => {
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

t.test('a full queue refuses, and says when to retry', async (t) => {
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
  t.match(error.message, new RegExp(`2 requests of ${2 * bytes} bytes .* the limit of ${2 * bytes} bytes`));
  t.ok((error.retryAfterSeconds ?? 0) >= 1);
  const preflight = { tenant: 'a', isForScene: false, ahead: { count: 0, bytes: 0 } };
  t.throws(() => scheduler.preflight({ ...preflight, bytes: 1 }), { code: 'QUEUE_FULL' });
  // A step and a check of a session keep only the arrays of their requests.
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

t.test('the preflight says whether there is a place, but takes none', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessEngine', { maxQueue: 1 });
  const small = { tenant: 'a', isForScene: false, bytes: 1000, ahead: { count: 0, bytes: 0 } };
  t.throws(
    () => scheduler.preflight({ ...small, ahead: { count: 2, bytes: 0 } }),
    { code: 'QUEUE_FULL' },
    'one lane, one place, two ahead',
  );
  scheduler.preflight({ ...small, ahead: { count: 1, bytes: 0 } });
  for (let i = 0; i < 3; i++) scheduler.preflight(small);
  const abort = new AbortController();
  const { running, hooks } = started();
  const work = [resolve(scheduler, spike(1, 0.5), { ...hooks, signal: abort.signal })];
  await running;
  for (let i = 0; i < 3; i++) scheduler.preflight(small);
  work.push(resolve(scheduler, spike(1, 0.5), { signal: abort.signal }));
  t.throws(() => scheduler.preflight(small), { code: 'QUEUE_FULL', retryable: true });
  scheduler.preflight({ tenant: 'a', isForScene: true, ahead: { count: 0, bytes: 0 } });
  t.pass('the lanes of sessions are free');
  scheduler.preflight({ tenant: 'a', isForScene: false, ahead: { count: 0, bytes: 0 } });
  t.pass('of unknown size it may be for a heavy lane, which is free');
  const placed = scheduler.resolve(
    { request: spike(1, 0.5), receivedAt: monotonicMs(), queuedAt: monotonicMs() },
    { claim: CLAIM, hasPlace: true, signal: abort.signal },
  );
  t.equal(scheduler.waitingCount, 2, 'what has waited elsewhere is let in');
  abort.abort();
  for (const one of [...work, placed]) t.equal((await refusalOf(one)).code, 'CANCELLED');
  scheduler.preflight(small);
  await scheduler.close();
  t.throws(() => scheduler.preflight(small), { code: 'DRAINING' });
});

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
  t.match(await refusalOf(of('a')), { code: 'QUEUE_FULL', message: /uses its share of the queue/ });
  work.push(of('b'));
  t.match(await refusalOf(of('b')), { code: 'QUEUE_FULL', message: /4 requests are waiting already/ });
  abort.abort();
  for (const one of work) t.equal((await refusalOf(one)).code, 'CANCELLED');
  t.equal(scheduler.waitingCount, 0);
});

t.test('batch work has lanes of its own: however much of it there is, other work runs at once', async (t) => {
  const scheduler = schedulerOf(t, 'createEndlessForManyEngine', { maxQueue: 8 });
  const abort = new AbortController();
  const { signal } = abort;
  const now = monotonicMs();
  const batch = (tenant: string, hooks = {}) =>
    scheduler.resolve(
      { request: spike(1, 0.5), receivedAt: now, queuedAt: now },
      { claim: { tenant, priority: 'BATCH' }, signal, ...hooks },
    );
  const { running, hooks } = started();
  const work = [batch('b', hooks)];
  await running;
  for (let k = 0; k < 3; k++) work.push(batch('b'));
  t.equal(scheduler.waitingCount, 3);
  const one = flyer();
  const request = { mesh: one.mesh, start: one.start, target: flyer(1).start, parameters: {} };
  for (const priority of ['NORMAL', 'INTERACTIVE'] as const) {
    const hooks = { claim: { tenant: 'a', priority } };
    const answer = await scheduler.resolve({ request, receivedAt: now, queuedAt: now }, hooks);
    t.equal(answer.report.status, 'CONVERGED', priority);
  }
  const positions = one.start;
  t.ok((await scheduler.check({ mesh: one.mesh, positions }, { claim: CLAIM })).intersectionFree);
  t.equal(scheduler.runningCount, 1, 'the batch job runs on');
  t.equal(scheduler.waitingCount, 3, 'and the others wait for it');
  abort.abort();
  for (const one of work) t.equal((await refusalOf(one)).code, 'CANCELLED');
});

t.test(
  'steps of sessions, small requests and large ones have lanes of their own, as long as a thread costs little',
  async (t) => {
    for (const isCostly of [false, true]) {
      const factory = isCostly ? 'createCostlyEndlessEngine' : 'createEndlessForManyEngine';
      const scheduler = schedulerOf(t, factory, { maxQueue: 8, largeElements: 2 });
      await scheduler.hello();
      const abort = new AbortController();
      const { signal } = abort;
      const { running, hooks } = started();
      const work = [resolve(scheduler, spike(1, 0.5), { ...hooks, signal })];
      await running;
      const scene = sceneOf(flyer());
      const opened = scheduler.open(openTask(scene), { claim: CLAIM, signal });
      const three = {
        ...spike(1, 0.5),
        mesh: { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5, 0, 1, 2) },
      };
      const large = scheduler.check({ mesh: three.mesh, positions: three.start }, { claim: CLAIM, signal });
      if (isCostly) {
        t.equal(scheduler.waitingCount, 2, 'all on the one lane, which is taken');
        work.push(opened as never, large as never);
      } else {
        await Promise.all([opened, t.rejects(large, { code: 'INVALID_MESH' }, 'it was done')]);
        t.equal(scheduler.runningCount, 1, 'while the resolve runs on');
      }
      abort.abort();
      for (const one of work) t.equal((await refusalOf(one)).code, 'CANCELLED');
    }
  },
);
