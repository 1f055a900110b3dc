import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { CreateSessionRequest } from '../../src/contract/sessions.js';
import { LIMITS, refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { at, opening, openRoom, stepOf, tenant } from './room.js';

t.test('the description of a new session', async (t) => {
  const { operations, clock, scheduler } = openRoom(t);
  scheduler.warnings = [{ code: 'UNUSED_VERTICES', message: 'one', count: 1 }];
  const session = await operations.createSession(opening({ label: 'cape', parameters: { damping: 0.5 } }));
  t.match(session.id, /^[0-9a-f]{32}$/);
  t.match(session, {
    frame: 0n,
    resolved: { damping: 0.5 },
    mesh: { vertices: 3, triangles: 1 },
    warnings: [{ code: 'UNUSED_VERTICES' }],
    label: 'cape',
    created: clock.wallMs(),
    lastUsed: clock.wallMs(),
    idleTimeoutSeconds: 900,
    residency: 'RESIDENT',
    deviceBytes: 100,
  });
  t.notOk('lastReport' in session);
  t.same(await operations.getSession(session.id), session);
  t.match(scheduler.opens[0]!.hooks.claim, { tenant: 'default', priority: 'NORMAL' });
});

t.test('the caller may reuse the arrays of its request', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const request = opening();
  const creating = operations.createSession(request);
  request.start.fill(7);
  request.mesh.triangles!.fill(7);
  const session = await creating;
  t.same(scheduler.opens[0]!.task.state.start, at(0));
  const target = at(1);
  const step = operations.step({ sessionId: session.id, target });
  await settle();
  target.fill(9);
  await step;
  await operations.step({ sessionId: session.id });
  t.same(scheduler.steps[1]!.task.target, at(1), 'the last target as it was sent');
  t.same(scheduler.steps[1]!.task.state.mesh.triangles, Uint32Array.of(0, 1, 2));
});

t.test('a session of another tenant is not found', async (t) => {
  const { operations } = openRoom(t);
  const { id } = await operations.createSession(opening(), tenant('anna'));
  const unknown = 'f'.repeat(32);
  const calls = [
    (id: string) => operations.getSession(id, tenant('bert')),
    (sessionId: string) => operations.updateSession({ sessionId, label: 'x' }, tenant('bert')),
    (id: string) => operations.deleteSession(id, tenant('bert')),
    (sessionId: string) => operations.step({ sessionId, target: at(1) }, tenant('bert')),
    (sessionId: string) => operations.check({ sessionId }, tenant('bert')),
  ];
  for (const call of calls) {
    const foreign = await refusalOf(call(id));
    const none = await refusalOf(call(unknown));
    t.equal(foreign.code, 'SESSION_NOT_FOUND');
    t.same({ ...none, message: none.message.replace(unknown, id) }, { ...foreign, message: foreign.message });
  }
  t.same((await operations.listSessions({}, tenant('bert'))).sessions, []);
  t.equal((await operations.getSession(id, tenant('anna'))).id, id);
  const odd = await refusalOf(operations.getSession('<script>'.repeat(1000)));
  t.ok(odd.message.length < 200, 'a malformed id is not repeated');
});

t.test('invalid creations are refused before any work', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const rows: [Partial<CreateSessionRequest>, string, RegExp][] = [
    [{ label: 'x'.repeat(257) }, 'INVALID_PARAMETER', /label has 257/],
    [{ idempotencyKey: 'x'.repeat(257) }, 'INVALID_PARAMETER', /idempotencyKey has 257/],
    [{ idleTimeoutSeconds: -1 }, 'INVALID_PARAMETER', /idleTimeout is -1 s/],
    [{ idleTimeoutSeconds: 86_401 }, 'INVALID_PARAMETER', /at most|to 86400/],
    [{ idleTimeoutSeconds: NaN }, 'INVALID_PARAMETER', /NaN/],
    [{ mesh: { vertexCount: 1e9 } }, 'TOO_LARGE', /1000000000 vertices/],
  ];
  for (const [more, code, message] of rows) {
    t.match(await refusalOf(operations.createSession(opening(more))), { code, message });
  }
  t.equal(scheduler.opens.length, 0);
  t.equal((await operations.createSession(opening({ label: '🙂'.repeat(256) }))).frame, 0n, 'characters, not units');
});

