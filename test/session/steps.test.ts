import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { StepRequest } from '../../src/contract/sessions.js';
import { LIMITS, refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { at, opening, openRoom, stepOf, tenant } from './room.js';

t.test('each step continues from the previous one', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  const first = await operations.step(stepOf(session, 4));
  t.match(first, { frame: 1n, isReplay: false, positions: at(2) });
  const second = await operations.step(stepOf(session, undefined, { frame: 5n }));
  t.match(second, { frame: 5n, positions: at(3) }, 'the last target holds on; gaps between frames are allowed');
  const third = await operations.step(stepOf(session, 4, { start: at(10) }));
  t.match(third, { frame: 6n, positions: at(7) });
  t.same(
    scheduler.steps.map(({ task }) => task.start),
    [undefined, undefined, at(10)],
  );
  const info = await operations.getSession(session.id);
  t.match(info, { frame: 6n, lastReport: { steps: 7 } });
  t.match(scheduler.steps[0]!.hooks.claim, { tenant: 'default', session: 1, priority: 'NORMAL' });
});

t.test('the session copies a target unless the caller handed it over', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  const target = at(4);
  await operations.step({ sessionId: session.id, target });
  t.not(scheduler.steps[0]!.task.target, target);
  target.fill(9);
  await operations.step(stepOf(session, undefined));
  t.same(scheduler.steps[1]!.task.target, at(4), 'what the caller writes later changes nothing');
  await operations.step({ sessionId: session.id, target }, { isHandedOver: true });
  t.equal(scheduler.steps[2]!.task.target, target);
});

t.test('before the first step the start is the target', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening({ start: at(3) }));
  await operations.step(
    stepOf(session, undefined, { partTargets: [{ part: 'right', target: Float32Array.of(9, 9, 9) }] }),
  );
  t.same([...scheduler.steps[0]!.task.target], [3, 3, 3, 3, 3, 3, 9, 9, 9]);
  await operations.step(stepOf(session, undefined));
  t.same([...scheduler.steps[1]!.task.target], [3, 3, 3, 3, 3, 3, 9, 9, 9], 'parts keep their targets');
});

t.test('the fields of a step reach the scheduler', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const caller = { tenant: 'anna', maxPriority: 'NORMAL' as const };
  const session = await operations.createSession(opening(), { caller });
  const request = stepOf(session, 1, {
    include: { contacts: true },
    timeBudgetSeconds: 2,
    onBudget: 'FAIL',
    priority: 'INTERACTIVE',
  });
  await operations.step(request, { caller, receivedAt: performance.now() });
  const { task, hooks } = scheduler.steps[0]!;
  t.match(task, { include: { contacts: true }, timeBudgetSeconds: 2, onBudget: 'FAIL', queuedAt: clock.monotonicMs() });
  t.equal(hooks.expiresAt, task.receivedAt + 2000);
  t.match(hooks.claim, { tenant: 'anna', priority: 'NORMAL' }, 'capped by the key');
  for (const timeBudgetSeconds of [0, -1, 601, NaN]) {
    const refusal = await refusalOf(operations.step({ ...request, timeBudgetSeconds }, { caller }));
    t.equal(refusal.code, 'INVALID_PARAMETER', `${timeBudgetSeconds} s`);
  }
});

t.test('a step without a time budget gets the default of the server', async (t) => {
  const limits = { ...LIMITS, defaultTimeBudgetSeconds: 7 };
  const { operations, scheduler } = openRoom(t, { limits });
  const session = await operations.createSession(opening());
  await operations.step(stepOf(session, 1, { frame: 1n }));
  const { task, hooks } = scheduler.steps[0]!;
  t.equal(task.timeBudgetSeconds, 7);
  t.equal(hooks.expiresAt, task.receivedAt + 7000);
  await operations.step(stepOf(session, 2, { timeBudgetSeconds: 2 }));
  t.equal(scheduler.steps[1]!.task.timeBudgetSeconds, 2, 'a budget of its own counts');
  const plain = openRoom(t);
  await plain.operations.step(stepOf(await plain.operations.createSession(opening()), 1));
  t.equal(plain.scheduler.steps[0]!.task.timeBudgetSeconds, undefined, 'without a default there is none');
});

