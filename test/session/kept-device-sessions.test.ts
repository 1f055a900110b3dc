import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { SCENES } from '../../examples/scenes/index.js';
import { openAdapter } from '../../gpu/device/adapter.js';
import { createOperations } from '../../src/session/operations.js';
import { LIMITS } from '../support/job.js';

/** Sessions of the WebGPU engine in a store: several operations with one store stand for several processes. */

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { opened, reason } = await openAdapter({ allowSoftware: true });
await opened?.close();
if (!opened && process.env.INTERSTICE_REQUIRE_GPU === '1') throw new Error(reason);

const { vertexCount, triangles, start, target } = SCENES.layers!(120);
const FROM = Float32Array.from(start);
const OPENING = { mesh: { vertexCount, triangles }, start: FROM, parameters: { quality: 'FAST' as const } };
const towards = (share: number) => FROM.map((x, i) => x + share * (target[i]! - x));
const SHARES = [0.2, 0.205, 0.21, 0.35, 0.352, 0.2];

const skip = opened ? lacksRedis : reason;

t.test('a session on a device moves from process to process with the bytes of one process', { skip }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());

  async function processOf(t: Test) {
    const logged: Record<string, unknown>[] = [];
    const store = await redis.open('p');
    t.teardown(() => store.close());
    const operations = await createOperations({
      engine: 'webgpu',
      threads: 1,
      limits: { ...LIMITS, maxSessions: 8 },
      allowUnverified: false,
      store: { sessions: store, onFailure: 'refuse' },
      log: (event, message) => logged.push({ ...event, message }),
    });
    t.teardown(() => operations.close());
    const loaded = () => logged.findLast(({ scene }) => scene !== undefined);
    return { operations, loaded };
  }

  const [a, b] = [await processOf(t), await processOf(t)];
  const [plain, moved] = [await a.operations.createSession(OPENING), await a.operations.createSession(OPENING)];
  const step = async (k: number, at: typeof a) => {
    const frame = { frame: BigInt(k + 1), target: towards(SHARES[k]!) };
    const expected = await a.operations.step({ ...frame, sessionId: plain.id });
    const answer = await at.operations.step({ ...frame, sessionId: moved.id });
    t.same(answer.positions, expected.positions, `frame ${k + 1}`);
    t.equal(answer.report.sessionRebuilt, false);
  };
  for (const k of [0, 1, 2]) await step(k, a);
  await step(3, b);
  // How many frames are computed again depends on whether a checkpoint was written meanwhile.
  t.match(b.loaded(), { scene: 'exact' });
  await b.operations.close();
  await step(4, a);
  t.match(a.loaded(), { scene: 'exact', repeated: 0 }, 'a process that ends leaves a checkpoint');
});