t.test('a refused creation leaves nothing behind', async (t) => {
  const { operations, scheduler } = openRoom(t);
  scheduler.isManual = true;
  const creating = refusalOf(operations.createSession(opening()));
  await settle();
  scheduler.opens[0]!.fail(new IntersticeError('INTERSECTING_START', 'they meet'));
  t.equal((await creating).code, 'INTERSECTING_START');
  t.match(operations.stats(), { sessions: 0, hostBytes: 0, residentBytes: 0 });
  t.same(scheduler.forgotten, [1]);
});

t.test('quotas of the server, of a tenant and of host memory; pending creations count', async (t) => {
  const { operations, scheduler } = openRoom(t, { maxSessionsPerTenant: 2, maxSessionBytes: 1000 });
  await operations.createSession(opening(), tenant('anna'));
  scheduler.isManual = true;
  const second = operations.createSession(opening(), tenant('anna'));
  await settle();
  const third = await refusalOf(operations.createSession(opening(), tenant('anna')));
  t.match(third, { code: 'QUOTA_EXCEEDED', message: /2 sessions.*limit for one tenant is 2/, retryAfterSeconds: 5 });
  const large = opening({ start: new Float32Array(120) });
  t.match(await refusalOf(operations.createSession(large, tenant('bert'))), {
    code: 'TOO_LARGE',
    message: /needs 1452 bytes.* all sessions together may hold 1000/,
    retryAfterSeconds: undefined,
  });
  t.match(await refusalOf(operations.createSession(opening({ start: new Float32Array(75) }), tenant('bert'))), {
    code: 'QUOTA_EXCEEDED',
    message: /needs 912 bytes.* the limit is 1000/,
  });
  scheduler.opens.at(-1)!.finish();
  const { id } = await second;
  await operations.deleteSession(id, tenant('anna'));
  scheduler.isManual = false;
  t.ok(await operations.createSession(opening(), tenant('anna')), 'a freed place can be used again');

  // No retry can help.
  const none = openRoom(t, { limits: { ...LIMITS, maxSessions: 0 } }).operations;
  const refusal = { code: 'UNIMPLEMENTED', retryable: false, message: /keeps no sessions/, hint: /without a session/ };
  t.match(await refusalOf(none.createSession(opening())), refusal);
  t.throws(() => none.preflight({ operation: 'createSession', bytes: 1 }), refusal);
  t.same(
    none.info().features.filter((feature) => /session|step|parking/.test(feature)),
    [],
  );

  const full = openRoom(t, { maxSessionsPerTenant: 100 });
  for (let i = 0; i < 8; i++) await full.operations.createSession(opening(), tenant(`t${i}`));
  t.match(await refusalOf(full.operations.createSession(opening())), {
    code: 'QUOTA_EXCEEDED',
    message: /holds 8 sessions already/,
  });

  const single = openRoom(t, { maxSessionsPerTenant: 1 });
  await single.operations.createSession(opening());
  t.match(await refusalOf(single.operations.createSession(opening())), { message: /^You have 1 session, and/ });
});

t.test('an idempotency key stands for one session', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const request = () => opening({ idempotencyKey: 'k', label: 'a' });
  scheduler.isManual = true;
  const both = [operations.createSession(request()), operations.createSession(request())];
  await settle();
  t.equal(scheduler.opens.length, 1, 'also while the first request is pending');
  const during = await refusalOf(operations.createSession({ ...request(), start: at(1) }));
  t.match(during, { code: 'INVALID_PARAMETER', message: /another payload/ });
  scheduler.opens[0]!.finish();
  const [first, second] = await Promise.all(both);
  t.equal(first!.id, second!.id);
  scheduler.isManual = false;
  t.equal((await operations.createSession(request())).id, first!.id, 'and afterwards');
  for (const change of [
    { label: 'b' },
    { parameters: { damping: 0.5 } },
    { start: at(2) },
    { idleTimeoutSeconds: 1 },
  ]) {
    const refusal = await refusalOf(operations.createSession({ ...request(), ...change }));
    t.equal(refusal.code, 'INVALID_PARAMETER', Object.keys(change).join());
  }
  await operations.updateSession({ sessionId: first!.id, label: 'changed' });
  t.equal((await operations.createSession(request())).id, first!.id, 'later changes of the session do not matter');
  t.not((await operations.createSession(request(), tenant('bert'))).id, first!.id, 'per tenant');
  await operations.deleteSession(first!.id);
  t.not((await operations.createSession(request())).id, first!.id, 'the key goes with its session');
});

