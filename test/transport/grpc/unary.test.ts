import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import type { OperationName } from '../../../src/contract/operations.js';
import { packageVersion } from '../../../src/paths.js';
import { fakeReport } from '../fake-answers.js';
import { hangingResolve } from '../fake-operations.js';
import { START, TARGET } from '../fixtures.js';
import { call, callRaw, deferred, detailsOf, openGrpc } from './door.js';

const ID = 'f'.repeat(32);
const FLOATS = { start: Float32Array.from(START), target: Float32Array.from(TARGET) };
const RESOLVE = {
  mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
  start: { data: FLOATS.start },
  target: { data: FLOATS.target },
};

t.test('every unary method reaches its operation and answers with its message', async (t) => {
  const { client, operations } = await openGrpc(t);
  const requests: Record<Exclude<OperationName, 'watchJob'>, object> = {
    resolve: RESOLVE,
    check: { mesh: RESOLVE.mesh, positions: RESOLVE.start },
    createSession: { mesh: RESOLVE.mesh, start: RESOLVE.start, label: 'cape' },
    getSession: { sessionId: ID },
    listSessions: { pageSize: 3, label: 'cape' },
    updateSession: { sessionId: ID, label: '' },
    deleteSession: { sessionId: ID },
    step: { sessionId: ID, frame: 9007199254740993n, target: RESOLVE.target },
    diagnose: { mesh: RESOLVE.mesh, positions: RESOLVE.start },
    untangle: { mesh: RESOLVE.mesh, positions: RESOLVE.start, options: { turned: [2], maxIterations: 7 } },
    submitJob: { resolve: RESOLVE, label: 'cape', keepFor: { seconds: 5, nanos: 0 } },
    getJob: { jobId: ID, wait: { seconds: 1, nanos: 500_000_000 } },
    listJobs: { pageSize: 3, label: 'cape' },
    getJobResult: { jobId: ID },
    deleteJob: { jobId: ID },
    info: {},
  };
  const answers: Partial<Record<OperationName, unknown>> = {};
  for (const [name, request] of Object.entries(requests)) {
    const operation = name as OperationName;
    const { error, answer, headers } = await call(client, operation, request);
    t.equal(error, undefined, operation);
    t.equal(headers?.get('interstice-version')[0], packageVersion, operation);
    answers[operation] = answer;
  }
  t.same(operations.resolves[0]!.request.target, FLOATS.target);
  t.equal(operations.checks.length, 1);
  t.equal(operations.diagnoses.length, 1);
  t.match(operations.untanglings[0]!.request, { positions: FLOATS.start, turned: [2], maxIterations: 7 });
  t.same(
    operations.sessionCalls.map(({ call }) => call),
    [
      ...['create', 'get', 'list', 'update', 'delete', 'step'],
      ...['submitJob', 'getJob', 'listJobs', 'getJobResult', 'deleteJob'],
    ],
  );
  t.match(operations.sessionCalls[2]!.request, { pageSize: 3, label: 'cape' });
  t.match(operations.sessionCalls[3]!.request, { sessionId: ID, label: '' });
  t.match(operations.sessionCalls[5]!.request, { sessionId: ID, frame: 9007199254740993n });
  t.match(operations.sessionCalls[6]!.request, { label: 'cape', keepForSeconds: 5 });
  t.match(operations.sessionCalls[7]!.request, { jobId: ID, waitSeconds: 1.5 });
  t.match(answers, {
    submitJob: { id: /^fedc/, state: 2, progress: { steps: 7 } },
    getJob: { label: 'cape', bytes: 4096n },
    listJobs: { jobs: [{ label: 'cape' }], nextPageToken: 'more', ofOneProcess: true },
    getJobResult: { positions: { scalar: 1 }, report: { status: 1, steps: 7 } },
    resolve: { positions: { scalar: 1 }, report: { status: 1, steps: 7 } },
    check: { intersectionCount: 1n },
    createSession: { id: /^0123/, label: 'cape' },
    getSession: { lastReport: { steps: 7 } },
    listSessions: { sessions: [{ label: 'cape' }], nextPageToken: 'more' },
    step: { frame: 9007199254740993n, report: { steps: 7 } },
    diagnose: { regionCount: 1n },
    info: { version: '0.1.0', features: ['resolve', 'check'] },
  });
});

t.test('the transport writes its times into the report of a new answer, but not into a replay', async (t) => {
  const { client, operations } = await openGrpc(t);
  for (const isReplay of [false, true]) {
    operations.onStep = async () => ({ frame: 1n, positions: FLOATS.target, report: fakeReport(), isReplay });
    const { answer } = await call(client, 'step', { sessionId: ID });
    const timings = (answer!.report as { timings: { total: number; encode?: number } }).timings;
    if (isReplay) t.match(timings, { total: 250 });
    else t.ok(timings.total !== 250 && (timings.encode ?? 0) > 0, 'stamped');
  }
});

