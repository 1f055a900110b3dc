import { readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { SCENES } from '../../examples/scenes/index.js';
import type { CreateSessionRequest } from '../../src/contract/sessions.js';
import { createOperations, type OperationsOptions } from '../../src/session/operations.js';
import { LIMITS, refusalOf, spike } from '../support/job.js';

/** Sessions on the real scheduler with the CPU engine: checks what the fakes of the other tests assume. */

async function operationsOf(t: Test, more: Partial<OperationsOptions> = {}) {
  const operations = await createOperations({
    engine: 'cpu',
    threads: 1,
    limits: { ...LIMITS, maxSessions: 8 },
    allowUnverified: false,
    ...more,
  });
  t.teardown(() => operations.close());
  return operations;
}

/** A spike over a kinematic floor, and a target that is `travel` lower. */
function scene(travel: number): { opening: CreateSessionRequest; target: Float32Array } {
  const { mesh, start, target } = spike(0.25, travel);
  const parts = [
    { name: 'floor', firstVertex: 0, vertexCount: 3, kinematic: true },
    { name: 'spike', firstVertex: 3, vertexCount: 3 },
  ];
  return { opening: { mesh: { ...mesh, parts }, start, parameters: {} }, target: target as Float32Array };
}

t.test('the first step of a session gives the answer of a resolve, and further steps continue from it', async (t) => {
  const operations = await operationsOf(t);
  const { opening, target } = scene(0.5);
  const resolved = await operations.resolve({ ...opening, target });
  const session = await operations.createSession(opening);
  t.match(session, { frame: 0n, mesh: { vertices: 6, triangles: 2 }, residency: 'RESIDENT' });
  const first = await operations.step({ sessionId: session.id, target });
  t.same(first.positions, resolved.positions, 'bit for bit');
  t.equal(first.frame, 1n);
  const tip = 11;
  t.ok(first.positions[tip]! > 0, 'above the floor');
  const second = await operations.step({ sessionId: session.id });
  t.ok(second.positions[tip]! > 0);
  t.ok(second.report.verification.intersections === 0 && !second.report.verification.fellBack);
  const up = await operations.step({
    sessionId: session.id,
    partTargets: [{ part: 'spike', target: (opening.start as Float32Array).slice(9) }],
  });
  t.same(up.positions, opening.start, 'back at the start');
  t.match(await operations.check({ sessionId: session.id }), { intersectionFree: true });
  t.match(await operations.getSession(session.id), { frame: 3n, lastReport: { engine: 'cpu' } });
});

t.test('a step that is refused by the lane or cancelled leaves the session unchanged', async (t) => {
  const operations = await operationsOf(t);
  const { opening, target } = scene(0.5);
  const { id: sessionId } = await operations.createSession(opening);
  const first = await operations.step({ sessionId, target: target.map((v, i) => (v + opening.start[i]!) / 2) });
  const crossed = opening.start.slice() as Float32Array;
  crossed[11] = -0.1;
  t.equal((await refusalOf(operations.step({ sessionId, target, start: crossed }))).code, 'INTERSECTING_START');
  const wild = target.slice();
  wild[9] = Number.NaN;
  t.equal((await refusalOf(operations.step({ sessionId, target: wild }))).code, 'NOT_FINITE');
  const abort = new AbortController();
  const gone = operations.step({ sessionId, target }, { signal: abort.signal });
  abort.abort();
  t.equal((await refusalOf(gone)).code, 'CANCELLED');
  const again = await operations.step({ sessionId });
  t.equal(again.frame, 2n);
  const { opening: fresh } = scene(0.5);
  const twin = await operations.createSession(fresh);
  const half = target.map((v, i) => (v + opening.start[i]!) / 2);
  t.same((await operations.step({ sessionId: twin.id, target: half })).positions, first.positions);
  t.same(
    (await operations.step({ sessionId: twin.id })).positions,
    again.positions,
    'the same answers as without those steps',
  );
});

t.test('parking does not change the answers', async (t) => {
  const { opening, target } = scene(0.5);
  const free = await operationsOf(t);
  const a = await free.createSession(opening);
  const half = target.map((v, i) => (v + opening.start[i]!) / 2);
  const expected = [await free.step({ sessionId: a.id, target: half }), await free.step({ sessionId: a.id, target })];
  const { deviceBytes } = await free.getSession(a.id);
  t.ok(deviceBytes > 0);
  const maxDeviceBytes = Math.ceil(1.5 * deviceBytes);
  const tight = await operationsOf(t, { limits: { ...LIMITS, maxSessions: 8, maxDeviceBytes } });
  const [b, c] = [await tight.createSession(opening), await tight.createSession(opening)];
  for (const [i, goal] of [half, target].entries()) {
    for (const { id } of [b, c]) {
      const { positions, report } = await tight.step({ sessionId: id, target: goal });
      t.same(positions, expected[i]!.positions);
      t.notOk(report.sessionRebuilt, 'parked on purpose is not lost');
    }
    t.match(tight.stats(), { sessions: 2, parked: 1 });
  }
});

t.test('scenes in the memory of the host have a limit of their own, where no other is set', async (t) => {
  const { opening } = scene(0.2);
  const free = await operationsOf(t);
  const { deviceBytes } = await free.createSession(opening);
  const maxSceneBytes = Math.ceil(1.5 * deviceBytes);
  const tight = await operationsOf(t, { maxSceneBytes });
  for (let k = 0; k < 2; k++) await tight.createSession(opening);
  t.match(tight.stats(), { sessions: 2, parked: 1 });
  t.equal(tight.info().limits.maxDeviceBytes, maxSceneBytes, 'callers can see it');
  t.equal(free.info().limits.maxDeviceBytes, 0);
  const tiny = await operationsOf(t, { maxSceneBytes: deviceBytes - 1 });
  await t.rejects(tiny.createSession(opening), { code: 'TOO_LARGE' });
});

t.test('the bytes of a session do not depend on other sessions', async (t) => {
  const { vertexCount, triangles, start, target } = SCENES.layers!(200);
  const from = Float32Array.from(start);
  const opening = { mesh: { vertexCount, triangles }, start: from, parameters: {} };
  const frames = [0.1, 0.15, 0.16, 0.3, 0.28].map((share) => from.map((x, i) => x + share * (target[i]! - x)));
  const free = await operationsOf(t);
  const alone = await free.createSession(opening);
  const expected: unknown[] = [];
  for (const goal of frames) expected.push((await free.step({ sessionId: alone.id, target: goal })).positions);
  const { deviceBytes } = await free.getSession(alone.id);
  const limits = { ...LIMITS, maxSessions: 8, maxDeviceBytes: Math.ceil(1.5 * deviceBytes) };
  const tight = await operationsOf(t, { limits });
  const ids = [await tight.createSession(opening), await tight.createSession(opening)].map(({ id }) => id);
  for (const [k, goal] of frames.entries()) {
    for (const sessionId of ids) {
      const { positions, report } = await tight.step({ sessionId, target: goal });
      t.same(positions, expected[k], `frame ${k + 1}`);
      t.equal(report.sessionRebuilt, false);
    }
  }
  t.match(tight.stats(), { parked: 1 });
});

t.test('steps write traces; a deleted session is gone', async (t) => {
  const traceFolder = t.testdir();
  const operations = await operationsOf(t, { traceFolder });
  const { opening, target } = scene(0.2);
  const { id: sessionId } = await operations.createSession(opening);
  const { positions } = await operations.step({ sessionId, target }, { requestId: 'first' });
  t.ok(positions);
  const names = readdirSync(`${traceFolder}/first`);
  t.ok(names.length >= 3 && names.includes('trace.json') && names.includes('state-00001.ply'), names.join());
  await operations.deleteSession(sessionId);
  t.equal((await refusalOf(operations.step({ sessionId, target }))).code, 'SESSION_NOT_FOUND');
  t.match(operations.stats(), { sessions: 0, residentBytes: 0, hostBytes: 0, waiting: 0 });
});