t.test('a creation that fails releases its key; the cancel of one caller does not stop the other', async (t) => {
  const { operations, scheduler } = openRoom(t);
  scheduler.isManual = true;
  const request = opening({ idempotencyKey: 'k' });
  const failing = refusalOf(operations.createSession(request));
  await settle();
  scheduler.opens[0]!.fail(new IntersticeError('INTERNAL', 'x'));
  await failing;
  const abort = new AbortController();
  const gone = refusalOf(operations.createSession(request, { signal: abort.signal }));
  const staying = operations.createSession(request);
  await settle();
  abort.abort();
  t.equal((await gone).code, 'CANCELLED');
  t.notOk(scheduler.opens[1]!.hooks.signal!.aborted);
  scheduler.opens[1]!.finish();
  t.ok((await staying).id);
});

t.test('a creation that all callers have cancelled is undone, and its key is free at once', async (t) => {
  const { operations, scheduler } = openRoom(t);
  scheduler.isManual = true;
  const abort = new AbortController();
  const request = opening({ idempotencyKey: 'k' });
  const gone = refusalOf(operations.createSession(request, { signal: abort.signal }));
  await settle();
  abort.abort();
  const again = operations.createSession(request);
  t.equal((await gone).code, 'CANCELLED');
  await settle();
  scheduler.opens[1]!.finish();
  const { id } = await again;
  t.equal((await operations.listSessions({})).sessions.length, 1);
  scheduler.isManual = false;
  t.equal(
    (await operations.createSession(request)).id,
    id,
    'the end of the first creation did not remove the key of the second',
  );
});

t.test('a list is paged', async (t) => {
  const { operations } = openRoom(t);
  const ids: string[] = [];
  for (const label of ['a', 'b', 'a', 'a', 'b']) ids.push((await operations.createSession(opening({ label }))).id);
  const idsOf = async (request: Parameters<typeof operations.listSessions>[0]) => {
    const { sessions, nextPageToken } = await operations.listSessions(request);
    return { ids: sessions.map(({ id }) => id), nextPageToken };
  };
  t.same(await idsOf({}), { ids, nextPageToken: '' });
  t.same(await idsOf({ pageSize: 5 }), { ids, nextPageToken: '' }, 'a full last page has no next');
  t.same((await idsOf({ label: 'b' })).ids, [ids[1], ids[4]]);
  t.same((await idsOf({ label: '' })).ids, ids, 'no label is no filter');
  const first = await idsOf({ pageSize: 2 });
  t.same(first.ids, ids.slice(0, 2));
  await operations.deleteSession(ids[1]!);
  await operations.deleteSession(ids[2]!);
  const added = (await operations.createSession(opening())).id;
  const rest = await idsOf({ pageSize: 3, pageToken: first.nextPageToken });
  t.same(rest, { ids: [ids[3], ids[4], added], nextPageToken: '' }, 'nothing is repeated or left out');
  for (const request of [{ pageSize: 501 }, { pageSize: -1 }, { pageSize: 1.5 }, { pageToken: 'x' }]) {
    t.equal((await refusalOf(operations.listSessions(request))).code, 'INVALID_PARAMETER', JSON.stringify(request));
  }
  t.equal((await operations.listSessions({ pageSize: 500 })).sessions.length, 4);
});

