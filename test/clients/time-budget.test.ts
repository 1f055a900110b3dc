import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { Client, type ClientOptions, type Mesh, ServiceError } from '../../src/client/index.js';
import { openService } from './service.js';

/** Calls whose service does not answer. */

const MESH: Mesh = { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) };
const START = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
/** Whoever waits for this ignores a shorter limit. */
const TIMEOUT_SECONDS = 120;
/** Time budget of a call that gets no answer; allowance of its client. */
const LITTLE = 0.02;

/** The limits of the attempts that a test makes, in seconds. */
function recordLimits(t: Test): number[] {
  const limits: number[] = [];
  const { timeout } = AbortSignal;
  t.intercept(AbortSignal, 'timeout', {
    value: (ms: number) => {
      limits.push(ms / 1000);
      return timeout.call(AbortSignal, ms);
    },
  });
  return limits;
}

/** A service behind a `fetch` whose answers wait while `isHolding`, and the limits of the requests that it has seen. */
async function withHeldAnswers(t: Test, options: ClientOptions = {}) {
  const service = await openService();
  t.teardown(() => service.close());
  // The timer of a limit alone would let the process end.
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(alive));
  const held = { isHolding: false };
  const reach: typeof fetch = async (url, init) => {
    if (!held.isHolding) return fetch(url, init);
    const signal = init!.signal!;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    throw signal.reason;
  };
  const some = { timeoutSeconds: TIMEOUT_SECONDS, allowanceSeconds: LITTLE, retry: { firstPauseMs: 1 } };
  return { service, held, client: new Client(service.url, { ...some, fetch: reach, ...options }) };
}

const tooLate = async (t: Test, work: Promise<unknown>) => {
  const thrown = await work.catch((error: unknown) => error);
  t.type(thrown, ServiceError);
  t.match(thrown, { code: 'TIMEOUT', isUncertain: true, hint: /allowanceSeconds/ });
};

t.test('a time budget bounds the steps of a session, and what follows a failure has five seconds', async (t) => {
  const { held, client } = await withHeldAnswers(t);
  const session = await client.session(MESH, START);
  t.equal((await session.step(START, { timeBudgetSeconds: 60 })).frame, 1);
  const limits = recordLimits(t);
  held.isHolding = true;
  await tooLate(t, session.step(START, { timeBudgetSeconds: LITTLE }));
  t.equal(limits[1], 5, 'the session is abandoned');
  await tooLate(t, session.step(START, { timeBudgetSeconds: LITTLE }));
  t.equal(limits.length, 3, 'the third attempt was to create the session');
  held.isHolding = false;
  t.equal((await session.step(START)).frame, 4);
  t.equal(session.recreations, 1);
  held.isHolding = true;
  await tooLate(t, session.check({ timeBudgetSeconds: LITTLE }));
  await tooLate(t, session.step(START, { timeBudgetSeconds: LITTLE, onProgress: () => {} }));
  await tooLate(t, session.step(START, { timeBudgetSeconds: LITTLE }));
  limits.length = 0;
  t.equal(await session.close(), false);
  t.strictSame(limits.map(Math.ceil), [5], 'what the last step may have created is deleted');
});

t.test('a time budget bounds the other calls', async (t) => {
  const { held, client } = await withHeldAnswers(t);
  held.isHolding = true;
  const options = { timeBudgetSeconds: LITTLE };
  await tooLate(t, client.resolve(MESH, START, START, options));
  await tooLate(t, client.resolve(MESH, START, START, { ...options, onProgress: () => {} }));
  await tooLate(t, client.untangle(MESH, START, options));
  await tooLate(t, client.check(MESH, START, options));
  await tooLate(t, client.diagnose(MESH, START, options));
});

t.test('an answer may be late by an eighth of the budget, and by the way', async (t) => {
  const { client } = await withHeldAnswers(t, { timeoutSeconds: 1000, allowanceSeconds: 30 });
  const limits = recordLimits(t);
  await client.resolve(MESH, START, START, { timeBudgetSeconds: 400 });
  t.ok(limits[0]! > 450 && limits[0]! <= 480, String(limits));
  const session = await client.session(MESH, START);
  await session.step(START);
  t.strictSame(limits.slice(1), [1000, 1000], 'without a budget the limit of the client applies');
});

t.test('the hint names what can be changed', async (t) => {
  const { held, client } = await withHeldAnswers(t, { timeoutSeconds: LITTLE });
  held.isHolding = true;
  const long = { timeBudgetSeconds: 60 };
  await t.rejects(client.resolve(MESH, START, START, long), { code: 'TIMEOUT', hint: /Increase timeoutSeconds, / });
  await t.rejects(client.info(), { message: /within 0.02 s/, hint: /Increase timeoutSeconds\. / });
});

t.test('a server that accepts connections and never answers', async (t) => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = new Client(`http://127.0.0.1:${port}`, { timeoutSeconds: TIMEOUT_SECONDS, allowanceSeconds: LITTLE });
  await tooLate(t, client.resolve(MESH, START, START, { timeBudgetSeconds: LITTLE }));
});
