import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import t from 'tap';
import { freePort } from '../../bench/cluster/free-port.js';
import { Client, type Mesh, type Progress, type RetryOptions, ServiceError } from '../../src/client/index.js';
import { IntersticeError } from '../../src/contract/errors.js';
import { projectRoot } from '../../src/paths.js';
import { openService } from './service.js';

/** Two triangles; the second one is asked to pass through the first, which is an obstacle. */
const MESH: Mesh = {
  vertexCount: 6,
  triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
  kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0),
};
const START = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.1, 1.2, 0.2, 0.1, 0.2, 1.2, 0.1);
const lowered = (by: number) => START.map((value, i) => (i >= 9 && i % 3 === 2 ? value - by : value));
/** Tries for as long as a slow machine takes to start a service. */
const QUICK: RetryOptions = { firstPauseMs: 5, longestPauseMs: 20, attempts: 10_000 };

const STEP = /^POST .*\/steps/;
const refuseWith = (error: IntersticeError) => () => {
  throw error;
};

const failureOf = async (work: Promise<unknown>): Promise<ServiceError> => {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ServiceError) return thrown;
  throw new Error(`expected a ServiceError, got ${String(thrown)}`);
};

t.test('resolves and steps hand out their progress', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const client = new Client(service.url, { apiKey: 'secret', retry: QUICK });
  const seen: Progress[] = [];
  const onProgress = (progress: Progress) => void seen.push(progress);
  const told = await client.resolve(MESH, START, lowered(0.2), { onProgress, include: { contacts: true } });
  t.same(told.positions, (await client.resolve(MESH, START, lowered(0.2))).positions);
  t.ok(told.contacts);
  t.match(seen[0], { steps: 1, residual: Number, unfinishedVertices: Number });
  t.ok(seen.at(-1)!.steps <= told.report.steps);
  const session = await client.session(MESH, START);
  seen.length = 0;
  t.equal((await session.step(lowered(0.2), { onProgress, timeBudgetSeconds: 60 })).frame, 1);
  t.ok(seen.length > 0);
  const fail = () => {
    throw new RangeError("the listener's own");
  };
  await t.rejects(session.step(lowered(0.1), { onProgress: fail }), RangeError, 'what a listener throws ends its step');
  t.equal((await session.step(lowered(0.1))).frame, 3, 'and the session goes on');
  const pierced = START.map((value, i) => (i === 11 ? -0.1 : value));
  t.equal((await failureOf(client.resolve(MESH, pierced, START, { onProgress }))).code, 'INTERSECTING_START');
  await session.close();
});

