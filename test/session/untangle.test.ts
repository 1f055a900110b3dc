import t from 'tap';
import type { UntangledState } from '../../src/contract/untangle-answer.js';
import { deadlineExceeded } from '../../src/jobs/deadline.js';
import type { UntangleTask } from '../../src/jobs/tasks.js';
import { refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { at, opening, openRoom, stepOf } from './room.js';

const UNTANGLE = { parameters: { onIntersectingStart: 'UNTANGLE', damping: 0.5 } } as const;

t.test('a session opens on the untangled start, and says how it was made until its first step', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const layers = [{ inner: 'left', outer: 'right' }];
  const request = opening({ ...UNTANGLE, untangle: { layers, maxIterations: 9 }, timeBudgetSeconds: 5 });
  const session = await operations.createSession(request);
  t.match(scheduler.untanglings[0]!.task.request, {
    positions: at(0),
    parameters: { onIntersectingStart: 'REJECT', damping: 0.5 },
    layers,
    maxIterations: 9,
    timeBudgetSeconds: 5,
  });
  t.same(scheduler.opens[0]!.task.state.start, at(0.25));
  t.match(scheduler.opens[0]!.task.parameters, { onIntersectingStart: 'REJECT', damping: 0.5 });
  t.match(session.untangle, { positions: at(0.25), report: { status: 'FREE' } });
  t.ok((await operations.getSession(session.id)).untangle, 'a caller whose answer was lost can read it');
  const { sessions } = await operations.listSessions({});
  t.match(sessions, [{ id: session.id }]);
  t.notOk(sessions[0]!.untangle, 'a list has no positions');
  await operations.step(stepOf(session, 1));
  t.notOk((await operations.getSession(session.id)).untangle);
});

t.test('a start that cannot be freed opens no session, and the remaining pairs are named', async (t) => {
  const { operations, scheduler } = openRoom(t);
  scheduler.untangleStatus = 'PARTIAL';
  const refusal = await refusalOf(operations.createSession(opening(UNTANGLE)));
  t.match(refusal, { code: 'INTERSECTING_START', message: /1 of 5 pierces are left/, pairCount: 1 });
  t.equal(refusal.pairs.length, 1);
  t.equal(scheduler.opens.length, 0);
  t.same((await operations.listSessions({})).sessions, []);
});

t.test(
  'the same key returns the same session, even if its start was untangled; another hint is another payload',
  async (t) => {
    const { operations, scheduler } = openRoom(t);
    const request = () => opening({ ...UNTANGLE, idempotencyKey: 'k', untangle: { turned: [1] } });
    const first = await operations.createSession(request());
    const second = await operations.createSession(request());
    t.equal(second.id, first.id);
    t.equal(scheduler.untanglings.length, 1);
    const other = operations.createSession({ ...request(), untangle: { turned: [2] } });
    t.equal((await refusalOf(other)).code, 'INVALID_PARAMETER');
    const moved = operations.createSession({ ...request(), start: at(0.25) });
    t.equal((await refusalOf(moved)).code, 'INVALID_PARAMETER', 'the key stands for the start that was sent');
  },
);

t.test('hints without the policy are refused, and so is the policy anywhere else', async (t) => {
  const { operations } = openRoom(t);
  const hints = operations.createSession(opening({ untangle: { turned: [1] } }));
  t.match(await refusalOf(hints), { code: 'INVALID_PARAMETER', message: /untangle/ });
  const session = await operations.createSession(opening());
  const update = operations.updateSession({ sessionId: session.id, ...UNTANGLE });
  t.match(await refusalOf(update), { code: 'INVALID_PARAMETER', message: /onIntersectingStart/ });
});

t.test('an untangling as a job reports its progress and keeps its answer', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const { mesh, start } = opening();
  const { id } = await operations.submitJob({ untangle: { mesh, positions: start, parameters: {} } });
  const job = await operations.getJob({ jobId: id, waitSeconds: 5 });
  t.equal(job.state, 'JOB_DONE');
  t.equal(scheduler.untanglings[0]!.hooks.claim.priority, 'BATCH');
  scheduler.untanglings[0]!.hooks.onUntangleProgress?.({
    phase: 'UNTANGLING',
    iteration: 2,
    pierces: 7,
    contours: 1,
    regionVertices: 3,
  });
  t.match(await operations.getJob({ jobId: id }), { untangleProgress: { iteration: 2, pierces: 7 } });
  t.match(await operations.getJobResult({ jobId: id }), {
    isReplay: true,
    untangle: { positions: at(0.25), report: { status: 'FREE' } },
  });
});

t.test('a budget, the queue and the caller end an untangling as they end a resolve', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const { mesh, start } = opening();
  await operations.untangle({ mesh, positions: start, parameters: {}, timeBudgetSeconds: 2, priority: 'INTERACTIVE' });
  const { hooks, task } = scheduler.untanglings[0]!;
  t.equal(hooks.claim.priority, 'INTERACTIVE');
  t.equal(hooks.expiresAt, task.receivedAt + 2000);
  const late = operations.untangle({ mesh, positions: start, parameters: {}, timeBudgetSeconds: 1e9 });
  t.equal((await refusalOf(late)).code, 'INVALID_PARAMETER');
});

t.test('a creation that a second caller has joined goes on within the budget of that caller', async (t) => {
  for (const ends of ['late', 'refused in the queue', 'without progress'] as const) {
    const { operations, scheduler, clock } = openRoom(t);
    const untangle = scheduler.untangle.bind(scheduler);
    let release = () => {};
    const budgets: (number | undefined)[] = [];
    Object.assign(scheduler, {
      untangle: async (task: UntangleTask, hooks: Parameters<typeof untangle>[1]): Promise<UntangledState> => {
        budgets.push(task.request.timeBudgetSeconds);
        if (budgets.length > 1) return untangle(task, hooks);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        if (ends === 'refused in the queue') throw deadlineExceeded('in the queue');
        const { report, ...state } = await untangle(task, hooks);
        const ended = ends === 'late' ? 'TIME_BUDGET' : 'NO_PROGRESS';
        return { ...state, report: { ...report, status: 'PARTIAL', ended } };
      },
    });
    const request = (timeBudgetSeconds: number) => opening({ ...UNTANGLE, idempotencyKey: 'k', timeBudgetSeconds });
    const first = refusalOf(operations.createSession(request(2)));
    await settle();
    const second = operations.createSession(request(9));
    const refused = ends === 'without progress' ? refusalOf(second) : undefined;
    clock.advance(2000);
    await settle();
    release();
    t.equal((await first).code, 'DEADLINE_EXCEEDED');
    if (refused) t.equal((await refused).code, 'INTERSECTING_START', 'more time would not help');
    else t.match(await second, { untangle: { report: { status: 'FREE' } } });
    t.same(budgets, refused ? [2] : [2, 9]);
  }
});