t.test('an accepted frame that is sent again gets the stored answer, the same objects', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  const first = await operations.step(stepOf(session, 4, { frame: 3n }));
  const again = await operations.step(stepOf(session, 4, { frame: 3n, timeBudgetSeconds: 1 }));
  t.equal(again.isReplay, true);
  t.equal(again.frame, 3n);
  t.equal(again.positions, first.positions);
  t.equal(again.report, first.report);
  t.equal(scheduler.steps.length, 1);
  t.equal((await refusalOf(operations.step(stepOf(session, 5, { frame: 3n })))).code, 'FRAME_CONFLICT');
  t.equal((await refusalOf(operations.step(stepOf(session, 4, { frame: 2n })))).code, 'FRAME_OUT_OF_ORDER');
  t.equal((await refusalOf(operations.step(stepOf(session, 4, { frame: 0n })))).code, 'FRAME_OUT_OF_ORDER');
  t.equal((await refusalOf(operations.step(stepOf(session, 4, { frame: 2n ** 64n })))).code, 'INVALID_PARAMETER');
});

t.test('a stored answer is available while the next step runs', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  await operations.step(stepOf(session, 4, { frame: 1n }));
  scheduler.isManual = true;
  const running = operations.step(stepOf(session, 6, { frame: 2n }));
  await settle();
  t.equal((await operations.step(stepOf(session, 4, { frame: 1n }))).isReplay, true);
  scheduler.steps.at(-1)!.finish();
  await running;
});

t.test('refused and failed steps change nothing', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  await operations.step(stepOf(session, 4));
  const before = await operations.getSession(session.id);
  const bytes = operations.stats().hostBytes;
  const wrong: Partial<StepRequest>[] = [
    { target: at(1).subarray(1) },
    { partTargets: [{ part: 'no', target: at(1) }] },
    { kinematic: Uint8Array.of(2, 0, 0) },
    { masses: Float32Array.of(1, -1, 1) },
  ];
  for (const more of wrong) t.ok(await refusalOf(operations.step(stepOf(session, undefined, more))));
  t.equal(scheduler.steps.length, 1, 'invalid creations are refused before any work');
  scheduler.isManual = true;
  const failing = refusalOf(operations.step(stepOf(session, 8, { masses: Float32Array.of(1, 2, 3), frame: 9n })));
  await settle();
  scheduler.steps[1]!.fail(new IntersticeError('DEVICE_LOST', 'gone'));
  t.equal((await failing).code, 'DEVICE_LOST');
  t.same(await operations.getSession(session.id), before);
  t.equal(operations.stats().hostBytes, bytes);
  scheduler.isManual = false;
  await operations.step(stepOf(session, undefined));
  const { task } = scheduler.steps[2]!;
  t.same(task.target, at(4), 'the last target is the last accepted one');
  t.match(task.state, { meshVersion: 0, stateVersion: scheduler.steps[0]!.task.nextVersion, start: at(2) });
  t.notOk(task.state.mesh.masses);
  const versions = scheduler.steps.map(({ task }) => task.nextVersion);
  t.equal(new Set(versions).size, versions.length, 'each version is used once');
});

t.test('flags and masses apply from their step on', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  await operations.step(stepOf(session, 1, { kinematic: Uint8Array.of(1, 0, 0) }));
  await operations.step(stepOf(session, 1, { masses: Float32Array.of(1, 2, 3) }));
  await operations.step(stepOf(session, 1));
  const states = scheduler.steps.map(({ task }) => task.state);
  t.match(states[2]!.mesh, { kinematic: Uint8Array.of(1, 0, 0), masses: Float32Array.of(1, 2, 3) });
  t.equal(states[2]!.meshVersion, states[1]!.meshVersion);
  t.not(states[1]!.meshVersion, states[0]!.meshVersion);
});

t.test('steps run one at a time in the order of arrival, each from the result of the previous one', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const answers = [4, 8, 12].map((target) => operations.step(stepOf(session, target)));
  await settle();
  t.equal(scheduler.steps.length, 1);
  t.match(operations.stats(), { waiting: 2 });
  for (let i = 0; i < 3; i++) {
    scheduler.steps[i]!.finish();
    await settle();
  }
  t.same(
    (await Promise.all(answers)).map(({ frame, positions }) => [frame, positions[0]]),
    [
      [1n, 2],
      [2n, 5],
      [3n, 8.5],
    ],
  );
  t.match(operations.stats(), { waiting: 0 });
});

t.test('a frame is judged at its turn: an earlier step that fails causes no refusal', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const five = refusalOf(operations.step(stepOf(session, 1, { frame: 5n })));
  const four = operations.step(stepOf(session, 1, { frame: 4n }));
  const next = operations.step(stepOf(session, 1));
  await settle();
  scheduler.steps[0]!.fail(new IntersticeError('INTERSECTING_START', 'x'));
  await five;
  await settle();
  scheduler.steps[1]!.finish();
  t.equal((await four).frame, 4n);
  await settle();
  scheduler.steps[2]!.finish();
  t.equal((await next).frame, 5n, 'unset is the last accepted + 1');

  const seven = operations.step(stepOf(session, 1, { frame: 7n }));
  const six = refusalOf(operations.step(stepOf(session, 1, { frame: 6n })));
  await settle();
  scheduler.steps[3]!.finish();
  await seven;
  t.equal((await six).code, 'FRAME_OUT_OF_ORDER');
  t.equal(scheduler.steps.length, 4);
});

