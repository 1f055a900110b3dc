import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { Wire } from '../../bench/cluster/wire.js';
import { SCENES } from '../../examples/scenes/index.js';
import type { IntersticeError } from '../../src/contract/errors.js';
import { createOperations } from '../../src/session/operations.js';
import { LIMITS } from '../support/job.js';
import { startPair } from '../support/redis-pair.js';

/** The server of the store is lost for ever, and a replica takes its place behind the same address. */

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

const { vertexCount, triangles, start, target } = SCENES.layers!(120);
const FROM = Float32Array.from(start);
const OPENING = { mesh: { vertexCount, triangles }, start: FROM, parameters: { quality: 'FAST' as const } };
const towards = (share: number) => FROM.map((x, i) => x + share * (target[i]! - x));
const SHARES = [0.1, 0.15, 0.16, 0.3, 0.28];

t.test('frames that have reached a replica outlive the primary', { skip: lacksRedis }, async (t) => {
  const { primary, replica } = await startPair(t);
  const wire = await Wire.open(primary.port);
  t.teardown(() => wire.close());
  const url = `redis://127.0.0.1:${wire.port}/0`;

  async function processOf() {
    const store = await primary.open('p', { url, replicas: 1 });
    const operations = await createOperations({
      engine: 'cpu',
      threads: 1,
      limits: { ...LIMITS, maxSessions: 8 },
      allowUnverified: false,
      store: { sessions: store, onFailure: 'refuse' },
    });
    t.teardown(() => operations.close());
    return operations;
  }

  const [a, b] = [await processOf(), await processOf()];
  const alone = await createOperations({ engine: 'cpu', threads: 1, limits: LIMITS, allowUnverified: false });
  t.teardown(() => alone.close());
  const [kept, plain] = [await untilAccepted(() => a.createSession(OPENING)), await alone.createSession(OPENING)];
  const step = async (at: typeof a, k: number) => {
    const frame = { frame: BigInt(k + 1), afterFrame: BigInt(k), target: towards(SHARES[k]!) };
    const answer = await untilAccepted(() => at.step({ ...frame, sessionId: kept.id }));
    const expected = await alone.step({ ...frame, sessionId: plain.id });
    t.same(answer.positions, expected.positions, `frame ${k + 1}`);
    t.equal(answer.report.sessionRebuilt, false);
  };
  for (const k of [0, 1, 2]) await step(a, k);
  await primary.kill();
  // What a sentinel or an operator does. The address leads to the replica afterwards.
  replica.cli('REPLICAOF', 'NO', 'ONE');
  wire.leadTo(replica.port);
  // The setting asks for a replica of the new primary too: without one no frame counts.
  const next = await Redis.start(['--replicaof', '127.0.0.1', String(replica.port)]);
  t.teardown(() => next.stop());
  await step(a, 3);
  await step(b, 4);
});

t.test('repeating a request does not accept a frame that no replica has', { skip: lacksRedis }, async (t) => {
  const { primary, replica } = await startPair(t);
  const operations = await createOperations({
    engine: 'cpu',
    threads: 1,
    limits: { ...LIMITS, maxSessions: 8 },
    allowUnverified: false,
    // Each refusal because of the replica takes as long.
    store: { sessions: await primary.open('p', { replicas: 1, timeoutMs: 5000 }), onFailure: 'refuse' },
  });
  t.teardown(() => operations.close());
  const { id: sessionId } = await untilAccepted(() => operations.createSession(OPENING));
  replica.signal('SIGSTOP');
  t.teardown(() => replica.signal('SIGCONT'));
  const step = () => operations.step({ sessionId, frame: 1n, target: towards(SHARES[0]!) });
  const isInPrimary = () => primary.cli('HGET', `p:session:default:${sessionId}`, 'frame') === '1';
  do await t.rejects(step(), { code: 'STORE_UNAVAILABLE' });
  while (!isInPrimary());
  // Refused at once until the primary is known to answer; then because of the replica.
  const end = performance.now() + 1000;
  do {
    await t.rejects(step(), { code: 'STORE_UNAVAILABLE' });
    await sleep(50);
  } while (performance.now() < end);
  replica.signal('SIGCONT');
  t.equal((await untilAccepted(step)).frame, 1n);
});

async function untilAccepted<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown as IntersticeError).retryable) throw thrown;
      await sleep(50);
    }
  }
}