t.test('the client against the real service', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const client = new Client(service.url, { apiKey: 'secret', retry: QUICK });
  const stepsSeen = () => service.seen.filter(({ line }) => STEP.test(line)).length;

  await t.test('steps, resolve and check agree', async (t) => {
    const session = await client.session(MESH, START, { label: 'pair' });
    const answer = await session.step(lowered(0.2));
    const resolved = await client.resolve(MESH, START, lowered(0.2));
    t.equal(answer.frame, 1);
    t.type(answer.positions, Float32Array);
    t.notSame(answer.positions, lowered(0.2), 'it was held back');
    t.same(answer.positions, resolved.positions, 'the fast path and JSON carry the same numbers');
    t.equal(answer.report.status, resolved.report.status);
    t.type(answer.report.pairs.activeContacts, 'number', 'counts are numbers');
    t.type(resolved.report.verification.pairsTested, 'number');
    t.match(await session.check(), { intersectionFree: true, intersectionCount: 0 });
    t.match(await client.diagnose(MESH, START, { target: lowered(0.2) }), { accepted: true, regionCount: 0 });
    t.match(await client.check(MESH, START, { pathEnd: lowered(0.2) }), { intersectionFree: true, pathFree: false });
    t.match(await client.info(), {
      algorithmVersion: String,
      limits: {
        ...{ maxVertices: Number, maxTimeBudgetSeconds: 600, defaultTimeBudgetSeconds: 600 },
        ...{ maxPairsPerRequest: Number, maxWorkBytes: Number },
      },
    });
    t.equal(await session.close(), true);
    const last = service.seen.at(-1);
    t.match(last?.headers, { authorization: 'Bearer secret' });
    const routes = service.seen.filter(({ headers }) => headers['x-session-id']);
    t.equal(new Set(routes.map(({ headers }) => headers['x-session-id'])).size, 1, 'one routing key a session');
    t.equal(routes.length, 4, 'on every request of it: open, step, check, close');
  });

  await t.test('doubles, overridden parameters and the other fields of a target are sent', async (t) => {
    const session = await client.session(MESH, Float64Array.from(START));
    const target = Float64Array.from(lowered(0.01));
    const plain = await session.step(target, { override: { stepLimit: 9 }, timeBudgetSeconds: 60, onBudget: 'FAIL' });
    t.type(plain.positions, Float64Array);
    t.equal(plain.report.resolved.stepLimit, 9);
    const full = await session.step(lowered(0.05), {
      include: { contacts: true, vertices: true, contactDistance: 1, path: true, reasons: true },
      masses: new Float32Array(6).fill(2),
      priority: 'INTERACTIVE',
    });
    t.equal(full.frame, 2);
    t.type(full.positions, Float32Array);
    t.equal(full.vertices?.residual.length, 6);
    t.equal(full.contacts?.vertices.length, 4 * (full.contacts?.kinds.length ?? 0));
    t.ok((full.contacts?.kinds.length ?? 0) > 0);
    t.equal(full.reasons?.holds.length, 6);
    t.equal(full.reasons?.vertices.length, 4 * (full.reasons?.kinds.length ?? 0));
    const states = full.path?.phases.length ?? 0;
    t.equal(full.path?.steps.length, states);
    t.equal(full.path?.positions.length, 18 * states);
    t.same(full.path?.positions.slice(-18), Float64Array.from(full.positions), 'its start was in doubles');
    await session.close();
  });

  await t.test('a lost answer is asked for again and was computed once', async (t) => {
    const session = await client.session(MESH, START);
    service.plan(STEP, 'lose-answer', 'break-before');
    const before = stepsSeen();
    const answer = await session.step(lowered(0.2));
    t.equal(stepsSeen() - before, 3);
    t.same(answer.positions, (await client.resolve(MESH, START, lowered(0.2))).positions);
    t.equal(session.recreations, 0);
    t.equal((await session.step(lowered(0.2))).frame, 2);
    await session.close();
  });

  await t.test('a creation whose answer is lost makes one session', async (t) => {
    service.plan(/^POST \/v1\/sessions$/, 'lose-answer');
    const session = await client.session(MESH, START, { label: 'once' });
    const list = await (await fetch(`${service.url}/v1/sessions?label=once`)).json();
    t.match(list, { sessions: [{ id: session.id }] });
    t.equal((list as { sessions: [] }).sessions.length, 1);
    await session.close();
  });

  await t.test('what the server calls retryable is tried again', async (t) => {
    const session = await client.session(MESH, START);
    const busy = refuseWith(new IntersticeError('QUEUE_FULL', 'busy', { retryAfterSeconds: 1 }));
    service.plan(STEP, refuseWith(new IntersticeError('DEVICE_LOST', 'gone')), busy);
    const before = stepsSeen();
    t.equal((await session.step(lowered(0.05))).frame, 1);
    t.equal(stepsSeen() - before, 3);
    const late = refuseWith(new IntersticeError('QUEUE_FULL', 'busy', { retryAfterSeconds: 3600 }));
    service.plan(STEP, late);
    t.match(await failureOf(session.step(lowered(0.06))), { code: 'QUEUE_FULL', retryAfterSeconds: 3600 });
    t.equal(stepsSeen() - before, 4, 'but nobody waits for an hour');
    const draining = Array.from({ length: 40 }, () => refuseWith(new IntersticeError('DRAINING', 'bye')));
    const recover = service.plan(STEP, ...draining);
    t.match(await failureOf(session.step(lowered(0.06), { timeBudgetSeconds: 0.1 })), { code: 'DRAINING' });
    t.ok(stepsSeen() - before < 44, 'a time budget covers all tries together');
    recover();
    await session.close();
  });

  await t.test('what cannot succeed is tried once', async (t) => {
    const session = await client.session(MESH, START);
    const before = stepsSeen();
    t.match(await failureOf(session.step(new Float32Array(3))), { code: 'SIZE_MISMATCH', retryable: false });
    t.match(await failureOf(session.step(lowered(Number.NaN))), { code: 'NOT_FINITE', requestId: /./ });
    t.match(await failureOf(session.step(START, { override: { damping: 7 } })), {
      code: 'INVALID_PARAMETER',
      hint: /./,
    });
    t.equal(stepsSeen() - before, 3);
    const apart = lowered(0.2).fill(0.01, 11, 12);
    const pierced = await failureOf(client.session(MESH, apart));
    t.equal(pierced.code, 'INTERSECTING_START');
    t.ok(pierced.pairCount > 0);
    t.type(pierced.pairs[0]?.a[0], 'number');
    t.equal((await session.step(lowered(0.05))).frame, 4, 'refusals leave the session as it was');
    t.equal(session.recreations, 0);
    await session.close();
  });

  await t.test('after an unknown end the next step starts from what was received', async (t) => {
    const careful = new Client(service.url, { retry: { attempts: 1 } });
    const session = await careful.session(MESH, START);
    service.plan(STEP, 'lose-answer');
    t.match(await failureOf(session.step(lowered(0.09))), { code: 'UNREACHABLE', isUncertain: true });
    const answer = await session.step(lowered(0.2));
    t.equal(session.recreations, 1);
    t.same(answer.positions, (await client.resolve(MESH, START, lowered(0.2))).positions);
    await session.close();
  });

  await t.test('a caller may cancel a call and close the client', async (t) => {
    const session = await client.session(MESH, START);
    const signal = AbortSignal.abort();
    const { id } = session;
    const before = stepsSeen();
    t.match(await failureOf(session.step(lowered(0.1), { signal })), { code: 'CANCELLED', isUncertain: false });
    t.equal(stepsSeen(), before, 'nothing was sent');
    t.equal((await session.step(lowered(0.05))).frame, 2);
    t.equal(session.id, id, 'so the session goes on');
    t.equal(await session.close(), true);
    t.equal(await session.close(), true, 'closing twice is no mistake');
    t.equal((await fetch(`${service.url}/v1/sessions/${id}`)).status, 404);
    t.match(await failureOf(session.step(lowered(0.05))), { code: 'CANCELLED', message: /closed/ });
  });
});

