import t, { type Test } from 'tap';
import { cancelled, IntersticeError } from '../../src/contract/errors.js';
import type { JobInfo } from '../../src/contract/long-jobs.js';
import type { ResolveAnswer } from '../../src/contract/requests.js';
import type { ResolveTask } from '../../src/jobs/tasks.js';
import type { ScheduleHooks } from '../../src/lanes/scheduler.js';
import { freshReport, settle } from './fake-scheduler.js';
import { at, opening, openRoom } from './room.js';

/** A room with one job, of which the test decides what happens. */
async function openJob(t: Test) {
  const room = openRoom(t);
  let hooks: ScheduleHooks | undefined;
  let finish: (answer: ResolveAnswer) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  room.scheduler.resolve = (_task: ResolveTask, given: ScheduleHooks) =>
    new Promise<ResolveAnswer>((resolve, reject) => {
      hooks = given;
      finish = resolve;
      fail = reject;
      given.signal?.addEventListener('abort', () => reject(cancelled()), { once: true });
    });
  const submit = () =>
    room.operations.submitJob({ resolve: { mesh: opening().mesh, start: at(0), target: at(1), parameters: {} } });
  const { id } = await submit();
  return { ...room, id, submit, hooks: hooks!, end: () => finish({ positions: at(1), report: freshReport() }), fail };
}

t.test('a job says where it waits, and what it is doing', async (t) => {
  const { operations, id, hooks, end } = await openJob(t);
  const look = () => operations.getJob({ jobId: id });
  t.notOk('ahead' in (await look()), 'nobody knows yet');
  let ahead = 3;
  hooks.onQueued?.(() => ahead);
  t.match(await look(), { state: 'JOB_WAITING', ahead: 3 });
  ahead = 1;
  t.match(await look(), { ahead: 1 });
  hooks.onStart?.();
  const started = await look();
  t.match(started, { state: 'JOB_RUNNING', phase: 'START_CHECK' }, 'from its start on');
  t.notOk('ahead' in started);
  for (const phase of ['START_CHECK', 'SOLVING', 'ANSWER_CHECK'] as const) {
    hooks.onPhase?.(phase);
    t.match(await look(), { phase });
  }
  end();
  await settle();
  const ended = await look();
  t.equal(ended.state, 'JOB_DONE');
  t.notOk('phase' in ended || 'ahead' in ended);
});

t.test('a watcher is notified of every change once, and of the end', async (t) => {
  const { operations, id, hooks, end, clock } = await openJob(t);
  const told: JobInfo[] = [];
  const watch = operations.watchJob({ jobId: id }, { onJob: (job) => told.push(job) });
  let ahead = 2;
  hooks.onQueued?.(() => ahead);
  clock.advance(1000);
  clock.advance(1000);
  ahead = 0;
  clock.advance(1000);
  hooks.onStart?.();
  hooks.onPhase?.('SOLVING');
  hooks.onProgress?.({ steps: 1, residual: 0.5, unfinishedVertices: 2 });
  hooks.onProgress?.({ steps: 1, residual: 0.5, unfinishedVertices: 2 });
  end();
  t.equal((await watch).state, 'JOB_DONE');
  t.match(told, [
    { state: 'JOB_WAITING' },
    { state: 'JOB_WAITING', ahead: 2 },
    { state: 'JOB_WAITING', ahead: 0 },
    { state: 'JOB_RUNNING', phase: 'START_CHECK' },
    { state: 'JOB_RUNNING', phase: 'SOLVING' },
    { state: 'JOB_RUNNING', progress: { steps: 1 } },
  ]);
  t.equal(told.length, 6);
  t.equal((await operations.watchJob({ jobId: id })).state, 'JOB_DONE', 'of a job that has ended, the end');
});

t.test('a watch ends with the job that is deleted, and with its caller, but not for others', async (t) => {
  const { operations, id } = await openJob(t);
  const stop = new AbortController();
  const left = operations.watchJob({ jobId: id }, { signal: stop.signal });
  const watch = operations.watchJob({ jobId: id });
  stop.abort();
  await t.rejects(left, { code: 'CANCELLED' });
  await operations.deleteJob(id);
  await t.rejects(watch, { code: 'JOB_NOT_FOUND' });
  await t.rejects(operations.watchJob({ jobId: id }), { code: 'JOB_NOT_FOUND' });
});

t.test('a watcher that throws ends its own call, not the job', async (t) => {
  const { operations, id, hooks, end } = await openJob(t);
  const fault = new Error('It cannot be sent.');
  const failing = operations.watchJob(
    { jobId: id },
    {
      onJob: ({ state }) => {
        if (state === 'JOB_RUNNING') throw fault;
      },
    },
  );
  const told: JobInfo[] = [];
  const watch = operations.watchJob({ jobId: id }, { onJob: (job) => told.push(job) });
  hooks.onStart?.();
  await t.rejects(failing, fault);
  t.match(told.at(-1), { state: 'JOB_RUNNING' });
  end();
  t.equal((await watch).state, 'JOB_DONE');
});

