import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { status } from '@grpc/grpc-js';
import t from 'tap';
import type { CallContext } from '../../../src/contract/call-context.js';
import { IntersticeError } from '../../../src/contract/errors.js';
import type { StepAnswer, StepRequest } from '../../../src/contract/sessions.js';
import { MAX_UNANSWERED } from '../../../src/transport/grpc/call-state.js';
import { SERVICE } from '../../../src/transport/grpc/service.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { fakeReport } from '../fake-answers.js';
import type { FakeOperations } from '../fake-operations.js';
import { callRaw, deferred, openGrpc, TestStream } from './door.js';

const ID = 'f'.repeat(32);
const TARGET = { data: Float32Array.from([1, 2, 3]) };

const answerOf = (request: StepRequest): StepAnswer => ({
  frame: request.frame ?? 1n,
  positions: request.target ?? new Float32Array(3),
  report: fakeReport(),
  isReplay: false,
});

/** Steps that end when the test says so, in whatever order. */
function holdSteps(operations: FakeOperations) {
  const begun: { request: StepRequest; context: CallContext; finish: (failure?: unknown) => void }[] = [];
  let wake = () => {};
  operations.onStep = (request, context) => {
    const { promise, resolve, reject } = deferred<StepAnswer>();
    context.signal?.addEventListener('abort', () => reject(new IntersticeError('CANCELLED', 'Gone.')));
    const finish = (failure?: unknown) => (failure === undefined ? resolve(answerOf(request)) : reject(failure));
    begun.push({ request, context, finish });
    wake();
    return promise;
  };
  const until = async (count: number) => {
    while (begun.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return begun;
  };
  return { begun, until };
}

/** Goes to the server and back, so that everything sent before on this connection has been seen. */
const settle = async (client: Parameters<typeof callRaw>[0]) => {
  for (let i = 0; i < 3; i++) await callRaw(client, 'GetServerInfo', new Uint8Array());
};

t.test('answers come in order, numbered, whatever the order of their ends', async (t) => {
  const { client, operations, state } = await openGrpc(t);
  const { until } = holdSteps(operations);
  const stream = new TestStream(client);
  for (let frame = 1; frame <= 3; frame++) stream.send({ sessionId: ID, frame, target: TARGET });
  const steps = await until(3);
  for (const i of [2, 0, 1]) steps[i]!.finish();
  t.match(await stream.until(3), [
    { sequence: undefined, response: { frame: 1n, positions: { scalar: 1 }, report: { steps: 7 } } },
    { sequence: 1n, response: { frame: 2n } },
    { sequence: 2n, response: { frame: 3n } },
  ]);
  stream.call.end();
  t.equal(await stream.ended, undefined);
  await state.idle();
});

t.test('the session is named once; another one is refused, and the stream goes on', async (t) => {
  const { client, operations } = await openGrpc(t);
  const stream = new TestStream(client);
  stream.send({ target: TARGET });
  stream.send({ sessionId: ID, target: TARGET });
  stream.send({ target: TARGET });
  stream.send({ sessionId: 'e'.repeat(32), target: TARGET });
  stream.send({ sessionId: ID });
  t.match(await stream.until(5), [
    { error: { code: 'MALFORMED_BODY', message: /sessionId is missing/ } },
    { sequence: 1n, response: {} },
    { sequence: 2n, response: {} },
    { sequence: 3n, error: { code: 'INVALID_PARAMETER', requestId: /\/3$/ } },
    { sequence: 4n, response: {} },
  ]);
  stream.call.end();
  t.equal(await stream.ended, undefined);
  t.same(
    operations.sessionCalls.map(({ request }) => (request as StepRequest).sessionId),
    [ID, ID, ID],
  );
});

t.test('a message that does not decode is refused in its turn', async (t) => {
  const { client } = await openGrpc(t);
  const stream = new TestStream(client);
  stream.call.write(Uint8Array.of(0x0a, 0xff));
  stream.send({ sessionId: ID, target: TARGET });
  t.match(await stream.until(2), [{ error: { code: 'MALFORMED_BODY' } }, { sequence: 1n, response: {} }]);
});

t.test(`at most ${MAX_UNANSWERED} unanswered steps reach the operations`, async (t) => {
  const { client, operations } = await openGrpc(t);
  const { begun, until } = holdSteps(operations);
  const stream = new TestStream(client);
  const total = 3 * MAX_UNANSWERED;
  for (let frame = 1; frame <= total; frame++) stream.send({ sessionId: ID, frame, target: TARGET });
  stream.call.end();
  for (let answered = 0; answered < total; answered++) {
    await until(Math.min(total, answered + MAX_UNANSWERED));
    await settle(client);
    t.equal(begun.length, Math.min(total, answered + MAX_UNANSWERED), `after ${answered} answers`);
    begun[answered]!.finish();
    await stream.until(answered + 1);
  }
  t.equal(await stream.ended, undefined);
});

t.test('a refused step does not end the stream; a lost session does, and nothing behind it is answered', async (t) => {
  const { client, operations, lines } = await openGrpc(t);
  const { until } = holdSteps(operations);
  const stream = new TestStream(client);
  for (let frame = 1; frame <= 4; frame++) stream.send({ sessionId: ID, frame, target: TARGET });
  const steps = await until(4);
  steps[0]!.finish(new IntersticeError('FRAME_CONFLICT', 'Another payload.'));
  steps[1]!.finish(new TypeError('secret of the house'));
  steps[2]!.finish(new IntersticeError('SESSION_NOT_FOUND', 'There is no such session.'));
  t.equal(await stream.ended, undefined, 'ends as a stream that did its work');
  t.match(stream.answers, [
    { error: { code: 'FRAME_CONFLICT' } },
    { sequence: 1n, error: { code: 'INTERNAL', message: /failed to answer/ } },
    { sequence: 2n, error: { code: 'SESSION_NOT_FOUND' } },
  ]);
  t.equal(stream.answers.length, 3);
  t.ok(steps[3]!.context.signal?.aborted, 'the step behind it was stopped');
  t.ok(lines.some(({ err }) => (err as { message?: string })?.message === 'secret of the house'));
});

t.test('a hang-up stops what runs and what waits, also while the server does not read', async (t) => {
  const { client, operations, state, lines } = await openGrpc(t);
  const { until, begun } = holdSteps(operations);
  const stream = new TestStream(client);
  for (let frame = 1; frame <= 2 * MAX_UNANSWERED; frame++) stream.send({ sessionId: ID, frame, target: TARGET });
  await until(MAX_UNANSWERED);
  await settle(client);
  const aborted = Promise.all(
    begun.map(({ context }) => new Promise((resolve) => context.signal?.addEventListener('abort', resolve))),
  );
  stream.call.cancel();
  await aborted;
  t.equal((await stream.ended)?.code, status.CANCELLED);
  await state.idle();
  t.equal(begun.length, MAX_UNANSWERED);
  t.match(
    lines.filter(({ path }) => String(path).endsWith('/StepStream')),
    [{ status: 499, code: 'CANCELLED' }],
  );
});

t.test('progress comes while a step runs, if it was asked for', async (t) => {
  const { client, operations } = await openGrpc(t);
  const { until } = holdSteps(operations);
  const stream = new TestStream(client);
  stream.send({ sessionId: ID, target: TARGET, include: { progress: true } });
  stream.send({ target: TARGET, include: { progress: true } });
  stream.send({ target: TARGET });
  const steps = await until(3);
  t.equal(steps[2]!.context.onProgress, undefined, 'not asked for');
  steps[1]!.context.onProgress!({ steps: 99, residual: 1, unfinishedVertices: 1 });
  steps[0]!.context.onProgress!({ steps: 3, residual: 0.5, unfinishedVertices: 12 });
  t.match(await stream.until(1), [{ progress: { steps: 3, residual: 0.5, unfinishedVertices: 12 } }], 'not the second');
  steps[0]!.finish();
  await stream.until(2);
  steps[1]!.context.onProgress!({ steps: 4, residual: 0.25, unfinishedVertices: 1 });
  t.match((await stream.until(3))[2], { sequence: 1n, progress: { steps: 4 } });
});

t.test('a draining server finishes what it has, says so, and ends the stream', async (t) => {
  const { client, operations, state } = await openGrpc(t);
  const { until } = holdSteps(operations);
  const stream = new TestStream(client);
  stream.send({ sessionId: ID, frame: 1, target: TARGET });
  const [first] = await until(1);
  state.move('draining', 'This server is shutting down.');
  stream.send({ frame: 2, target: TARGET });
  await settle(client);
  first!.finish();
  t.equal(await stream.ended, undefined);
  t.match(stream.answers, [
    { response: { frame: 1n } },
    { sequence: 1n, error: { code: 'DRAINING', retryable: true, retryAfter: { seconds: 1 } } },
  ]);
  t.equal(operations.sessionCalls.length, 1, 'the second step was never begun');
  await state.idle();
});

t.test('a stream that waits for its client does not hold the drain', async (t) => {
  const { client, operations, state, server } = await openGrpc(t);
  const stream = new TestStream(client);
  stream.send({ sessionId: ID, target: TARGET });
  await stream.until(1);
  t.equal(state.inFlight, 0);
  state.move('draining', 'This server is shutting down.');
  t.match((await stream.until(2))[1], { sequence: 1n, error: { code: 'DRAINING' } });
  t.equal(await stream.ended, undefined);
  await server.close(60_000);
  t.equal(operations.sessionCalls.length, 1);
});

t.test('a client that stops reading holds back the steps', async (t) => {
  const { client, operations } = await openGrpc(t, { maxMessageBytes: 1 << 20 });
  const positions = new Float32Array(1 << 18);
  operations.onStep = async (request) => ({ ...answerOf(request), positions });
  const stream = new TestStream(client);
  stream.call.pause();
  for (let frame = 1; frame <= 40; frame++) stream.send({ sessionId: ID, frame });
  stream.call.end();
  await settle(client);
  // Each answer has 1 MiB: what the client's windows and buffers take is a few of them, not forty.
  const taken = operations.sessionCalls.length;
  t.ok(taken < 40, `${taken} steps were begun`);
  stream.call.resume();
  t.equal(await stream.ended, undefined);
  t.equal(stream.answers.length, 40);
  t.equal(operations.sessionCalls.length, 40);
});

t.test('a stream whose messages are all answered has ended well, however the client leaves it', async (t) => {
  for (const leave of ['destroys the connection', 'cancels'] as const) {
    const { operations, lines, port, state } = await openGrpc(t);
    operations.onStep = async (request) => answerOf(request);
    const session = connect(`http://127.0.0.1:${port}`);
    t.teardown(() => session.destroy());
    const stream = session.request({
      ...{ ':method': 'POST', ':path': `/${SERVICE}/StepStream`, 'content-type': 'application/grpc', te: 'trailers' },
    });
    const message = encodeMessage('StepRequest', { sessionId: ID, frame: 1, target: TARGET });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.byteLength, 1);
    stream.write(Buffer.concat([head, message]));
    await once(stream, 'data');
    await state.idle();
    if (leave === 'cancels') stream.close(constants.NGHTTP2_CANCEL);
    else session.destroy();
    stream.on('error', () => {});
    // The line is written when the server has seen the end of the stream.
    while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    t.match(lines, [{ status: 200, code: undefined }], leave);
  }
});