t.test('a session survives a restart of the service between two steps', async (t) => {
  // One that nobody else is given while the service is away.
  const first = await openService(await freePort());
  t.teardown(() => first.close());
  const client = new Client(first.url, { retry: QUICK });
  const parameters = { activationDistance: 0.02 };
  const session = await client.session({ ...MESH, kinematic: new Uint8Array(6) }, START, { parameters });
  const kinematic = MESH.kinematic as Uint8Array;
  const before = await session.step(lowered(0.05), { kinematic });
  const received = before.positions.slice();
  before.positions.fill(0);

  await first.close();
  t.match(
    await failureOf(new Client(first.url, { retry: { attempts: 2, firstPauseMs: 1 } }).info()),
    { code: 'UNREACHABLE', retryable: true },
    'nobody listens',
  );
  const waiting = session.step(lowered(0.2));
  const second = await openService(first.port);
  t.teardown(() => second.close());
  const after = await waiting;
  t.equal(session.recreations, 1);
  t.equal(after.frame, 2);
  t.equal(after.report.resolved.activationDistance, 0.02, 'the parameters are as before');
  t.same(after.positions.subarray(0, 9), START.subarray(0, 9), 'and so are the kinematic vertices');
  const expected = await client.resolve(MESH, received as Float32Array, lowered(0.2), { parameters });
  t.same(after.positions, expected.positions, 'it went on from the last answer, whatever became of its array');
  t.match(await session.check(), { intersectionFree: true });
  t.equal(await session.close(), true);
});

t.test('the package exports the client, and its examples are short', async (t) => {
  const entry = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')).exports['./client'];
  t.same(entry, { types: './dist/src/client/index.d.ts', default: './dist/src/client/index.js' });
  const examples = ['typescript/falling-cloth.mjs', 'typescript/normal-flow.mjs', 'python/falling_cloth.py'];
  for (const name of [...examples, 'cpp/falling_cloth.cpp']) {
    const lines = readFileSync(join(projectRoot, 'clients', name), 'utf8')
      .trimEnd()
      .split('\n').length;
    t.ok(lines < 60, `${name} shows real use in under 60 lines (${lines})`);
  }
});

