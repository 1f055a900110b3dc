import t from 'tap';
import type { CheckRequest } from '../../src/contract/requests.js';
import { LIMITS, refusalOf, spike } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { opening, openRoom, stepOf } from './room.js';

/** Checks and creations of sessions have no safe state to return: at the end of their time budget they are refused. */

const limits = { ...LIMITS, maxSessions: 8, defaultTimeBudgetSeconds: 7 };

function checks(sessionId: string): readonly CheckRequest[] {
  const { mesh, start } = spike(0.25, 0.5);
  return [{ mesh, positions: start }, { sessionId }];
}

t.test('a check ends with the default budget of the server, and the lane is told to stop', async (t) => {
  const { operations, scheduler, clock } = openRoom(t, { limits });
  const { id } = await operations.createSession(opening());
  scheduler.holdsChecks = true;
  for (const request of checks(id)) {
    const refusal = refusalOf(operations.check(request));
    await settle();
    const { hooks } = scheduler.checks.at(-1)!;
    clock.advance(6999);
    t.notOk(hooks.signal?.aborted, 'not before');
    clock.advance(1);
    t.equal((await refusal).code, 'DEADLINE_EXCEEDED');
    t.ok(hooks.signal?.aborted);
  }
});

t.test('a budget of its own counts from receipt, and has the maximum of the server', async (t) => {
  const { operations, scheduler, clock } = openRoom(t, { limits });
  const session = await operations.createSession(opening());
  scheduler.holdsChecks = true;
  for (const request of checks(session.id)) {
    const refusal = refusalOf(operations.check({ ...request, timeBudgetSeconds: 2 }));
    await settle();
    clock.advance(2000);
    t.equal((await refusal).code, 'DEADLINE_EXCEEDED');
    for (const timeBudgetSeconds of [0, 601, Number.NaN])
      t.match(await refusalOf(operations.check({ ...request, timeBudgetSeconds })), {
        code: 'INVALID_PARAMETER',
        message: /timeBudget/,
      });
  }
  t.equal(scheduler.checks.length, 2, 'what is refused at once is not queued');
});

t.test('a creation that takes too long leaves nothing behind', async (t) => {
  const { operations, scheduler, clock } = openRoom(t, { limits });
  scheduler.isManual = true;
  for (const [timeBudgetSeconds, ms] of [
    [undefined, 7000],
    [2, 2000],
  ] as const) {
    const request = opening(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds });
    const refusal = refusalOf(operations.createSession(request));
    await settle();
    clock.advance(ms - 1);
    t.notOk(scheduler.opens.at(-1)!.hooks.signal?.aborted, 'not before');
    clock.advance(1);
    t.equal((await refusal).code, 'DEADLINE_EXCEEDED');
    await settle();
    t.match(operations.stats(), { sessions: 0, hostBytes: 0, residentBytes: 0 });
  }
  t.match(await refusalOf(operations.createSession(opening({ timeBudgetSeconds: 601 }))), {
    code: 'INVALID_PARAMETER',
    message: /timeBudget is 601 s/,
  });
});

t.test('a retry with more time continues to wait for the session of its key', async (t) => {
  const { operations, scheduler, clock } = openRoom(t, { limits });
  scheduler.isManual = true;
  const first = refusalOf(operations.createSession(opening({ idempotencyKey: 'k', timeBudgetSeconds: 1 })));
  const second = operations.createSession(opening({ idempotencyKey: 'k', timeBudgetSeconds: 5 }));
  await settle();
  clock.advance(1000);
  t.equal((await first).code, 'DEADLINE_EXCEEDED');
  t.equal(scheduler.opens.length, 1);
  t.notOk(scheduler.opens[0]!.hooks.signal?.aborted, 'somebody still waits');
  scheduler.opens[0]!.finish();
  scheduler.isManual = false;
  await operations.step(stepOf(await second, 1));
});

t.test('within the time, and without a default, nothing is refused and no timer remains', async (t) => {
  for (const more of [{ limits }, {}]) {
    const { operations, clock } = openRoom(t, more);
    const { id } = await operations.createSession(opening({ idleTimeoutSeconds: 0 }));
    for (const request of checks(id)) t.equal((await operations.check(request)).intersectionCount, 1);
    t.equal(clock.timerCount, 0);
  }
});