t.test('an update replaces single parameters; a refused update changes nothing', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const created = await operations.createSession(opening({ label: 'a', parameters: { damping: 0.5, stepLimit: 9 } }));
  const { id: sessionId } = created;
  const updated = await operations.updateSession({ sessionId, parameters: { stepLimit: 7 }, idleTimeoutSeconds: 60 });
  t.match(updated, { resolved: { damping: 0.5, stepLimit: 7 }, idleTimeoutSeconds: 60, label: 'a' });
  const wrong = { sessionId, label: 'b', idleTimeoutSeconds: 5, parameters: { damping: 2 } };
  t.match(await refusalOf(operations.updateSession(wrong)), { code: 'INVALID_PARAMETER', message: /damping is 2/ });
  t.equal(
    (await refusalOf(operations.updateSession({ sessionId, parameters: { verify: 'NONE' } }))).code,
    'PERMISSION_DENIED',
  );
  const { lastUsed: _, ...now } = await operations.getSession(sessionId);
  t.match(updated, now);
  await operations.step(stepOf(created, 1, { override: { damping: 0.25 } }));
  await operations.step(stepOf(created, 1));
  t.match(scheduler.steps[0]!.task.parameters, { damping: 0.25, stepLimit: 7 });
  t.match(scheduler.steps[1]!.task.parameters, { damping: 0.5, stepLimit: 7 }, 'an override is for one step');
});

t.test('an update that conflicts with the distance of a part is refused, and changes nothing', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const { mesh } = opening();
  const parts = mesh.parts!.map((part, k) => (k === 0 ? { ...part, activationDistance: 0.5 } : part));
  const session = await operations.createSession(
    opening({ mesh: { ...mesh, parts }, parameters: { activationDistance: 0.1 } }),
  );
  const { id: sessionId } = session;
  const refusal = await refusalOf(operations.updateSession({ sessionId, label: 'b', parameters: { preset: 'PAPER' } }));
  t.match(refusal, { code: 'INVALID_PARAMETER', message: /parts\[0\].activationDistance is 0.5.*PAPER/ });
  t.match(refusal.hint, /searchRadiusMin/);
  t.match(await operations.getSession(sessionId), { label: '', resolved: { preset: 'TUNED' } });
  await operations.step(stepOf(session, 1));
  t.notMatch(scheduler.steps[0]?.task.parameters, { preset: 'PAPER' });
  const wider = { preset: 'PAPER', searchRadiusMin: 0.5 } as const;
  t.match(await operations.updateSession({ sessionId, parameters: wider }), { resolved: { preset: 'PAPER' } });
});

t.test('an update replaces the warnings about parameters and keeps those about the mesh', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const message =
    'activationDistance 0.9 exceeds half the median edge (1): neighbouring elements may push each other apart. A usual value is 0.1.';
  scheduler.warnings = [
    { code: 'UNUSED_VERTICES', message: 'one', count: 1 },
    { code: 'DELTA_ABOVE_HALF_EDGE', message, count: 1 },
  ];
  const { id, warnings } = await operations.createSession(opening({ parameters: { activationDistance: 0.9 } }));
  t.same(
    warnings.map(({ code }) => code),
    ['UNUSED_VERTICES', 'DELTA_ABOVE_HALF_EDGE'],
  );
  const updated = await operations.updateSession({ sessionId: id, parameters: { activationDistance: 0.1 } });
  t.same(
    updated.warnings.map(({ code }) => code),
    ['UNUSED_VERTICES'],
  );
});

t.test('a deleted session is not found, and its memory is freed', async (t) => {
  const { operations, scheduler, events } = openRoom(t);
  const session = await operations.createSession(opening());
  await operations.deleteSession(session.id);
  t.equal((await refusalOf(operations.deleteSession(session.id))).code, 'SESSION_NOT_FOUND');
  t.equal((await refusalOf(operations.step(stepOf(session, 1)))).code, 'SESSION_NOT_FOUND');
  t.same(scheduler.forgotten, [1]);
  t.match(operations.stats(), { sessions: 0, hostBytes: 0, residentBytes: 0 });
  t.match(
    events.filter(({ type }) => type === 'session'),
    [{ change: 'created' }, { change: 'deleted' }],
  );
});

