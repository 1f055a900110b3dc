import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import type { SavedSession } from '../../src/jobs/saved-session.js';
import type { StepTask } from '../../src/jobs/tasks.js';
import { StoreDown } from '../../src/store/session-store.js';
import { LIMITS, refusalOf } from '../support/job.js';
import type { FakeScheduler } from './fake-scheduler.js';
import { at, opening, openRoom } from './room.js';

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

const VERTICES = 1000;
const FRAMES = 30;

/** Lets a scheduler save scenes that are as small as can be, beside the state that each checkpoint contains. */
function saveScenes(scheduler: FakeScheduler): void {
  let task: StepTask | undefined;
  const step = scheduler.step.bind(scheduler);
  const save = async (): Promise<SavedSession> => ({
    meshVersion: task!.state.meshVersion,
    stateVersion: task!.nextVersion,
    fitted: undefined,
    engine: undefined,
    kinematicPairs: undefined,
    verified: undefined,
    excluded: undefined,
    checkMs: 0,
    scene: undefined,
    isSceneLost: false,
  });
  Object.assign(scheduler, {
    save,
    step: (next: StepTask, hooks: Parameters<typeof step>[1]) => {
      task = next;
      return step(next, hooks);
    },
  });
}

t.test('a checkpoint is made before a log of large targets grows long', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const store = await redis.open('p');
  const { operations, scheduler, clock } = openRoom(t, { store: { sessions: store, onFailure: 'refuse' } });
  saveScenes(scheduler);
  const checkpoints: { readonly frame: bigint; readonly bytes: number; readonly log: number }[] = [];
  const checkpoint = store.checkpoint.bind(store);
  let written: Promise<unknown> = Promise.resolve();
  store.checkpoint = (one) => {
    const log = Number(redis.cli('LLEN', `p:log:default:${one.id}`));
    checkpoints.push({ frame: one.frame, bytes: one.bytes.byteLength, log });
    // So dear that its cost alone never makes another one due.
    clock.jump(1e9);
    const writing = checkpoint(one);
    written = writing;
    return writing;
  };

  const start = new Float32Array(3 * VERTICES);
  const mesh = { vertexCount: VERTICES, triangles: Uint32Array.of(0, 1, 2) };
  const { id } = await operations.createSession({ mesh, start, parameters: {}, idleTimeoutSeconds: 0 });
  for (let frame = 1; frame <= FRAMES; frame++) {
    await operations.step({ sessionId: id, target: start.map(() => frame) });
    // The queue is idle when the checkpoint has been sent.
    await operations.updateSession({ sessionId: id, label: String(frame) });
    await written;
  }
  const bytesOf = ({ log }: { readonly log: number }) => log * start.byteLength;
  t.ok(checkpoints.length >= 3, `${checkpoints.length} checkpoints`);
  const [, ...later] = checkpoints;
  for (const one of later) {
    t.ok(bytesOf(one) >= 4 * one.bytes, 'not more often than their bytes justify');
    t.ok(bytesOf(one) < 4 * one.bytes + 2 * start.byteLength, 'at the first frame that makes the log too long');
  }
});

t.test('of several changes at once, those that the store refuses have no effect', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  for (const isLastAccepted of [false, true]) {
    const prefix = `accepts-${isLastAccepted}`;
    const roomOf = async () => openRoom(t, { store: { sessions: await redis.open(prefix), onFailure: 'refuse' } });
    const store = await redis.open(prefix);
    const { operations } = openRoom(t, { store: { sessions: store, onFailure: 'refuse' } });
    const { id: sessionId } = await operations.createSession(opening({ label: 'old' }));
    const update = store.update.bind(store);
    let count = 0;
    store.update = (...change) =>
      ++count === 3 && isLastAccepted ? update(...change) : Promise.reject(new StoreDown('It is down.'));
    const changes = [{ parameters: { stepLimit: 7 } }, { label: 'new' }, { parameters: { sweepsPerStep: 3 } }];
    const calls = changes.map((change) => operations.updateSession({ sessionId, ...change }));
    const outcomes = (await Promise.allSettled(calls)).map(({ status }) => status);
    t.same(outcomes, ['rejected', 'rejected', isLastAccepted ? 'fulfilled' : 'rejected']);
    store.update = update;
    for (const room of [{ operations }, await roomOf()]) {
      await room.operations.step({ sessionId, target: at(1) });
      const { label, resolved } = await room.operations.getSession(sessionId);
      t.same([label, resolved.stepLimit === 7, resolved.sweepsPerStep === 3], ['old', false, isLastAccepted]);
    }
    t.match(await operations.updateSession({ sessionId, label: 'new' }), { label: 'new' }, 'a later change is made');
  }
});