t.test('the request id is that of the caller if it is usable, otherwise a new one', async (t) => {
  const { client, operations, lines } = await openGrpc(t);
  const named = await callRaw(client, 'GetServerInfo', new Uint8Array(), { metadata: { 'x-request-id': 'job-7' } });
  t.equal(named.headers?.get('x-request-id')[0], 'job-7');
  const odd = await callRaw(client, 'GetServerInfo', new Uint8Array(), { metadata: { 'x-request-id': 'a b' } });
  t.match(odd.headers?.get('x-request-id')[0], /^[0-9a-f-]{36}$/);
  const routed = { 'x-request-id': 'job-8', 'x-session-id': 'any' };
  await call(client, 'resolve', RESOLVE, { metadata: routed });
  t.equal(operations.resolves[0]!.context.requestId, 'job-8');
  t.match(lines.find(({ requestId }) => requestId === 'job-8')!, {
    msg: 'Request completed.',
    method: 'gRPC',
    path: '/interstice.v1.CollisionService/Resolve',
    status: 200,
    ms: Number,
    bytesIn: Number,
    bytesOut: Number,
  });
  const bytes = lines.find(({ requestId }) => requestId === 'job-8') as { bytesIn: number; bytesOut: number };
  t.ok(bytes.bytesIn > 80 && bytes.bytesOut > 36, 'bytes of the messages');
});

t.test('a refusal carries status, text, retry-after and the whole error', async (t) => {
  const { client, operations, lines } = await openGrpc(t);
  const pair = { kind: 'EDGE_TRIANGLE', a: [0, 1], b: [2, 3, 4], distance: 0.5 } as const;
  operations.failure = new IntersticeError('INTERSECTING_START', 'One pair intersects at the start.', {
    pairs: [pair],
    pairCount: 77,
    element: { kind: 'edge', index: 3, vertices: [0, 1] },
    retryAfterSeconds: 1.2,
  });
  const metadata = { 'x-request-id': 'job-9' };
  const { error } = await call(client, 'resolve', RESOLVE, { metadata });
  t.equal(error?.code, status.FAILED_PRECONDITION);
  t.equal(error?.details, 'One pair intersects at the start.');
  t.same(error?.metadata.get('retry-after'), ['2']);
  t.same(error?.metadata.get('x-request-id'), ['job-9']);
  t.same(error?.metadata.get('interstice-version'), [packageVersion]);
  const details = detailsOf(error);
  t.equal(details.code, status.FAILED_PRECONDITION);
  t.equal(details.message, 'One pair intersects at the start.');
  t.equal(details.typeUrl, 'type.googleapis.com/interstice.v1.Error');
  t.match(details.error, {
    code: 'INTERSECTING_START',
    hint: /Separate the listed pairs/,
    requestId: 'job-9',
    pairCount: 77n,
    pairs: [{ kind: 5, a: [0, 1], b: [2, 3, 4], distance: 0.5 }],
    element: { kind: 'edge', index: 3n, vertices: [0, 1] },
    retryAfter: { seconds: 1 },
  });
  t.match(
    lines.filter(({ requestId }) => requestId === 'job-9'),
    [{ status: 422, code: 'INTERSECTING_START' }],
    'one line',
  );
});

t.test('an unexpected error tells the caller no details and the log all of them', async (t) => {
  const { client, operations, lines } = await openGrpc(t);
  operations.failure = new TypeError('secret of the house');
  const { error } = await call(client, 'resolve', RESOLVE);
  t.equal(error?.code, status.INTERNAL);
  t.notMatch(JSON.stringify(detailsOf(error).error), /secret/);
  t.notMatch(error?.details, /secret/);
  t.match(
    lines.find(({ err }) => err !== undefined),
    { err: { message: 'secret of the house' }, requestId: /./ },
  );
});

t.test('bytes that are not a message are reported as a fault of the caller', async (t) => {
  const { client, operations } = await openGrpc(t);
  const nonsense: [string, Uint8Array, string][] = [
    ['cut off', Uint8Array.of(0x0a, 0xff, 0x01), 'MALFORMED_BODY'],
    ['a tag of nothing', Uint8Array.of(0x00), 'MALFORMED_BODY'],
    ['an unknown field', Uint8Array.of(0xf8, 0x7f, 0x01), 'UNKNOWN_FIELD'],
    ['nothing at all', new Uint8Array(), 'MALFORMED_BODY'],
  ];
  for (const [name, bytes, code] of nonsense) {
    const { error } = await callRaw(client, 'Resolve', bytes);
    t.equal(error?.code, status.INVALID_ARGUMENT, name);
    t.equal(detailsOf(error).error.code, code, name);
  }
  t.equal(operations.resolves.length, 0);
});

t.test('a missing method is refused', async (t) => {
  const { client } = await openGrpc(t);
  const { error } = await callRaw(client, 'Dissolve', new Uint8Array());
  t.equal(error?.code, status.UNIMPLEMENTED);
});