t.test('jobs are settled if every result was fetched, and every other one has failed', async (t) => {
  const { operations, id, end, submit } = await openJob(t);
  let isSettled = false;
  const settled = operations.whenJobsSettled().then(() => {
    isSettled = true;
  });
  end();
  await settle();
  t.notOk(isSettled, 'it has ended, and nobody has its result');
  const other = await submit();
  await operations.getJobResult({ jobId: id });
  await settle();
  t.notOk(isSettled, 'another one runs');
  await operations.deleteJob(other.id);
  await settled;
  t.ok(isSettled);
  await operations.whenJobsSettled();
});

t.test('a step of a session is a job: same turn, same frame, same bytes', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const { id: sessionId } = await operations.createSession(opening());
  const step = { sessionId, frame: 4n, target: at(1) };
  const job = await operations.submitJob({ step, label: 'frame 4', idempotencyKey: 'k' });
  t.match(job, { sessionId, label: 'frame 4' });
  const behind = operations.step({ sessionId, target: at(2) });
  await settle();
  const ended = await operations.getJob({ jobId: job.id, waitSeconds: 5 });
  t.equal(ended.state, 'JOB_DONE');
  const result = await operations.getJobResult({ jobId: job.id });
  t.match(result, { frame: 4n });
  t.equal((await behind).frame, 5n, 'a step that came later takes its turn behind it');
  t.equal(
    (await operations.submitJob({ step: { ...step, target: at(1) }, label: 'frame 4', idempotencyKey: 'k' })).id,
    job.id,
  );
  const other = { step: { ...step, target: at(2) }, label: 'frame 4', idempotencyKey: 'k' };
  await t.rejects(operations.submitJob(other), { code: 'INVALID_PARAMETER', message: /idempotencyKey/ });
  await t.rejects(operations.submitJob({ step }), { code: 'FRAME_OUT_OF_ORDER' });
  await t.rejects(operations.submitJob({ step: { ...step, sessionId: 'f'.repeat(32) } }), {
    code: 'SESSION_NOT_FOUND',
  });
  t.ok(scheduler);
});

t.test('a step that waits behind others of its session says so, and ends with the session', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const { id: sessionId } = await operations.createSession(opening());
  scheduler.step = (_task: unknown, { signal }: ScheduleHooks) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(cancelled()), { once: true }));
  const jobs: JobInfo[] = [];
  for (let k = 1; k <= 3; k++) jobs.push(await operations.submitJob({ step: { sessionId, target: at(k) } }));
  t.match(await operations.getJob({ jobId: jobs[1]!.id }), { state: 'JOB_WAITING', ahead: 1 });
  t.match(await operations.getJob({ jobId: jobs[2]!.id }), { state: 'JOB_WAITING', ahead: 2 });
  await operations.deleteJob(jobs[1]!.id);
  t.match(await operations.getJob({ jobId: jobs[2]!.id }), { ahead: 1 });
  await operations.deleteSession(sessionId);
  const { error } = await operations.getJob({ jobId: jobs[2]!.id, waitSeconds: 5 });
  t.ok(error instanceof IntersticeError && error.code === 'CANCELLED');
});

t.test('a job of a step that a call has sent before waits and runs as that step does', async (t) => {
  const { operations, scheduler } = openRoom(t);
  scheduler.isManual = false;
  const { id: sessionId } = await operations.createSession(opening());
  scheduler.isManual = true;
  const steps = [1, 2].map((k) => ({ sessionId, frame: BigInt(k), target: at(k) }));
  const calls = steps.map((step) => operations.step(step));
  await settle();
  const [first, second] = scheduler.steps;
  t.notOk(second, 'one at a time');
  const jobOf = async (step: (typeof steps)[number]) => (await operations.submitJob({ step })).id;
  const early = await jobOf(steps[0]!);
  t.match(await operations.getJob({ jobId: early }), { state: 'JOB_WAITING' }, 'no thread has it yet');
  t.match(await operations.getJob({ jobId: await jobOf(steps[1]!) }), { state: 'JOB_WAITING', ahead: 1 });
  first!.hooks.onStart?.();
  t.match(await operations.getJob({ jobId: early }), { state: 'JOB_RUNNING', phase: 'START_CHECK' });
  const late = await jobOf(steps[0]!);
  const lateJob = await operations.getJob({ jobId: late });
  t.match(lateJob, { state: 'JOB_RUNNING', started: Number });
  t.notOk('phase' in lateJob, 'nobody has said how far the step is');
  first!.hooks.onPhase?.('SOLVING');
  const latest = await jobOf(steps[0]!);
  for (const jobId of [early, late, latest]) t.match(await operations.getJob({ jobId }), { phase: 'SOLVING' });
  first!.finish();
  await settle();
  t.match(await operations.getJob({ jobId: late }), { state: 'JOB_DONE', started: Number });
  scheduler.steps[1]!.finish();
  await Promise.all(calls);
});