t.test('a last target outlives the process also if the store has got no scene', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const roomOf = async () => openRoom(t, { store: { sessions: await redis.open('p'), onFailure: 'refuse' } });
  const { operations, scheduler } = await roomOf();
  Object.assign(scheduler, { save: async () => undefined });
  const { id: sessionId } = await operations.createSession(opening());
  await operations.step({ sessionId, target: at(8) });
  redis.cli('FLUSHALL');
  await operations.updateSession({ sessionId, label: 'written again' });
  const other = await roomOf();
  const { frame, positions } = await other.operations.step({ sessionId });
  t.same([frame, positions], [2n, at(6)], 'half way between the answer of frame 1 and its target');
});

t.test('a session that makes room for another one loses no frame', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const limits = { ...LIMITS, maxSessions: 1 };
  const store = await redis.open('p');
  const { operations, scheduler } = openRoom(t, { limits, store: { sessions: store, onFailure: 'continue' } });
  const other = openRoom(t, { store: { sessions: await redis.open('p'), onFailure: 'refuse' } });
  const { id: sessionId } = await operations.createSession(opening());
  const { id: next } = await other.operations.createSession(opening());
  await operations.step({ sessionId, frame: 1n, target: at(8) });
  const copies: (() => void)[] = [];
  Object.assign(scheduler, { save: () => new Promise<void>((resolve) => copies.push(resolve)) });
  const another = operations.step({ sessionId: next, target: at(1) }).catch(() => {});
  while (copies.length === 0) await setImmediate();
  const commit = store.commit.bind(store);
  store.commit = () => Promise.reject(new StoreDown('It is down.'));
  const { report } = await operations.step({ sessionId, frame: 2n, target: at(8) });
  t.ok(report.warnings.some(({ code }) => code === 'NOT_STORED'));
  store.commit = commit;
  Object.assign(scheduler, { save: async () => undefined });
  for (const end of copies) end();
  await another;
  const after = await operations.step({ sessionId, frame: 3n, afterFrame: 2n, target: at(8) });
  t.same(after.positions, at(7));
});

t.test(
  'a frame that the store confirms after the deadline is not told to have changed nothing',
  { skip: lacksRedis },
  async (t) => {
    const redis = await Redis.start();
    t.teardown(() => redis.stop());
    const store = await redis.open('p');
    const { operations, clock } = openRoom(t, { store: { sessions: store, onFailure: 'refuse' } });
    const { id: sessionId } = await operations.createSession(opening());
    const commit = store.commit.bind(store);
    const waiting: (() => void)[] = [];
    store.commit = async (frame) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return commit(frame);
    };
    const step = { sessionId, frame: 1n, target: at(8), timeBudgetSeconds: 1, onBudget: 'FAIL' } as const;
    const late = refusalOf(operations.step(step));
    while (waiting.length === 0) await setImmediate();
    clock.advance(1000);
    t.equal((await late).code, 'STORE_UNAVAILABLE');
    for (const confirm of waiting) confirm();
    const again = await operations.step(step);
    t.same([again.frame, again.isReplay, again.positions], [1n, true, at(4)], 'it was accepted, and once');
  },
);

t.test(
  'a checkpoint that arrives after the session was written again takes no frame away',
  { skip: lacksRedis },
  async (t) => {
    const redis = await Redis.start();
    t.teardown(() => redis.stop());
    const store = await redis.open('p');
    const { operations, scheduler } = openRoom(t, { store: { sessions: store, onFailure: 'continue' } });
    saveScenes(scheduler);
    const { id: sessionId } = await operations.createSession(opening());
    const { checkpoint, commit } = store;
    const sent: (() => Promise<unknown>)[] = [];
    store.checkpoint = (one) =>
      new Promise((resolve) => sent.push(async () => resolve(await checkpoint.call(store, one))));
    for (let frame = 1; frame <= 2; frame++) await operations.step({ sessionId, target: at(8) });
    await operations.updateSession({ sessionId, label: 'the queue of its steps is empty' });
    t.equal(sent.length, 1);
    store.commit = () => Promise.reject(new StoreDown('It is down.'));
    await operations.step({ sessionId, target: at(8) });
    store.commit = commit;
    Object.assign(scheduler, { save: async () => undefined });
    t.same((await operations.step({ sessionId, target: at(1) })).positions, at(4));
    await sent[0]!();
    const other = openRoom(t, { store: { sessions: await redis.open('p'), onFailure: 'refuse' } });
    const { frame, positions } = await other.operations.step({ sessionId });
    t.same([frame, positions], [5n, at(2.5)], 'half way to the last target');
  },
);

