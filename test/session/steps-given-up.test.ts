import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { refusalOf } from '../support/job.js';
import { freshReport, settle } from './fake-scheduler.js';
import { at, opening, openRoom, stepOf } from './room.js';

t.test('the work stops only when the last caller that joined has left', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const [first, second] = [new AbortController(), new AbortController()];
  const one = refusalOf(operations.step(stepOf(session, 4, { frame: 1n }), { signal: first.signal }));
  const two = refusalOf(operations.step(stepOf(session, 4, { frame: 1n }), { signal: second.signal }));
  await settle();
  const { signal } = scheduler.steps[0]!.hooks;
  first.abort();
  t.equal((await one).code, 'CANCELLED');
  t.notOk(signal!.aborted);
  second.abort();
  const retry = operations.step(stepOf(session, 4, { frame: 1n }));
  t.equal((await two).code, 'CANCELLED');
  t.ok(signal!.aborted);
  await settle();
  t.equal(scheduler.steps.length, 2, 'a retry after that is computed anew');
  scheduler.steps[1]!.finish();
  t.match(await retry, { frame: 1n, isReplay: false, positions: at(2) });
});

t.test('after the first caller has left, the second one gets the answer as its own', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const abort = new AbortController();
  const one = refusalOf(operations.step(stepOf(session, 4, { frame: 1n }), { signal: abort.signal }));
  const two = operations.step(stepOf(session, 4, { frame: 1n }));
  await settle();
  abort.abort();
  await one;
  scheduler.steps[0]!.finish();
  t.match(await two, { isReplay: false, frame: 1n }, 'its transport writes the times into the report');
});

t.test('after a cancel before the commit the next step starts from the old state', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const abort = new AbortController();
  const gone = refusalOf(operations.step(stepOf(session, 4), { signal: abort.signal }));
  await settle();
  scheduler.steps[0]!.finish();
  abort.abort();
  t.equal((await gone).code, 'CANCELLED', 'the lane had answered, but no caller was left');
  await settle();
  const next = operations.step(stepOf(session, 8));
  await settle();
  t.match(scheduler.steps[1]!.task.state, { stateVersion: 0, start: at(0) });
  scheduler.steps[1]!.finish();
  t.match(await next, { frame: 1n, positions: at(4) });
});

t.test('a cancel after the commit changes nothing', async (t) => {
  const { operations } = openRoom(t);
  const session = await operations.createSession(opening());
  const abort = new AbortController();
  const answer = await operations.step(stepOf(session, 4), { signal: abort.signal });
  abort.abort();
  await settle();
  t.equal(answer.frame, 1n);
  t.equal((await operations.getSession(session.id)).frame, 1n);
});

t.test('cancelling a step that waits removes it from the queue', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const running = operations.step(stepOf(session, 4));
  const abort = new AbortController();
  const waiting = refusalOf(operations.step(stepOf(session, 6), { signal: abort.signal }));
  await settle();
  abort.abort();
  t.equal((await waiting).code, 'CANCELLED');
  t.equal(operations.stats().waiting, 0);
  scheduler.steps[0]!.finish();
  await running;
  await settle();
  t.equal(scheduler.steps.length, 1);
  t.equal(
    (await refusalOf(operations.step(stepOf(session, 6), { signal: abort.signal }))).code,
    'CANCELLED',
    'gone at once',
  );
});

t.test('a time budget also runs while a step waits behind another one', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const running = operations.step(stepOf(session, 4, { frame: 1n }));
  const waiting = refusalOf(operations.step(stepOf(session, 6, { timeBudgetSeconds: 2 })));
  const joined = refusalOf(operations.step(stepOf(session, 4, { frame: 1n, timeBudgetSeconds: 3 })));
  await settle();
  clock.advance(2000);
  t.equal((await waiting).code, 'DEADLINE_EXCEEDED');
  clock.advance(1000);
  t.equal((await joined).code, 'DEADLINE_EXCEEDED', 'a caller that joined waits no longer than its own budget');
  scheduler.steps[0]!.finish();
  t.equal((await running).frame, 1n);
  await settle();
  t.equal(scheduler.steps.length, 1);
});

t.test('the lane keeps the deadline of a step that has started, and may return a safe state', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const step = operations.step(stepOf(session, 4, { timeBudgetSeconds: 2 }));
  await settle();
  clock.advance(2001);
  scheduler.steps[0]!.finish();
  t.equal((await step).frame, 1n, 'accepted');
});

t.test('a step with FAIL is refused when its time is over, and its work is stopped', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const step = refusalOf(operations.step(stepOf(session, 4, { timeBudgetSeconds: 2, onBudget: 'FAIL' })));
  await settle();
  clock.advance(2000);
  t.match(await step, { code: 'DEADLINE_EXCEEDED' });
  t.ok(scheduler.steps[0]?.hooks.signal?.aborted);
  t.equal((await operations.getSession(session.id)).frame, 0n);
});

