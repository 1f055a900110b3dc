import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { SCENES } from '../../examples/scenes/index.js';
import type { IntersticeError } from '../../src/contract/errors.js';
import type { CreateSessionRequest } from '../../src/contract/sessions.js';
import { createOperations, type OperationsOptions } from '../../src/session/operations.js';
import type { RedisStore } from '../../src/store/redis-store.js';
import { StoreDown } from '../../src/store/session-store.js';
import { LIMITS, refusalOf } from '../support/job.js';
import { seeded } from '../support/random.js';

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

/** Sessions in a store, on the CPU engine: several operations with one store stand for several processes. */

const { vertexCount, triangles, start, target } = SCENES.layers!(200);
const FROM = Float32Array.from(start);
const OPENING: CreateSessionRequest = { mesh: { vertexCount, triangles }, start: FROM, parameters: {} };
/** A share of the way to the target. */
const towards = (share: number) => FROM.map((x, i) => x + share * (target[i]! - x));
const SHARES = [0.1, 0.15, 0.16, 0.3, 0.28, 0.29];

interface Options extends Partial<OperationsOptions> {
  readonly onFailure?: 'refuse' | 'continue';
  readonly timeoutMs?: number;
  /** of another server than the one of all tests */
  readonly url?: string;
}

t.test('sessions in a store', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  let count = 0;

  async function processOf(
    t: Test,
    prefix: string,
    { onFailure = 'refuse', timeoutMs = 30_000, url = redis.url, ...more }: Options = {},
  ) {
    const store = await redis.open(prefix, { timeoutMs, url });
    const logged: Record<string, unknown>[] = [];
    const operations = await createOperations({
      engine: 'cpu',
      threads: 1,
      limits: { ...LIMITS, maxSessions: 8 },
      allowUnverified: false,
      store: { sessions: store, onFailure },
      log: (event, message) => logged.push({ ...event, message }),
      ...more,
    });
    t.teardown(() => operations.close());
    return { operations, store, logged };
  }

  const name = () => `test-${++count}`;

  async function computeAlone(): Promise<unknown[]> {
    const alone = await createOperations({ engine: 'cpu', threads: 1, limits: LIMITS, allowUnverified: false });
    const { id: sessionId } = await alone.createSession(OPENING);
    const answers: unknown[] = [];
    for (const share of SHARES) answers.push((await alone.step({ sessionId, target: towards(share) })).positions);
    await alone.close();
    return answers;
  }
  const expected = await computeAlone();

  t.test('a session moves from process to process, and every answer has the bytes of one process', async (t) => {
    const prefix = name();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(OPENING);
    const order = [a, a, b, a, b, b];
    for (const [k, share] of SHARES.entries()) {
      const frame = BigInt(k + 1);
      const answer = await order[k]!.operations.step({
        sessionId,
        frame,
        afterFrame: frame - 1n,
        target: towards(share),
      });
      t.same(answer.positions, expected[k], `frame ${frame}`);
      t.equal(answer.report.sessionRebuilt, false);
      const other = order[k] === a ? b : a;
      t.match(await other.operations.getSession(sessionId), { id: sessionId, frame }, 'every process tells the same');
    }
    t.match(await a.operations.listSessions({}), { sessions: [{ id: sessionId, frame: 6n }] });
    t.match(a.operations.stats(), { sessions: 1 });
    const again = await a.operations.step({ sessionId, frame: 6n, target: towards(SHARES[5]!) });
    t.equal(again.isReplay, true, 'a retry at another process gets the stored answer');
    t.same(again.positions, expected[5]);
    t.equal(
      (await refusalOf(a.operations.step({ sessionId, frame: 6n, target: towards(0.5) }))).code,
      'FRAME_CONFLICT',
    );
    t.equal((await refusalOf(b.operations.step({ sessionId, frame: 5n }))).code, 'FRAME_OUT_OF_ORDER');
    t.equal((await refusalOf(b.operations.step({ sessionId, afterFrame: 5n }))).code, 'FRAME_CONFLICT');
    t.equal((await refusalOf(b.operations.step({ sessionId, afterFrame: 7n }))).code, 'FRAME_LOST');
    await b.operations.deleteSession(sessionId);
    t.equal((await refusalOf(a.operations.step({ sessionId }))).code, 'SESSION_NOT_FOUND');
    t.equal(redis.cli('--scan', '--pattern', `${prefix}:mesh:*`), '', 'the mesh goes with its last session');
  });

  t.test('any order of processes and inputs gives the bytes of one process', async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}`);
    const alone = await createOperations({ engine: 'cpu', threads: 1, limits: LIMITS, allowUnverified: false });
    t.teardown(() => alone.close());
    const prefix = name();
    const several = [await processOf(t, prefix), await processOf(t, prefix), await processOf(t, prefix)];
    const undisturbed = await alone.createSession(OPENING);
    const session = await several[0]!.operations.createSession(OPENING);
    for (let frame = 1n; frame <= 10n; frame++) {
      const { operations } = several[random.int(several.length)]!;
      const kinematic = new Uint8Array(vertexCount).fill(1, 0, Math.floor(vertexCount * random() * 0.2));
      const step = {
        frame,
        target: towards(0.4 * random()),
        ...(random() < 0.3 ? { kinematic } : {}),
        ...(random() < 0.3 ? { masses: FROM.slice(0, vertexCount).map(() => 1 + random()) } : {}),
        ...(random() < 0.2 ? { start: FROM } : {}),
        ...(random() < 0.3 ? { override: { stepLimit: 3 } } : {}),
      };
      const want = await alone.step({ ...step, sessionId: undisturbed.id });
      const got = await operations.step({ ...step, sessionId: session.id });
      t.same(got.positions, want.positions, `frame ${frame}`);
      t.equal(got.report.sessionRebuilt, false);
    }
  });

  t.test(
    'if two processes compute a frame at the same time, one has it accepted and both answer the same',
    async (t) => {
      const prefix = name();
      const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
      const { id: sessionId } = await a.operations.createSession(OPENING);
      for (const [k, share] of SHARES.entries()) {
        const step = { sessionId, frame: BigInt(k + 1), target: towards(share) };
        const callers = [a, b, a].map(({ operations }) => untilAccepted(() => operations.step(step)));
        const answers = await Promise.all(callers);
        for (const { positions } of answers) t.same(positions, expected[k]);
        t.equal(answers.filter(({ isReplay }) => !isReplay).length, 1, 'accepted once');
      }
    },
  );

  t.test('keys, quotas and deletions apply to all processes; tenants are separate', async (t) => {
    const prefix = name();
    const limits = { ...LIMITS, maxSessions: 3 };
    const both = { limits, maxSessionsPerTenant: 2 };
    const [a, b] = [await processOf(t, prefix, both), await processOf(t, prefix, both)];
    const keyed = { ...OPENING, idempotencyKey: 'one: two' };
    const [first, same] = await Promise.all([a.operations.createSession(keyed), b.operations.createSession(keyed)]);
    t.equal(first.id, same.id, 'one session for one key');
    t.equal((await refusalOf(b.operations.createSession({ ...keyed, label: 'x' }))).code, 'INVALID_PARAMETER');
    const unseen = await b.operations.createSession({ ...OPENING, idempotencyKey: 'unseen' });
    await a.operations.deleteSession('key:unseen');
    t.equal((await refusalOf(b.operations.getSession(unseen.id))).code, 'SESSION_NOT_FOUND', 'by its key, anywhere');
    await b.operations.createSession(OPENING);
    t.equal((await refusalOf(a.operations.createSession(OPENING))).code, 'QUOTA_EXCEEDED', 'of the tenant');
    const other = { caller: { tenant: 'a:b', maxPriority: 'INTERACTIVE' as const } };
    const theirs = await a.operations.createSession({ ...keyed, idleTimeoutSeconds: 0 }, other);
    t.not(theirs.id, first.id, 'another tenant, another key');
    t.equal((await refusalOf(b.operations.createSession(OPENING, other))).code, 'QUOTA_EXCEEDED', 'of all');
    t.equal((await refusalOf(b.operations.getSession(theirs.id))).code, 'SESSION_NOT_FOUND');
    t.equal((await refusalOf(b.operations.step({ sessionId: theirs.id }))).code, 'SESSION_NOT_FOUND');
    t.match(await b.operations.updateSession({ sessionId: first.id, label: 'y', idleTimeoutSeconds: 100 }), {
      label: 'y',
    });
    t.match(await a.operations.listSessions({ label: 'y' }), { sessions: [{ id: first.id }] });
    t.ok(Number(redis.cli('PTTL', `${prefix}:session:default:${first.id}`)) <= 117_500, 'its time to live');
    await a.operations.deleteSession(first.id);
    t.match(await b.operations.listSessions({}), { sessions: { length: 1 } });
    t.not((await a.operations.createSession(keyed)).id, first.id, 'the key is free again');
  });

  t.test('while the store hangs, a step is refused, and afterwards it is accepted exactly once', async (t) => {
    const own = await Redis.start();
    t.teardown(() => own.stop());
    // The refusal takes as long.
    const { operations } = await processOf(t, 'p', { timeoutMs: 5000, url: own.url });
    const { id: sessionId } = await untilAccepted(() => operations.createSession(OPENING));
    await untilAccepted(() => operations.step({ sessionId, frame: 1n, target: towards(SHARES[0]!) }));
    // The first question of the step is answered, and its commit is not.
    const second = { sessionId, frame: 2n, target: towards(SHARES[1]!) };
    const context = { onStart: () => own.signal('SIGSTOP') };
    const progress = { onProgress: () => context.onStart() };
    const bytesBefore = operations.stats().hostBytes;
    const refused = await refusalOf(operations.step(second, progress));
    t.equal(refused.code, 'STORE_UNAVAILABLE');
    t.equal(refused.retryable, true);
    const bytesOfStep = operations.stats().hostBytes - bytesBefore;
    t.ok(bytesOfStep >= 2 * FROM.byteLength, 'the computed step, its target and its answer at least, counts as memory');
    t.equal((await refusalOf(operations.step(second))).code, 'STORE_UNAVAILABLE', 'at once');
    own.signal('SIGCONT');
    t.same((await untilAccepted(() => operations.step(second))).positions, expected[1]);
    t.ok(operations.stats().hostBytes < bytesBefore + bytesOfStep, 'and no longer after it is accepted');
    const third = await untilAccepted(() =>
      operations.step({ sessionId, frame: 3n, afterFrame: 2n, target: towards(SHARES[2]!) }),
    );
    t.same(third.positions, expected[2]);
    t.equal(third.report.sessionRebuilt, false);
  });

  t.test('under continue, sessions continue while the store is down', async (t) => {
    const own = await Redis.start();
    t.teardown(() => own.stop());
    const a = await processOf(t, 'p', { url: own.url, onFailure: 'continue' });
    const { id: sessionId } = await a.operations.createSession(OPENING);
    await a.operations.step({ sessionId, frame: 1n, target: towards(SHARES[0]!) });
    await own.kill();
    for (const k of [1, 2]) {
      const answer = await a.operations.step({ sessionId, frame: BigInt(k + 1), target: towards(SHARES[k]!) });
      t.same(answer.positions, expected[k]);
      t.match(answer.report.warnings, [{ code: 'NOT_STORED' }]);
    }
    // Without a file it comes back empty.
    await own.restart();
    await untilUp(a.store);
    const fourth = await a.operations.step({ sessionId, frame: 4n, target: towards(SHARES[3]!) });
    t.same(fourth.positions, expected[3]);
    t.same(fourth.report.warnings, []);
    const b = await processOf(t, 'p', { url: own.url });
    const fifth = await b.operations.step({ sessionId, frame: 5n, afterFrame: 4n, target: towards(SHARES[4]!) });
    t.same(fifth.positions, expected[4], 'another process goes on from what was written again');
    t.ok(a.logged.some(({ level, event }) => level === 'error' && event === 'store'));
  });

  t.test('a process that ends writes the frames that the store lacks', async (t) => {
    const own = await Redis.start(['--appendonly', 'yes', '--appendfsync', 'always']);
    t.teardown(() => own.stop());
    const a = await processOf(t, 'p', { url: own.url, onFailure: 'continue' });
    const { id: stepped } = await a.operations.createSession(OPENING);
    const { id: fresh } = await a.operations.createSession(OPENING);
    await a.operations.step({ sessionId: stepped, frame: 1n, target: towards(SHARES[0]!) });
    await own.kill();
    await a.operations.step({ sessionId: stepped, frame: 2n, target: towards(SHARES[1]!) });
    await a.operations.step({ sessionId: fresh, frame: 1n, target: towards(SHARES[0]!) });
    await own.restart();
    await untilUp(a.store);
    await a.operations.close();
    const b = await processOf(t, 'p', { url: own.url });
    for (const [sessionId, k] of [
      [stepped, 2],
      [fresh, 1],
    ] as const) {
      const frame = { frame: BigInt(k + 1), afterFrame: BigInt(k) };
      const answer = await b.operations.step({ sessionId, ...frame, target: towards(SHARES[k]!) });
      t.same(answer.positions, expected[k]);
      t.equal(answer.report.sessionRebuilt, false);
    }
  });

  t.test('a process that ends reports the sessions whose frames it cannot write', async (t) => {
    const own = await Redis.start();
    t.teardown(() => own.stop());
    const { operations, logged } = await processOf(t, 'p', { url: own.url, onFailure: 'continue' });
    const { id: behind } = await operations.createSession(OPENING);
    const { id: current } = await operations.createSession(OPENING);
    await own.kill();
    await operations.step({ sessionId: behind, frame: 1n, target: towards(SHARES[0]!) });
    await operations.close();
    const ending = logged.filter(({ message }) => /^A session ends/.test(String(message)));
    t.match(ending, [{ level: 'error', event: 'store', session: behind, frame: '1' }]);
    t.equal(ending.length, 1, `not ${current}, which the store has`);
  });

  t.test('a store that has lost frames is noticed', async (t) => {
    const prefix = name();
    const a = await processOf(t, prefix);
    const { id: sessionId } = await a.operations.createSession(OPENING);
    await a.operations.step({ sessionId, frame: 1n, target: towards(SHARES[0]!) });
    const keys = [`${prefix}:session:default:${sessionId}`, `${prefix}:log:default:${sessionId}`];
    // Each in one script: a checkpoint that is written meanwhile changes both.
    const script = (from: string, to: string) =>
      `for _, key in ipairs(KEYS) do redis.call('COPY', ${from}, ${to}, 'REPLACE') end`;
    const copy = () => redis.cli('EVAL', script('key', "'old:' .. key"), '2', ...keys);
    const goBack = () => redis.cli('EVAL', script("'old:' .. key", 'key'), '2', ...keys);
    copy();
    for (const k of [1, 2]) await a.operations.step({ sessionId, frame: BigInt(k + 1), target: towards(SHARES[k]!) });
    goBack();
    const next = { sessionId, frame: 4n, afterFrame: 3n, target: towards(SHARES[3]!) };
    const b = await processOf(t, prefix);
    t.equal((await refusalOf(b.operations.step(next))).code, 'FRAME_LOST', 'by a process that does not have them');
    goBack();
    t.same((await a.operations.step(next)).positions, expected[3], 'and mended by the one that has');
    t.match(await b.operations.getSession(sessionId), { frame: 4n });
  });

  t.test('a session without a step is also rewritten if a store has lost everything', async (t) => {
    const own = await Redis.start();
    t.teardown(() => own.stop());
    const a = await processOf(t, 'p', { url: own.url });
    const { id: sessionId } = await a.operations.createSession(OPENING);
    own.cli('FLUSHALL');
    await a.operations.updateSession({ sessionId, label: 'again' });
    const b = await processOf(t, 'p', { url: own.url });
    t.match(await b.operations.getSession(sessionId), { frame: 0n, label: 'again' });
    t.equal((await b.operations.step({ sessionId, target: towards(SHARES[0]!) })).frame, 1n);
  });

  t.test('a mesh lives in the store as long as the last session that uses it', async (t) => {
    const prefix = name();
    const { operations } = await processOf(t, prefix);
    const left = () => {
      const keys = redis.cli('KEYS', `${prefix}:mesh:*`).split('\n');
      t.equal(keys.length, 1, 'one mesh for all');
      return ['mesh', 'users'].map((what) => Number(redis.cli('PTTL', keys[0]!.replace(':mesh:', `:${what}:`))));
    };
    const lasting = await operations.createSession({ ...OPENING, idleTimeoutSeconds: 0 });
    const { id: sessionId } = await operations.createSession({ ...OPENING, idleTimeoutSeconds: 100 });
    t.same(left(), [-1, -1], 'one of them lives until it is deleted');
    await operations.deleteSession(lasting.id);
    const isBounded = (ms: number) => ms > 0 && ms <= 117_500;
    t.ok(left().every(isBounded), 'the other one may expire with its process');
    await operations.updateSession({ sessionId, idleTimeoutSeconds: 0 });
    t.same(left(), [-1, -1]);
    await operations.updateSession({ sessionId, idleTimeoutSeconds: 100 });
    t.ok(left().every(isBounded));
  });

  t.test('a creation that is given up while the store writes it leaves nothing there', async (t) => {
    const prefix = name();
    const { operations, store } = await processOf(t, prefix);
    const abort = new AbortController();
    const create = store.create.bind(store);
    store.create = async (session) => {
      const verdict = await create(session);
      abort.abort();
      return verdict;
    };
    t.equal((await refusalOf(operations.createSession(OPENING, { signal: abort.signal }))).code, 'CANCELLED');
    store.create = create;
    await operations.createSession({ ...OPENING, label: 'next' });
    t.match(await operations.listSessions({}), { sessions: [{ label: 'next' }] });
  });

  t.test('a change of a session that the store does not accept has no effect', async (t) => {
    const { operations, store } = await processOf(t, name());
    const { id: sessionId } = await operations.createSession({ ...OPENING, label: 'old', idleTimeoutSeconds: 100 });
    const update = store.update.bind(store);
    store.update = () => Promise.reject(new StoreDown('It is down.'));
    const change = { sessionId, label: 'new', idleTimeoutSeconds: 200, parameters: { stepLimit: 7 } };
    t.equal((await refusalOf(operations.updateSession(change))).code, 'STORE_UNAVAILABLE');
    store.update = update;
    const { label, idleTimeoutSeconds, resolved } = await operations.getSession(sessionId);
    t.match({ label, idleTimeoutSeconds }, { label: 'old', idleTimeoutSeconds: 100 });
    t.not(resolved.stepLimit, 7);
    t.not((await operations.step({ sessionId, target: towards(SHARES[0]!) })).report.resolved.stepLimit, 7);
    t.match(await operations.updateSession(change), { label: 'new', resolved: { stepLimit: 7 } });
  });

  t.test('a session that is deleted while a process loads it leaves that process, too', async (t) => {
    const prefix = name();
    const a = await processOf(t, prefix);
    const { id: sessionId } = await a.operations.createSession({ ...OPENING, idleTimeoutSeconds: 0 });
    const { operations, store } = await processOf(t, prefix);
    const claim = store.claim.bind(store);
    let deletion: Promise<void> | undefined;
    store.claim = async (session) => {
      const stored = await claim(session);
      deletion = operations.deleteSession(sessionId);
      return stored;
    };
    const stepping = refusalOf(operations.step({ sessionId, target: towards(SHARES[0]!) }));
    t.match((await stepping).code, /^(CANCELLED|SESSION_NOT_FOUND)$/);
    await deletion;
    t.equal(operations.stats().sessions, 0);
  });

  t.test('data that a process stores when it ends are used without computing anything again', async (t) => {
    const prefix = name();
    const a = await processOf(t, prefix);
    const { id: sessionId } = await a.operations.createSession(OPENING);
    for (const k of [0, 1, 2])
      await a.operations.step({ sessionId, frame: BigInt(k + 1), target: towards(SHARES[k]!) });
    await a.operations.close();
    const b = await processOf(t, prefix);
    const answer = await b.operations.step({ sessionId, frame: 4n, target: towards(SHARES[3]!) });
    t.same(answer.positions, expected[3]);
    t.match(
      b.logged.find(({ scene }) => scene !== undefined),
      { scene: 'exact', repeated: 0 },
    );
  });

  t.test('every process reports how an untangled start was made, until the first step', async (t) => {
    const prefix = name();
    const a = await processOf(t, prefix);
    // A triangle whose tip reaches through another one.
    const positions = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, -0.1, 0.2, 0.4, 0.9, 0.4, 0.2, 0.9);
    const keyed: CreateSessionRequest = {
      mesh: { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5) },
      start: positions,
      parameters: { onIntersectingStart: 'UNTANGLE' },
      idempotencyKey: 'tangled',
    };
    const { id, untangle } = await a.operations.createSession(keyed);
    t.match(untangle, { report: { status: 'FREE' } });
    await a.operations.close();
    const b = await processOf(t, prefix);
    t.same((await b.operations.createSession(keyed)).untangle, untangle, 'a caller whose answer was lost asks again');
    t.same((await b.operations.getSession(id)).untangle, untangle);
    await b.operations.step({ sessionId: id, frame: 1n, target: untangle!.positions });
    t.notOk((await b.operations.getSession(id)).untangle);
    t.equal((await b.operations.createSession(keyed)).id, id, 'the key still stands for the start as it was sent');
    const c = await processOf(t, prefix);
    t.match(await c.operations.getSession(id), { frame: 1n, untangle: undefined });
  });

  t.test('a scene that cannot be rebuilt is reported as lost, and the answer is safe', async (t) => {
    const prefix = name();
    const a = await processOf(t, prefix);
    const { id: sessionId } = await a.operations.createSession(OPENING);
    const first = await a.operations.step({ sessionId, frame: 1n, target: towards(SHARES[0]!) });
    redis.cli('HSET', `${prefix}:session:default:${sessionId}`, 'base', 'lost');
    const b = await processOf(t, prefix);
    const again = await b.operations.step({ sessionId, frame: 1n, target: towards(SHARES[0]!) });
    t.same(again.positions, first.positions, 'the stored answer');
    const second = await b.operations.step({ sessionId, frame: 2n, target: towards(SHARES[1]!) });
    t.match(second.report, { sessionRebuilt: true, verification: { intersections: 0 } });
    const third = await b.operations.step({ sessionId, frame: 3n, target: towards(SHARES[2]!) });
    t.equal(third.report.sessionRebuilt, false);
  });
});

async function untilAccepted<T>(attempt: () => Promise<T>): Promise<T> {
  for (let k = 0; ; k++) {
    try {
      return await attempt();
    } catch (thrown) {
      if (k === 2400 || !(thrown as IntersticeError).retryable) throw thrown;
      await sleep(50);
    }
  }
}

async function untilUp(store: RedisStore): Promise<void> {
  for (let k = 0; k < 2400 && !store.health.isUp; k++) await sleep(50);
}