t.test('another server is recognised as not being the service', async (t) => {
  const html = (status: number) => (async () => new Response('<html>', { status })) as unknown as typeof fetch;
  const retry = { attempts: 2, firstPauseMs: 1 };
  const ask = (status: number) => failureOf(new Client('http://proxy', { retry, fetch: html(status) }).info());
  t.match(await ask(502), { code: 'UNREACHABLE', retryable: true });
  t.match(await ask(404), { code: 'UNEXPECTED_ANSWER', retryable: false });
  t.match(await ask(200), { code: 'UNEXPECTED_ANSWER', retryable: false });
  for (const body of ['{}', '[]', 'null', '{"status":"ok"}']) {
    const other = new Client('http://other', { retry, fetch: (async () => new Response(body)) as typeof fetch });
    const foreign = { name: 'ServiceError', code: 'UNEXPECTED_ANSWER', isUncertain: true };
    const job = other.job('8e7c1f64');
    const calls = {
      info: () => other.info(),
      session: () => other.session(MESH, START),
      resolve: () => other.resolve(MESH, START, START),
      check: () => other.check(MESH, START),
      diagnose: () => other.diagnose(MESH, START),
      untangle: () => other.untangle(MESH, START),
      submit: () => other.submit(MESH, START, START),
      status: () => job.status(),
      wait: () => job.wait(),
      result: () => job.result(),
      untangled: () => job.untangled(),
    };
    for (const [name, call] of Object.entries(calls)) t.match(await failureOf(call()), foreign, `${name}: ${body}`);
  }
  const ended = '{"id":"8e7c1f64","state":"JOB_DONE","created":"2026-01-01T00:00:00Z","ended":"2026-01-01T00:00:01Z"}';
  const job = new Client('http://other', { retry, fetch: async () => new Response(ended) }).job('8e7c1f64');
  t.match(await job.status(), { state: 'JOB_DONE' });
  // The same answer is no result.
  t.match(await failureOf(job.result()), { code: 'UNEXPECTED_ANSWER' });
  t.match(await failureOf(job.untangled()), { code: 'UNEXPECTED_ANSWER' });
  // Gateways answer such JSON, whatever became of the request behind them.
  const gateway = (status: number) => async () => new Response('{"code":"GATEWAY","message":"no"}', { status });
  for (const [status, code] of [
    [504, 'UNREACHABLE'],
    [500, 'UNEXPECTED_ANSWER'],
  ] as const) {
    const behind = new Client('http://gateway', { retry, fetch: gateway(status) });
    t.match(await failureOf(behind.info()), { code, retryable: status === 504, isUncertain: true });
  }
  const positions = { data: 'AAAAAA==', scalar: 'FLOAT32' };
  const short = new Client('http://other', {
    retry,
    fetch: async () => new Response(JSON.stringify({ positions, report: {} })),
  });
  t.match(await failureOf(short.resolve(MESH, START, START)), { code: 'UNEXPECTED_ANSWER', message: /1 coordinates/ });
  t.throws(() => new Client('localhost:8080'), TypeError);
  for (const wrong of [{ timeoutSeconds: Infinity }, { timeoutSeconds: 3e6 }, { allowanceSeconds: Number.NaN }])
    t.throws(() => new Client('http://other', wrong), TypeError);
  const never = ((_: unknown, { signal }: RequestInit) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))) as typeof fetch;
  const slow = new Client('http://slow', { fetch: never, timeoutSeconds: 0.02 });
  // An unref'd timer alone would let the process end.
  const alive = setInterval(() => {}, 1000);
  t.match(await failureOf(slow.info()), { code: 'TIMEOUT', isUncertain: true });
  clearInterval(alive);
});

t.test('a fetch that does not obey its signal holds no call', async (t) => {
  const deaf = new Client('http://deaf', { fetch: () => new Promise(() => {}) });
  const caller = new AbortController();
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const waiting = failureOf(deaf.info({ signal: caller.signal }));
  caller.abort();
  mock.timers.tick(5000);
  t.match(await waiting, { code: 'CANCELLED', isUncertain: true });
  const odd = new Client('http://odd', { fetch: () => Promise.reject(undefined), retry: { attempts: 1 } });
  t.match(await failureOf(odd.info()), { code: 'UNREACHABLE' });
});

t.test('a last attempt that finds the session lost continues in a new one', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  let failures = 0;
  const shaky: typeof fetch = (...request) =>
    failures-- > 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(...request);
  const client = new Client(service.url, { retry: { attempts: 3, firstPauseMs: 1 }, fetch: shaky });
  const session = await client.session(MESH, START);
  await fetch(`${service.url}/v1/sessions/${session.id}`, { method: 'DELETE' });
  failures = 2;
  t.equal((await session.step(lowered(0.05))).frame, 1);
  t.equal(session.recreations, 1);
  await session.close();
});

t.test('a refusal does not hide that an earlier attempt has no answer', async (t) => {
  const busy = { type: 'urn:interstice:error:QUEUE_FULL', code: 'QUEUE_FULL', message: 'busy', retryable: true };
  const answers = [
    () => Promise.reject(new TypeError('fetch failed')),
    async () => Response.json(busy, { status: 503 }),
  ];
  const client = new Client('http://busy', {
    fetch: () => answers.shift()!(),
    retry: { attempts: 2, firstPauseMs: 1 },
  });
  t.match(await failureOf(client.submit(MESH, START, START)), { code: 'QUEUE_FULL', isUncertain: true });
});
