import t, { type Test } from 'tap';
import { cancelled, IntersticeError } from '../../src/contract/errors.js';
import type { JobTerms, SolvedJobResult, SubmitJobRequest } from '../../src/contract/long-jobs.js';
import type { ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import type { ResolveTask } from '../../src/jobs/tasks.js';
import type { ScheduleHooks } from '../../src/lanes/scheduler.js';
import type { OperationsOptions } from '../../src/session/operations.js';
import type { SessionStore } from '../../src/store/session-store.js';
import { freshReport, settle } from './fake-scheduler.js';
import { at, opening, openRoom, tenant } from './room.js';

/** A room whose resolves the test ends. */
function openJobs(t: Test, more: Partial<OperationsOptions> = {}) {
  const room = openRoom(t, more);
  const works: {
    readonly request: ResolveRequest;
    readonly hooks: ScheduleHooks;
    finish(positions?: Float32Array): void;
    fail(reason: unknown): void;
  }[] = [];
  room.scheduler.resolve = ({ request }: ResolveTask, hooks: ScheduleHooks) =>
    new Promise<ResolveAnswer>((resolve, reject) => {
      hooks.signal?.addEventListener('abort', () => reject(cancelled()), { once: true });
      works.push({
        request,
        hooks,
        finish: (positions = request.target.slice() as Float32Array) => resolve({ positions, report: freshReport() }),
        fail: reject,
      });
    });
  return { ...room, works };
}

const job = (more: Partial<JobTerms> = {}, resolve: Partial<ResolveRequest> = {}): SubmitJobRequest => ({
  resolve: { mesh: opening().mesh, start: at(0), target: at(1), parameters: {}, ...resolve },
  ...more,
});

t.test('a job is submitted, runs with progress, ends, and its result is fetched more than once', async (t) => {
  const { operations, works, clock, events } = openJobs(t);
  const { id, state, label } = await operations.submitJob(job({ label: 'cape' }));
  t.match({ id, state, label }, { id: /^[0-9a-f]{32}$/, state: 'JOB_WAITING', label: 'cape' });
  const [work] = works;
  t.equal(work!.hooks.claim.priority, 'BATCH', 'a job asks for no priority: it is one of a batch');
  await t.rejects(operations.getJobResult({ jobId: id }), { code: 'JOB_NOT_ENDED' });
  clock.advance(1000);
  work!.hooks.onStart?.();
  work!.hooks.onProgress?.({ steps: 3, residual: 0.5, unfinishedVertices: 2 });
  t.match(await operations.getJob({ jobId: id }), { state: 'JOB_RUNNING', progress: { steps: 3, residual: 0.5 } });
  t.match(operations.stats(), { pendingJobs: 1, endedJobs: 0 });
  clock.advance(2000);
  work!.finish();
  const seen = await operations.getJob({ jobId: id, waitSeconds: 5 });
  t.equal(seen.state, 'JOB_DONE');
  t.equal(seen.ended! - seen.created, 3000);
  t.equal(seen.expires! - seen.ended!, 3600_000);
  for (let i = 0; i < 2; i++) {
    const { positions, report } = (await operations.getJobResult({ jobId: id })) as SolvedJobResult;
    t.same(positions, at(1));
    t.equal(report.timings.total, 3_000_000, 'from receipt to the end, whenever it is fetched');
  }
  t.match(operations.stats(), { pendingJobs: 0, endedJobs: 1, jobBytes: 36 });
  const resolves = events.filter((event) => event.type === 'request' && event.operation === 'resolve');
  t.match(resolves, [{ code: 'OK', report: { steps: 7 } }], 'it counts as one resolve');
  const fetches = events.filter((event) => event.type === 'request' && event.operation === 'getJobResult');
  t.ok(
    fetches.every((event) => event.type === 'request' && event.report === undefined),
    'and its report once',
  );
});

t.test('the connection that submits may end at once, and the arrays of the caller are free again', async (t) => {
  const { operations, works } = openJobs(t);
  const connection = new AbortController();
  const target = at(1);
  const { id } = await operations.submitJob(job({}, { target }), { signal: connection.signal });
  connection.abort();
  target.fill(9);
  await settle();
  t.same(works[0]!.request.target, at(1));
  works[0]!.finish();
  t.match(await operations.getJobResult({ jobId: id, waitSeconds: 1 }), { positions: at(1) });
});

t.test(
  'a submission that its caller gives up before the answer leaves no job, unless a key leads back to it',
  async (t) => {
    const { operations, works } = openJobs(t);
    const connection = new AbortController();
    const context = { signal: connection.signal };
    const submissions = [
      operations.submitJob(job(), context),
      operations.submitJob(job({ idempotencyKey: 'k' }), context),
    ];
    connection.abort();
    await t.rejects(submissions[0]!, { code: 'CANCELLED' });
    const { id } = await submissions[1]!;
    t.same(
      (await operations.listJobs({})).jobs.map((one) => one.id),
      [id],
    );
    t.ok(works[0]!.hooks.signal!.aborted, 'nothing is computed for it');
    t.equal((await operations.submitJob(job({ idempotencyKey: 'k' }))).id, id);
    t.notOk(works[1]!.hooks.signal!.aborted);
  },
);

t.test('a waiting call is answered at the end, after its time, or when the caller leaves', async (t) => {
  const { operations, works, clock } = openJobs(t);
  const { id: jobId } = await operations.submitJob(job());
  const early = operations.getJob({ jobId, waitSeconds: 2 });
  const leaver = new AbortController();
  const gone = operations.getJob({ jobId, waitSeconds: 60 }, { signal: leaver.signal });
  const last = operations.getJobResult({ jobId, waitSeconds: 60 });
  await settle();
  clock.advance(2000);
  t.equal((await early).state, 'JOB_WAITING');
  leaver.abort();
  await t.rejects(gone, { code: 'CANCELLED' });
  works[0]!.finish();
  t.match(await last, { positions: at(1) });
  await operations.deleteJob(jobId);
  t.equal(clock.timerCount, 0, 'no timer is left');
  for (const waitSeconds of [-1, 61, Number.NaN])
    await t.rejects(operations.getJob({ jobId, waitSeconds }), { code: 'INVALID_PARAMETER', message: /wait/ });
});

t.test('deleting stops a waiting job or a running one, and ends the waits for it', async (t) => {
  const { operations, works } = openJobs(t);
  for (const isRunning of [false, true]) {
    const { id: jobId } = await operations.submitJob(job());
    const work = works.at(-1)!;
    if (isRunning) work.hooks.onStart?.();
    const wait = operations.getJobResult({ jobId, waitSeconds: 60 });
    const refused = t.rejects(wait, { code: 'JOB_NOT_FOUND' });
    await settle();
    await operations.deleteJob(jobId);
    t.ok(work.hooks.signal?.aborted);
    await refused;
    await t.rejects(operations.deleteJob(jobId), { code: 'JOB_NOT_FOUND' });
    t.match(operations.stats(), { pendingJobs: 0, endedJobs: 0, jobBytes: 0 });
  }
});

t.test('a job fails with the error of its resolve, and is refused at once if the queue refuses it', async (t) => {
  const { operations, works, scheduler } = openJobs(t);
  const { id: jobId } = await operations.submitJob(job());
  works[0]!.hooks.onStart?.();
  works[0]!.fail(new IntersticeError('INTERSECTING_START', 'One pair intersects.'));
  await settle();
  t.match(await operations.getJob({ jobId }), { state: 'JOB_FAILED', error: { code: 'INTERSECTING_START' } });
  await t.rejects(operations.getJobResult({ jobId }), { code: 'INTERSECTING_START' });
  scheduler.resolve = () => Promise.reject(new IntersticeError('QUEUE_FULL', 'Full.'));
  await t.rejects(operations.submitJob(job({ idempotencyKey: 'again' })), { code: 'QUEUE_FULL' });
  t.match(operations.stats(), { pendingJobs: 0, endedJobs: 1 });
  scheduler.resolve = async ({ request }) => ({ positions: request.target.slice(), report: freshReport() });
  await t.resolves(operations.submitJob(job({ idempotencyKey: 'again' })), 'the refusal released the key');
});

t.test('a traced job that the queue refuses is refused at once, too, whatever its work is', async (t) => {
  const { operations, scheduler } = openJobs(t, { traceFolder: t.testdir() });
  const refuse = () => Promise.reject(new IntersticeError('QUEUE_FULL', 'Full.'));
  const { id: sessionId } = await operations.createSession(opening());
  Object.assign(scheduler, { resolve: refuse, step: refuse, untangle: refuse });
  const { mesh } = opening();
  const works: readonly SubmitJobRequest[] = [
    job(),
    { step: { sessionId, target: at(1) } },
    { untangle: { mesh, positions: at(1), parameters: {} } },
  ];
  for (const work of works) await t.rejects(operations.submitJob(work), { code: 'QUEUE_FULL' });
  t.match(operations.stats(), { pendingJobs: 0, endedJobs: 0 });
});

t.test('a job is removed after its retention time, and its memory and its key are freed', async (t) => {
  const { operations, works, clock } = openJobs(t, { jobKeepSeconds: 10 });
  const { id: short } = await operations.submitJob(job({ keepForSeconds: 2, idempotencyKey: 'a' }));
  const { id: usual } = await operations.submitJob(job());
  clock.advance(100_000);
  t.equal((await operations.getJob({ jobId: short })).state, 'JOB_WAITING', 'the time begins at the end');
  for (const work of works) work.finish();
  await settle();
  clock.advance(1999);
  t.match(await operations.getJobResult({ jobId: short }), { positions: at(1) });
  clock.advance(1);
  await t.rejects(operations.getJobResult({ jobId: short }), { code: 'JOB_NOT_FOUND' });
  t.equal((await operations.getJob({ jobId: usual })).state, 'JOB_DONE');
  clock.advance(8000);
  await t.rejects(operations.getJob({ jobId: usual }), { code: 'JOB_NOT_FOUND' });
  t.match(operations.stats(), { endedJobs: 0, jobBytes: 0 });
  t.not((await operations.submitJob(job({ idempotencyKey: 'a' }))).id, short);
  for (const keepForSeconds of [0, -1, 86_401])
    await t.rejects(operations.submitJob(job({ keepForSeconds })), { code: 'INVALID_PARAMETER', message: /keepFor/ });
});

t.test('one key is one job, whatever the time budget; another payload under it is refused', async (t) => {
  const { operations, works } = openJobs(t);
  const keyed = job({ idempotencyKey: 'k' });
  const both = await Promise.all([operations.submitJob(keyed), operations.submitJob(keyed)]);
  t.equal(both[0].id, both[1].id);
  t.equal(works.length, 1);
  const hurried = await operations.submitJob(job({ idempotencyKey: 'k' }, { timeBudgetSeconds: 1 }));
  t.equal(hurried.id, both[0].id);
  await t.rejects(operations.submitJob(job({ idempotencyKey: 'k' }, { target: at(2) })), {
    code: 'INVALID_PARAMETER',
    message: /idempotencyKey/,
  });
  t.not((await operations.submitJob(keyed, tenant('other'))).id, both[0].id);
});

t.test('tenants see only their own jobs', async (t) => {
  const { operations } = openJobs(t);
  const [blue, red] = [tenant('blue'), tenant('red')];
  const { id: jobId } = await operations.submitJob(job({ label: 'mine' }), blue);
  await operations.submitJob(job({ label: 'second' }), blue);
  await t.rejects(operations.getJob({ jobId }, red), { code: 'JOB_NOT_FOUND' });
  await t.rejects(operations.getJobResult({ jobId }, red), { code: 'JOB_NOT_FOUND' });
  await t.rejects(operations.deleteJob(jobId, red), { code: 'JOB_NOT_FOUND' });
  t.same((await operations.listJobs({}, red)).jobs, []);
  const first = await operations.listJobs({ pageSize: 1 }, blue);
  t.match(first.jobs, [{ id: jobId, label: 'mine' }]);
  const rest = await operations.listJobs({ pageSize: 1, pageToken: first.nextPageToken }, blue);
  t.match(rest, { jobs: [{ label: 'second' }], nextPageToken: '' });
  t.match((await operations.listJobs({ label: 'second' }, blue)).jobs, [{ label: 'second' }]);
});

t.test('a page token does not tell of the jobs of other tenants', async (t) => {
  const { operations } = openJobs(t);
  const tokenOf = async (name: string) => {
    for (const label of ['first', 'second']) await operations.submitJob(job({ label }), tenant(name));
    return (await operations.listJobs({ pageSize: 1 }, tenant(name))).nextPageToken;
  };
  t.equal(await tokenOf('blue'), await tokenOf('red'));
});

t.test('a list says whether other processes may have more jobs', async (t) => {
  t.match(await openJobs(t).operations.listJobs({}), { jobs: [], ofOneProcess: false });
  const sessions = { close: async () => {} } as unknown as SessionStore;
  const kept = openJobs(t, { store: { sessions, onFailure: 'refuse' } });
  t.match(await kept.operations.listJobs({}), { jobs: [], ofOneProcess: true });
});

t.test('number and bytes are limited, even before the body, and no result exceeds them', async (t) => {
  const { operations, works } = openJobs(t, { maxJobs: 3, maxJobsPerTenant: 2 });
  const [blue, red] = [tenant('blue'), tenant('red')];
  const { id } = await operations.submitJob(job(), blue);
  await operations.submitJob(job(), blue);
  await t.rejects(operations.submitJob(job(), blue), { code: 'QUOTA_EXCEEDED', message: /one tenant is 2/ });
  t.throws(() => operations.preflight({ operation: 'submitJob', bytes: 1 }, blue), { code: 'QUOTA_EXCEEDED' });
  operations.preflight({ operation: 'submitJob', bytes: 1 }, red)();
  await operations.submitJob(job(), red);
  await t.rejects(operations.submitJob(job(), red), { code: 'QUOTA_EXCEEDED', message: /3 jobs/ });
  works[0]!.finish();
  await settle();
  await operations.deleteJob(id, blue);
  await t.resolves(operations.submitJob(job(), blue), 'a deleted job makes room');

  const jobless = openJobs(t, { maxJobs: 0 });
  // No retry can help.
  const refusal = { code: 'UNIMPLEMENTED', retryable: false, message: /accepts no jobs/, hint: /work itself/ };
  await t.rejects(jobless.operations.submitJob(job()), refusal);
  t.throws(() => jobless.operations.preflight({ operation: 'submitJob', bytes: 1 }, blue), refusal);
  const { features } = jobless.operations.info();
  t.same(
    [features.includes('jobs'), features.includes('step-jobs'), features.includes('resolve')],
    [false, false, true],
  );

  // Three vertices: 12 bytes of triangle, 36 of start, 36 of target, and 36 for the answer.
  const tight = openJobs(t, { maxJobBytes: 120 + 40 });
  const { id: jobId, bytes } = await tight.operations.submitJob(job());
  t.equal(bytes, 120);
  await t.rejects(tight.operations.submitJob(job()), { code: 'QUOTA_EXCEEDED', message: /120 bytes/ });
  tight.works[0]!.finish(new Float32Array(41));
  await settle();
  t.match(await tight.operations.getJob({ jobId }), { state: 'JOB_FAILED', error: { code: 'TOO_LARGE' } });
  t.equal(tight.operations.stats().jobBytes, 0);

  const two = openJobs(t, { maxJobBytes: 300 });
  const first = await two.operations.submitJob(job());
  await two.operations.submitJob(job());
  two.works[0]!.finish(new Float32Array(50));
  await settle();
  const crowded = { state: 'JOB_FAILED', error: { code: 'QUOTA_EXCEEDED' } };
  t.match(await two.operations.getJob({ jobId: first.id }), crowded, 'it has room without the other job');
  const none = openJobs(t, { maxJobBytes: 119 });
  await t.rejects(none.operations.submitJob(job()), { code: 'TOO_LARGE', message: /120 bytes.* may hold 119/ });
});

t.test('a closed service refuses jobs', async (t) => {
  const { operations } = openJobs(t);
  await operations.close();
  await t.rejects(operations.submitJob(job()), { code: 'DRAINING' });
});