t.test('a retry joins the pending step of its frame', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const running = operations.step(stepOf(session, 4, { frame: 1n }));
  const waiting = operations.step(stepOf(session, 8, { frame: 2n }));
  const joined = [
    operations.step(stepOf(session, 4, { frame: 1n })),
    operations.step(stepOf(session, 8, { frame: 2n })),
  ];
  t.equal((await refusalOf(operations.step(stepOf(session, 5, { frame: 1n })))).code, 'FRAME_CONFLICT');
  t.equal((await refusalOf(operations.step(stepOf(session, 5, { frame: 2n })))).code, 'FRAME_CONFLICT');
  await settle();
  scheduler.steps[0]!.finish();
  await settle();
  scheduler.steps[1]!.finish();
  const [a, b, c, d] = await Promise.all([running, waiting, ...joined]);
  t.equal(scheduler.steps.length, 2);
  t.same(
    [a, b, c, d].map((answer) => answer!.isReplay),
    [false, false, true, true],
  );
  t.equal(c!.positions, a!.positions);
  t.equal(c!.report, a!.report);
  t.equal(d!.report, b!.report);
});

t.test(
  'a step that keeps its target has the scalar that it asks for, or is refused before it is computed',
  async (t) => {
    const { operations, scheduler } = openRoom(t);
    const session = await operations.createSession(opening());
    const double = await operations.step(stepOf(session, undefined, { frame: 1n, scalar: 'FLOAT64' }));
    t.ok(double.positions instanceof Float64Array);
    const refusal = await refusalOf(operations.step(stepOf(session, undefined, { frame: 2n, scalar: 'FLOAT32' })));
    t.equal(refusal.code, 'INVALID_PARAMETER');
    t.equal(scheduler.steps.length, 1);
    t.ok((await operations.step(stepOf(session, undefined, { frame: 1n, scalar: 'FLOAT64' }))).isReplay);
    const other = await refusalOf(operations.step(stepOf(session, undefined, { frame: 1n, scalar: 'FLOAT32' })));
    t.equal(other.code, 'FRAME_CONFLICT', 'the stored answer has another scalar');
    t.equal((await operations.getSession(session.id)).frame, 1n);
  },
);

t.test('the number of waiting steps is bounded', async (t) => {
  const { operations, scheduler } = openRoom(t, { limits: { ...LIMITS, maxSessions: 8, maxQueue: 2 } });
  const session = await operations.createSession(opening());
  const other = await operations.createSession(opening(), tenant('bert'));
  scheduler.isManual = true;
  const abort = new AbortController();
  const { signal } = abort;
  const mine = [1, 2, 3].map((target) => operations.step(stepOf(session, target), { signal }).catch(() => {}));
  await settle();
  const refusal = await refusalOf(operations.step(stepOf(session, 9)));
  t.match(refusal, { code: 'QUEUE_FULL', message: /2 requests are waiting/, retryAfterSeconds: 1 });
  const first = operations.step(stepOf(other, 1), { ...tenant('bert'), signal }).catch(() => {});
  await settle();
  t.equal(scheduler.steps.length, 2, 'a session without pending steps is not affected');
  abort.abort();
  await Promise.all([...mine, first]);
  await settle();
  t.equal(operations.stats().waiting, 0);
});

t.test('the bytes of waiting steps are bounded', async (t) => {
  const { operations, scheduler } = openRoom(t, { maxQueueBytes: 100 });
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const steps = [1, 2, 3].map((target) => operations.step(stepOf(session, target)));
  await settle();
  const refusal = await refusalOf(operations.step(stepOf(session, 9)));
  t.match(refusal, { code: 'QUEUE_FULL', retryAfterSeconds: 1 });
  t.match(
    refusal.message,
    /2 requests of 72 bytes are waiting already; with 36 more, the limit of 100 bytes would be exceeded/,
  );
  scheduler.waitingBytes = 30;
  t.equal((await refusalOf(operations.step(stepOf(session, 9)))).code, 'QUEUE_FULL');
  scheduler.waitingBytes = 0;
  for (let done = 0; done < 2; done++) {
    scheduler.steps[done]!.finish();
    await steps[done];
    await settle();
  }
  // One step has started: two of 36 bytes fit again.
  const late = operations.step(stepOf(session, 4));
  await settle();
  for (let done = 2; done < 4; done++) {
    scheduler.steps[done]!.finish();
    await (done === 2 ? steps[2] : late);
    await settle();
  }
  t.equal(operations.stats().waiting, 0);
});

