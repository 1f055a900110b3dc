import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { SCENES } from '../../examples/scenes/index.js';
import type { CreateSessionRequest, StepRequest } from '../../src/contract/sessions.js';
import { createOperations } from '../../src/session/operations.js';
import { minHostBytes } from '../../src/session/session.js';
import { LIMITS, refusalOf } from '../support/job.js';

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

/** With a store, sessions that work get the memory of idle ones (INTERSTICE_MAX_SESSION_BYTES), which continue in the store. */

const { vertexCount, triangles, start } = SCENES.layers!(200);
const FROM = Float32Array.from(start);
const OPENING: CreateSessionRequest = { mesh: { vertexCount, triangles }, start: FROM, parameters: {} };
/** of host memory that a new session takes; a step with nothing but a target takes no more */
const BYTES = minHostBytes(OPENING.mesh, FROM);
const stepOf = (sessionId: string, frame: bigint): StepRequest => ({ sessionId, frame, target: FROM });

t.test('memory of sessions in a store', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  let count = 0;

  /** A process in which so many new sessions fill the memory, with so many sessions. */
  async function fullProcessOf(t: Test, sessions: number, onFailure: 'refuse' | 'continue' = 'refuse') {
    const store = await redis.open(`test-${++count}`);
    const operations = await createOperations({
      engine: 'cpu',
      threads: 1,
      limits: { ...LIMITS, maxSessions: 8 },
      allowUnverified: false,
      store: { sessions: store, onFailure },
      maxSessionBytes: sessions * BYTES,
    });
    t.teardown(() => operations.close());
    const ids: string[] = [];
    while (ids.length < sessions) ids.push((await operations.createSession(OPENING)).id);
    t.equal(operations.stats().hostBytes, sessions * BYTES);
    return { operations, store, ids };
  }

  for (const [what, more] of Object.entries({
    'its request is larger than those before': { start: FROM.slice(), masses: new Float32Array(vertexCount).fill(1) },
    'its answer is larger than those before': { include: { vertices: true } },
  } satisfies Record<string, Partial<StepRequest>>))
    t.test(`a step gets the memory of an idle session if ${what}`, async (t) => {
      const { operations, ids } = await fullProcessOf(t, 3);
      const [first, , third] = ids as [string, string, string];
      t.equal((await operations.step({ ...stepOf(third, 1n), ...more })).frame, 1n);
      t.equal(operations.stats().sessions, 2, 'the session that was idle for longest has left');
      t.equal((await operations.step({ ...stepOf(first, 1n), afterFrame: 0n })).frame, 1n, 'and continues');
    });

  t.test('creations at the same time get the memory of one idle session each', async (t) => {
    const { operations } = await fullProcessOf(t, 2);
    const created = await Promise.all([1, 2].map(() => operations.createSession(OPENING)));
    t.not(created[0]!.id, created[1]!.id);
    t.equal((await operations.listSessions({})).sessions.length, 4);
  });

  t.test('no session leaves this process while the store is down', async (t) => {
    const { operations, store, ids } = await fullProcessOf(t, 2, 'continue');
    await redis.kill();
    while (store.health.isUp) await sleep(50);
    t.equal((await refusalOf(operations.createSession(OPENING))).code, 'STORE_UNAVAILABLE');
    for (const id of ids) t.match((await operations.step(stepOf(id, 1n))).report.warnings, [{ code: 'NOT_STORED' }]);
    // Without a file it comes back empty.
    await redis.restart();
    while (!store.health.isUp) await sleep(50);
    for (const id of ids) t.same((await operations.step({ ...stepOf(id, 2n), afterFrame: 1n })).report.warnings, []);
  });
});