t.test('a step waits for a change that the store may still refuse', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const store = await redis.open('p');
  const { operations, scheduler } = openRoom(t, { store: { sessions: store, onFailure: 'refuse' } });
  const { id: sessionId } = await operations.createSession(opening());
  const limits: (number | undefined)[] = [];
  const step = scheduler.step.bind(scheduler);
  Object.assign(scheduler, {
    step: (task: StepTask, hooks: Parameters<typeof step>[1]) => {
      limits.push(task.parameters.stepLimit);
      return step(task, hooks);
    },
  });
  const update = store.update.bind(store);
  for (const isAccepted of [false, true]) {
    let decide: (() => void) | undefined;
    store.update = async (...change) => {
      await new Promise<void>((resolve) => {
        decide = resolve;
      });
      if (!isAccepted) throw new StoreDown('It is down.');
      return update(...change);
    };
    const change = operations.updateSession({ sessionId, parameters: { stepLimit: 7 } });
    const outcome = change.then(
      () => 'accepted',
      () => 'refused',
    );
    while (!decide) await setImmediate();
    const answer = operations.step({ sessionId, target: at(8) });
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    t.equal(limits.length, isAccepted ? 1 : 0, 'it has not begun');
    decide();
    t.equal(await outcome, isAccepted ? 'accepted' : 'refused');
    await answer;
  }
  t.same(limits, [undefined, 7], 'the first has that of the creation, which set none');
});

t.test(
  'a list has neither an old frame nor a refused change if both are sent at once',
  { skip: lacksRedis },
  async (t) => {
    const redis = await Redis.start();
    t.teardown(() => redis.stop());
    const store = await redis.open('p');
    const { operations, scheduler } = openRoom(t, { store: { sessions: store, onFailure: 'refuse' } });
    const { id: sessionId } = await operations.createSession(opening({ label: 'old' }));
    const listed = async () => {
      const { sessions } = await operations.listSessions({});
      return sessions.map(({ frame, label }) => [frame, label]);
    };
    const { commit, update } = { commit: store.commit.bind(store), update: store.update.bind(store) };

    let accept: (() => void) | undefined;
    store.commit = async (frame) => {
      await new Promise<void>((resolve) => {
        accept = resolve;
      });
      return commit(frame);
    };
    const step = operations.step({ sessionId, target: at(1) });
    while (!accept) await setImmediate();
    const change = operations.updateSession({ sessionId, label: 'new' });
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    accept();
    await Promise.all([step, change]);
    t.same(await listed(), [[1n, 'new']]);

    store.commit = commit;
    scheduler.isManual = true;
    let refuse: (() => void) | undefined;
    store.update = () =>
      new Promise((_, reject) => {
        refuse = () => reject(new StoreDown('It is down.'));
      });
    const next = operations.step({ sessionId, target: at(2) });
    while (scheduler.steps.length < 2) await setImmediate();
    const refused = operations.updateSession({ sessionId, label: 'refused' });
    while (!refuse) await setImmediate();
    scheduler.steps[1]!.finish();
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    refuse();
    t.equal((await refusalOf(refused)).code, 'STORE_UNAVAILABLE');
    await next;
    t.same(await listed(), [[2n, 'new']]);
    store.update = update;
  },
);

t.test('a change settles a frame whose fate is not known', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  for (const hasArrived of [false, true]) {
    const store = await redis.open(`arrived-${hasArrived}`);
    const { operations, scheduler } = openRoom(t, { store: { sessions: store, onFailure: 'refuse' } });
    const { id: sessionId } = await operations.createSession(opening());
    // A session with work is not compared with the store at every call.
    scheduler.holdsChecks = true;
    const check = operations.check({ sessionId });
    while (scheduler.checks.length === 0) await setImmediate();
    const commit = store.commit.bind(store);
    store.commit = async (frame) => {
      if (hasArrived) await commit(frame);
      throw new StoreDown('The answer was lost.');
    };
    t.equal((await refusalOf(operations.step({ sessionId, frame: 1n, target: at(1) }))).code, 'STORE_UNAVAILABLE');
    store.commit = commit;
    await operations.updateSession({ sessionId, label: 'new' });
    const frame = hasArrived ? 1n : 0n;
    t.match(await operations.listSessions({}), { sessions: [{ frame, label: 'new' }] });
    t.match(await operations.step({ sessionId, frame: 1n, target: at(1) }), { frame: 1n, isReplay: hasArrived });
    scheduler.checks[0]!.fail(new StoreDown('The test ends.'));
    await check.catch(() => {});
  }
});

t.test('two creations with one key that ask the store at the same time are one', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const store = await redis.open('p');
  const { operations, scheduler } = openRoom(t, { store: { sessions: store, onFailure: 'refuse' } });
  const create = () => operations.createSession(opening({ idempotencyKey: 'k' }));
  const [first, second] = await Promise.all([create(), create()]);
  t.equal(first.id, second.id);
  t.equal(scheduler.opens.length, 1, 'it is opened once');
  const other = [create(), operations.createSession(opening({ idempotencyKey: 'k', label: 'other' }))];
  const [same, refused] = await Promise.allSettled(other);
  t.match(same, { value: { id: first.id } });
  t.match(refused, { reason: { code: 'INVALID_PARAMETER' } });
});