t.test('an answer that arrives too late for FAIL is not accepted, even before the timer fires', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  for (const [passed, isLate] of [
    [1999, false],
    [2000, true],
  ] as const) {
    const frame = BigInt(scheduler.steps.length + 1);
    const step = operations.step(stepOf(session, 4, { timeBudgetSeconds: 2, onBudget: 'FAIL' }));
    await settle();
    clock.jump(passed);
    scheduler.steps.at(-1)!.finish();
    if (isLate) t.match(await refusalOf(step), { code: 'DEADLINE_EXCEEDED', message: /on the way back/ });
    else t.equal((await step).frame, frame);
    t.equal((await operations.getSession(session.id)).frame, 1n);
  }
});

t.test('a retry is not refused because the time of an earlier call is over', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const send = (timeBudgetSeconds: number) =>
    operations.step(stepOf(session, 4, { frame: 1n, timeBudgetSeconds, onBudget: 'FAIL' }));
  const one = refusalOf(send(2));
  await settle();
  clock.advance(1000);
  const [two, three] = [refusalOf(send(2)), send(4)];
  clock.advance(1000);
  t.match(await one, { code: 'DEADLINE_EXCEEDED' });
  const over = new IntersticeError('DEADLINE_EXCEEDED', 'The time budget was spent in the engine.');
  scheduler.steps[0]!.fail(over);
  await settle();
  t.equal(scheduler.steps.length, 2, 'the step starts again');
  t.match(scheduler.steps[1], {
    task: { state: { stateVersion: 0 }, timeBudgetSeconds: 2, receivedAt: 2000 },
    hooks: { expiresAt: 4000 },
  });
  clock.advance(1000);
  t.match(await two, { code: 'DEADLINE_EXCEEDED' });
  t.notOk(scheduler.steps[1]!.hooks.signal!.aborted);
  scheduler.steps[1]!.fail(over);
  await settle();
  t.match(scheduler.steps[2], { task: { timeBudgetSeconds: 4 }, hooks: { expiresAt: 6000 } });
  scheduler.steps[2]!.finish();
  t.match(await three, { frame: 1n, isReplay: false, positions: at(2) });
  t.equal((await operations.getSession(session.id)).frame, 1n);
  t.equal((await operations.step(stepOf(session, 4, { frame: 1n }))).isReplay, true);
  t.equal(scheduler.steps.length, 3);
});

t.test('a retry with time left gets an answer that is too late for the first call', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const send = (timeBudgetSeconds: number) =>
    operations.step(stepOf(session, 4, { frame: 1n, timeBudgetSeconds, onBudget: 'FAIL' }));
  const [one, two, three] = [refusalOf(send(2)), send(4), refusalOf(send(1))];
  await settle();
  // No timer has fired yet.
  clock.jump(2000);
  scheduler.steps[0]!.finish();
  t.match(await one, { code: 'DEADLINE_EXCEEDED', message: /on the way back/ });
  t.match(await three, { code: 'DEADLINE_EXCEEDED', message: /on the way back/ });
  t.match(await two, { frame: 1n, isReplay: false });
  t.equal(scheduler.steps.length, 1);
});

t.test(
  'a step that ends without an answer because of the first budget starts again under the rules of the next call',
  async (t) => {
    const { operations, scheduler, clock } = openRoom(t);
    const session = await operations.createSession(opening());
    scheduler.isManual = true;
    const one = refusalOf(operations.step(stepOf(session, 4, { frame: 1n, timeBudgetSeconds: 1 })));
    const two = operations.step(stepOf(session, 4, { frame: 1n, timeBudgetSeconds: 3 }));
    await settle();
    clock.advance(1000);
    scheduler.steps[0]!.fail(new IntersticeError('DEADLINE_EXCEEDED', 'The time budget was spent in the queue.'));
    t.match(await one, { code: 'DEADLINE_EXCEEDED' });
    await settle();
    // Under RETURN_SAFE the lane observes the deadline.
    clock.advance(2001);
    scheduler.steps[1]!.finish();
    t.match(await two, { frame: 1n, isReplay: false });
  },
);

t.test('a resolve with FAIL is refused when its time is over, and its work is stopped', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const { mesh, start, parameters } = opening();
  const signals: (AbortSignal | undefined)[] = [];
  scheduler.resolve = (_task, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const request = { mesh, start, target: at(1), parameters, timeBudgetSeconds: 2, onBudget: 'FAIL' as const };
  const refusal = refusalOf(operations.resolve(request));
  await settle();
  clock.advance(2000);
  t.match(await refusal, { code: 'DEADLINE_EXCEEDED' });
  t.equal(signals[0]?.aborted, true);

  scheduler.resolve = async () => {
    clock.jump(2000);
    return { positions: at(1), report: freshReport() };
  };
  t.match(await refusalOf(operations.resolve(request)), { code: 'DEADLINE_EXCEEDED', message: /on the way back/ });
  t.same((await operations.resolve({ ...request, onBudget: 'RETURN_SAFE' })).positions, at(1));
});