t.test('deleting a session cancels its running step and its waiting ones', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const running = refusalOf(operations.step(stepOf(session, 1)));
  const waiting = refusalOf(operations.step(stepOf(session, 2)));
  await settle();
  await operations.deleteSession(session.id);
  t.match(await running, { code: 'CANCELLED', message: /session was deleted/ });
  t.match(await waiting, { code: 'CANCELLED', message: /session was deleted/ });
  t.ok(scheduler.steps[0]!.hooks.signal!.aborted);
  await settle();
  t.equal(scheduler.steps.length, 1);
  t.equal(operations.stats().waiting, 0);
});

t.test('idle sessions expire, except those at work and those without a timeout', async (t) => {
  const { operations, scheduler, clock, events } = openRoom(t, { idleTimeoutSeconds: 10 });
  const [a, b, c] = await Promise.all([
    operations.createSession(opening()),
    operations.createSession(opening({ idleTimeoutSeconds: 0 })),
    operations.createSession(opening({ idleTimeoutSeconds: 30 })),
  ]);
  clock.advance(9_999);
  await operations.step(stepOf(a!, 1));
  clock.advance(9_999);
  t.ok(await operations.getSession(a!.id), 'a step counts as use');
  scheduler.isManual = true;
  const step = operations.step(stepOf(a!, 1));
  await settle();
  clock.advance(100_000);
  t.ok(await operations.getSession(a!.id), 'work counts as use, however long');
  t.equal((await refusalOf(operations.getSession(c!.id))).code, 'SESSION_NOT_FOUND');
  scheduler.steps.at(-1)!.finish();
  await step;
  clock.advance(9_999);
  t.ok(await operations.getSession(a!.id), 'getSession does not count as use');
  clock.advance(1);
  t.equal((await refusalOf(operations.getSession(a!.id))).code, 'SESSION_NOT_FOUND');
  clock.advance(1e9);
  t.ok(await operations.getSession(b!.id));
  t.match(
    events.filter((event) => event.type === 'session' && event.change === 'expired'),
    [{ tenant: 'default' }, { tenant: 'default' }],
  );
  await operations.updateSession({ sessionId: b!.id, idleTimeoutSeconds: 5 });
  clock.advance(5_000);
  t.equal(
    (await refusalOf(operations.getSession(b!.id))).code,
    'SESSION_NOT_FOUND',
    'a new timeout counts from its update',
  );
  t.equal(clock.timerCount, 0);
});

t.test('a check of a session takes its last answer or the given positions, with its mesh', async (t) => {
  const { operations, scheduler } = openRoom(t);
  const session = await operations.createSession(opening());
  await operations.step(stepOf(session, 2, { kinematic: Uint8Array.of(1, 0, 0) }));
  await operations.check({ sessionId: session.id, maxPairs: 3 });
  await operations.check({ sessionId: session.id, positions: at(5), pathEnd: at(6) });
  t.match(scheduler.checks[0]!.request, { positions: at(1), maxPairs: 3, mesh: { kinematic: Uint8Array.of(1, 0, 0) } });
  t.match(scheduler.checks[1]!.request, { positions: at(5), pathEnd: at(6) });
  t.notOk('sessionId' in scheduler.checks[0]!.request);
  t.equal(scheduler.checks[0]!.hooks.claim.session, undefined, 'it does not wait behind steps');
});

t.test('after close every call is refused with DRAINING', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const running = refusalOf(operations.step(stepOf(session, 1)));
  await settle();
  await operations.close();
  t.equal((await running).code, 'DRAINING');
  const calls = [
    operations.createSession(opening()),
    operations.getSession(session.id),
    operations.listSessions({}),
    operations.updateSession({ sessionId: session.id }),
    operations.deleteSession(session.id),
    operations.step(stepOf(session, 1)),
    operations.check({ sessionId: session.id }),
  ];
  for (const call of calls) t.equal((await refusalOf(call)).code, 'DRAINING');
  t.equal(clock.timerCount, 0);
});