t.test('progress goes to all callers that wait when the step starts', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const seen: string[] = [];
  const blocking = operations.step(stepOf(session, 1));
  const steps = ['a', 'b'].map((name) =>
    operations.step(stepOf(session, 4, { frame: 7n }), { onProgress: ({ steps }) => seen.push(`${name}${steps}`) }),
  );
  await settle();
  t.equal(scheduler.steps[0]!.hooks.onProgress, undefined, 'no caller asked for progress');
  scheduler.steps[0]!.finish();
  await settle();
  scheduler.steps[1]!.hooks.onProgress!({ steps: 3, residual: 1, unfinishedVertices: 1 });
  scheduler.steps[1]!.finish();
  await Promise.all([blocking, ...steps]);
  t.same(seen, ['a3', 'b3']);
});

t.test('host memory is counted when it is kept; a refusal names the demand', async (t) => {
  const mesh = 3 * 4;
  const { operations } = openRoom(t, { maxSessionBytes: mesh + 4 * 36 });
  const session = await operations.createSession(opening());
  t.equal(
    operations.stats().hostBytes,
    mesh + 3 * 36,
    'room for an answer and a target beside the start is counted from the beginning',
  );
  await operations.step(stepOf(session, 4));
  t.equal(operations.stats().hostBytes, mesh + 3 * 36);
  const double = new Float64Array(9);
  const refusal = await refusalOf(operations.step({ sessionId: session.id, start: double, target: double.slice() }));
  t.match(refusal, { code: 'TOO_LARGE', message: /would need 228 bytes.*hold 156/ }, 'no room alone');
  await operations.step(stepOf(session, 4, { start: at(0) }));
  t.equal(operations.stats().hostBytes, mesh + 4 * 36, 'a start that was sent is kept to recognise retries');
});

t.test('a step that has room alone, but not beside another session, may be sent again', async (t) => {
  const { operations } = openRoom(t, { maxSessionBytes: 2 * (3 * 4 + 3 * 36) });
  const session = await operations.createSession(opening());
  const other = await operations.createSession(opening());
  const step = stepOf(session, 4, { start: at(0) });
  t.match(await refusalOf(operations.step(step)), { code: 'QUOTA_EXCEEDED', message: /needs 36.*hold 276.*is 240/ });
  await operations.deleteSession(other.id);
  t.equal((await operations.step(step)).frame, 1n);
});

t.test('an answer for which sessions have no room is refused, and the session is unchanged', async (t) => {
  const mesh = 3 * 4;
  const { operations, scheduler } = openRoom(t, { maxSessionBytes: mesh + 4 * 36 });
  const session = await operations.createSession(opening());
  const step = scheduler.step.bind(scheduler);
  scheduler.step = async (task, hooks) => {
    const path = { phases: Uint8Array.of(1, 5), steps: Uint32Array.of(0, 1), positions: new Float32Array(18) };
    return { ...(await step(task, hooks)), ...(task.include?.path ? { path } : {}) };
  };
  const withPath = operations.step(stepOf(session, 4, { include: { path: true } }));
  t.match(await refusalOf(withPath), { code: 'TOO_LARGE', message: /would need 2\d\d bytes.*hold 156/ });
  t.equal(operations.stats().hostBytes, mesh + 3 * 36);
  t.equal((await operations.step(stepOf(session, 4))).frame, 1n);
});

t.test('every call is reported to the observer with its cost', async (t) => {
  const { operations, events } = openRoom(t);
  const session = await operations.createSession(opening(), tenant('anna'));
  await operations.step(stepOf(session, 1, { frame: 1n }), tenant('anna'));
  await operations.step(stepOf(session, 1, { frame: 1n }), tenant('anna'));
  await refusalOf(operations.step(stepOf(session, 2, { frame: 1n }), tenant('anna')));
  const steps = events.filter((event) => event.type === 'request' && event.operation === 'step');
  t.match(steps, [
    { code: 'OK', tenant: 'anna', seconds: Number, report: { steps: 7 }, isReplay: false },
    { code: 'OK', isReplay: true },
    { code: 'FRAME_CONFLICT' },
  ]);
  t.notOk('report' in steps[1]!, 'nothing was computed');
  t.notMatch(JSON.stringify(events), session.id, 'no event names a session');
});

t.test('an observer that throws affects no request', async (t) => {
  const { operations, logged } = openRoom(t, {
    onEvent: () => {
      throw new Error('broken');
    },
  });
  t.ok((await operations.createSession(opening())).id);
  t.match(logged[0], { event: 'observer-failed' });
});