t.test('a cancelled call stops the work', async (t) => {
  const { client, operations, lines, state } = await openGrpc(t);
  const hanging = hangingResolve();
  operations.onResolve = hanging.resolve;
  let cancel = () => {};
  const answer = call(client, 'resolve', RESOLVE, {
    onStart: (given) => {
      cancel = given;
    },
  });
  await hanging.begun;
  t.equal(state.inFlight, 1);
  cancel();
  await hanging.aborted;
  t.equal((await answer).error?.code, status.CANCELLED);
  await state.idle();
  t.match(lines, [{ status: 499, code: 'CANCELLED' }]);
});

t.test('a session whose caller is gone before the answer is deleted, unless a key leads back to it', async (t) => {
  const { client, operations, state } = await openGrpc(t);
  const creation = { mesh: RESOLVE.mesh, start: RESOLVE.start, idleTimeout: { seconds: 0, nanos: 0 } };
  await call(client, 'createSession', creation);
  await state.idle();
  for (const [more, calls] of [
    [{}, ['create', 'delete']],
    [{ idempotencyKey: 'mine' }, ['create']],
  ] as const) {
    operations.sessionCalls.length = 0;
    let cancel = () => {};
    operations.onCreate = async ({ signal }) => {
      const aborted = once(signal!, 'abort');
      cancel();
      await aborted;
    };
    const { error } = await call(
      client,
      'createSession',
      { ...creation, ...more },
      { onStart: (given) => (cancel = given) },
    );
    t.equal(error?.code, status.CANCELLED);
    await state.idle();
    const names = () => operations.sessionCalls.map(({ call }) => call);
    // The handler goes on in later turns of the event loop.
    for (let turn = 0; turn < 8 || names().length < calls.length; turn++) await setImmediate();
    t.same(names(), calls);
  }
});

t.test('an answered call aborts nothing', async (t) => {
  const { client, operations, state } = await openGrpc(t);
  await call(client, 'resolve', RESOLVE);
  await state.idle();
  t.equal(operations.resolves[0]!.context.signal?.aborted, false);
});

t.test('the time of receipt is that of the headers, before the message', async (t) => {
  const { client, operations } = await openGrpc(t);
  const before = performance.now();
  await call(client, 'resolve', RESOLVE);
  const { receivedAt } = operations.resolves[0]!.context;
  t.ok(receivedAt! >= before && receivedAt! <= performance.now());
});

t.test('keys are asked for before the message has come', async (t) => {
  const { client, operations } = await openGrpc(t, {
    authenticate: (header) => {
      const key = header('authorization') ?? `Bearer ${header('x-api-key')}`;
      if (key !== 'Bearer good') throw new IntersticeError('UNAUTHENTICATED', 'There is no such key.');
      return { tenant: 'alice', maxPriority: 'BATCH' };
    },
  });
  const refused = await callRaw(client, 'Resolve', Uint8Array.of(0xff));
  t.equal(refused.error?.code, status.UNAUTHENTICATED);
  t.equal(detailsOf(refused.error).error.code, 'UNAUTHENTICATED');
  for (const [name, value] of [
    ['authorization', 'Bearer good'],
    ['x-api-key', 'good'],
  ] as const) {
    await call(client, 'resolve', RESOLVE, { metadata: { [name]: value } });
  }
  t.equal(operations.resolves.length, 2);
  for (const { context } of operations.resolves) t.same(context.caller, { tenant: 'alice', maxPriority: 'BATCH' });
});

t.test('while the server drains, new calls are refused and those at work finish', async (t) => {
  const { client, operations, state, server } = await openGrpc(t);
  const [begun, release] = [deferred(), deferred()];
  operations.onResolve = async ({ target }) => {
    begun.resolve();
    await release.promise;
    return { positions: target, report: fakeReport() };
  };
  const atWork = call(client, 'resolve', RESOLVE);
  await begun.promise;
  state.move('draining', 'This server is shutting down.');
  const { error } = await call(client, 'resolve', RESOLVE);
  t.equal(error?.code, status.UNAVAILABLE);
  t.match(detailsOf(error).error, { code: 'DRAINING', retryable: true });
  t.same(error?.metadata.get('retry-after'), ['1']);
  t.equal(state.inFlight, 1, 'the refused one has left');
  const closed = server.close(60_000);
  release.resolve();
  t.equal((await atWork).error, undefined);
  await state.idle();
  await closed;
});

t.test('closing ends what outlasts the grace', async (t) => {
  const { client, operations, server } = await openGrpc(t);
  const hanging = hangingResolve();
  operations.onResolve = hanging.resolve;
  const answer = call(client, 'resolve', RESOLVE);
  await hanging.begun;
  await server.close(1);
  await hanging.aborted;
  t.ok((await answer).error);
});

t.test('an address in use is refused', async (t) => {
  const { port } = await openGrpc(t);
  const { server } = await openGrpc(t);
  await t.rejects(server.listen('127.0.0.1', port), { code: 'INVALID_PARAMETER', message: /Cannot listen on/ });
});