t.test('a stream that ends within a message ends with an error behind its answers', async (t) => {
  const { operations, lines, port, state } = await openGrpc(t);
  operations.onStep = async (request) => answerOf(request);
  const session = connect(`http://127.0.0.1:${port}`);
  t.teardown(() => session.destroy());
  const message = encodeMessage('StepRequest', { sessionId: ID, frame: 1, target: TARGET });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.byteLength, 1);
  const whole = Buffer.concat([head, message]);
  for (const method of ['StepStream', 'Resolve']) {
    for (const rest of [whole.subarray(0, 3), head, whole.subarray(0, -1)]) {
      const stream = session.request({
        ...{ ':method': 'POST', ':path': `/${SERVICE}/${method}`, 'content-type': 'application/grpc', te: 'trailers' },
      });
      const answers: Buffer[] = [];
      stream.on('data', (bytes: Buffer) => answers.push(bytes));
      const trailers = method === 'Resolve' ? once(stream, 'response') : once(stream, 'trailers');
      if (method === 'StepStream') stream.write(whole);
      stream.end(rest);
      const [given] = await trailers;
      t.equal(Number(given['grpc-status']), status.INVALID_ARGUMENT, `${method}, ${rest.byteLength} bytes`);
      t.equal(answers.length, method === 'StepStream' ? 1 : 0, 'answers before it');
      await state.idle();
      t.match(lines.pop(), { status: 400, code: 'MALFORMED_BODY' });
    }
  }
  t.equal(operations.sessionCalls.length, 3);
});

t.test('a call that is cancelled within a message counts as cancelled, not as malformed', async (t) => {
  const { operations, lines, port, state } = await openGrpc(t);
  operations.onStep = async (request) => answerOf(request);
  const session = connect(`http://127.0.0.1:${port}`);
  t.teardown(() => session.destroy());
  const message = encodeMessage('StepRequest', { sessionId: ID, frame: 1, target: TARGET });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.byteLength, 1);
  const whole = Buffer.concat([head, message]);
  for (const method of ['StepStream', 'Resolve']) {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': `/${SERVICE}/${method}`, 'content-type': 'application/grpc', te: 'trailers' },
    });
    stream.on('error', () => {});
    // The answer shows that the server has read so far.
    if (method === 'StepStream') {
      stream.write(whole);
      await once(stream, 'data');
    }
    stream.write(whole.subarray(0, -1));
    await new Promise<void>((resolve) => session.ping(() => resolve()));
    // Node sends the end of the stream before the reset.
    stream.close(constants.NGHTTP2_CANCEL);
    while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    t.match(lines.pop(), { status: 499, code: 'CANCELLED' }, method);
    await state.idle();
  }
});
