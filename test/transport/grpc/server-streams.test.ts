import type { Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { SERVICE } from '../../../src/transport/grpc/service.js';
import type { WireMessage } from '../../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { fakeJob, fakeReport } from '../fake-answers.js';
import { hangingResolve } from '../fake-operations.js';
import { START, TARGET } from '../fixtures.js';
import { asBuffer, detailsOf, openGrpc } from './door.js';

const FIRST = { steps: 1, residual: 0.75, unfinishedVertices: 3 };
const RESOLVE = {
  mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
  start: { data: Float32Array.from(START) },
  target: { data: Float32Array.from(TARGET) },
};

/** One call that answers with several messages. */
function open(client: Client, method: string, request: Uint8Array, response: string) {
  const call: ClientReadableStream<Buffer> = client.makeServerStreamRequest(
    `/${SERVICE}/${method}`,
    asBuffer,
    (bytes: Buffer) => bytes,
    request,
  );
  const messages: WireMessage[] = [];
  call.on('data', (bytes: Buffer) => messages.push(decodeMessage(response, bytes)));
  const ended = new Promise<ServiceError | undefined>((resolve) => {
    call.on('error', (error: ServiceError) => resolve(error));
    call.on('end', () => resolve(undefined));
  });
  return { call, messages, ended };
}

const resolveStream = (client: Client, more: object = {}) =>
  open(client, 'ResolveStream', encodeMessage('ResolveRequest', { ...RESOLVE, ...more }), 'ResolveStreamResponse');
const watchJob = (client: Client) =>
  open(client, 'WatchJob', encodeMessage('WatchJobRequest', { jobId: 'fedc' }), 'WatchJobResponse');

t.test('ResolveStream: progress, then the answer', async (t) => {
  const { client, operations, lines, state } = await openGrpc(t, { answerStallMs: 30 });
  operations.onResolve = async (request, { onProgress }) => {
    onProgress?.(FIRST);
    // Longer than an answer may take to leave: a stream may be silent between its messages.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { positions: request.target, report: fakeReport() };
  };
  const { messages, ended } = resolveStream(client, { include: { progress: true, contacts: true } });
  t.equal(await ended, undefined);
  t.match(messages, [{ progress: FIRST }, { response: { positions: { scalar: 1 }, report: { steps: 7 } } }]);
  t.match(operations.preflights, [{ preflight: { operation: 'resolve' } }], 'it is admitted as any resolve');
  await state.idle();
  t.match(lines.at(-1), { path: `/${SERVICE}/ResolveStream`, status: 200 });
});

t.test('a stream that is refused ends with the status, before and after its first message', async (t) => {
  const { client, operations } = await openGrpc(t);
  operations.failure = new IntersticeError('INVALID_MESH', 'Broken.');
  const early = resolveStream(client);
  t.match(detailsOf(await early.ended).error, { code: 'INVALID_MESH' });
  operations.failure = undefined;
  operations.onResolve = async (_request, { onProgress }) => {
    onProgress?.(FIRST);
    await new Promise((resolve) => setImmediate(resolve));
    throw new IntersticeError('DEADLINE_EXCEEDED', 'Late.');
  };
  const late = resolveStream(client);
  t.match(detailsOf(await late.ended).error, { code: 'DEADLINE_EXCEEDED' });
  t.match(late.messages, [{ progress: FIRST }]);
  const broken = open(client, 'ResolveStream', Uint8Array.of(0xff), 'ResolveStreamResponse');
  t.match(detailsOf(await broken.ended).error, { code: 'MALFORMED_BODY' });
});

t.test('a caller who leaves a stream cancels the resolve', async (t) => {
  const { client, operations, state } = await openGrpc(t);
  const { begun, aborted, resolve } = hangingResolve();
  operations.onResolve = resolve;
  const { call, ended } = resolveStream(client);
  await begun;
  t.equal(state.inFlight, 1, 'it counts as work in progress');
  call.cancel();
  await aborted;
  await ended;
});

t.test('WatchJob: the job as it is, at its changes, and at its end', async (t) => {
  const { client, operations } = await openGrpc(t);
  const { messages, ended } = watchJob(client);
  t.equal(await ended, undefined);
  t.match(messages, [{ job: { state: 2, progress: { steps: 7 } } }, { job: { state: 3 } }]);
  t.match(operations.sessionCalls, [{ call: 'watchJob', request: { jobId: 'fedc' } }]);
  operations.onWatch = async ({ onJob }) => {
    onJob?.({ ...fakeJob(), state: 'JOB_WAITING', ahead: 4 });
    await new Promise((resolve) => setImmediate(resolve));
    throw new IntersticeError('JOB_NOT_FOUND', 'There is no such job.');
  };
  const deleted = watchJob(client);
  t.match(detailsOf(await deleted.ended).error, { code: 'JOB_NOT_FOUND' });
  t.match(deleted.messages, [{ job: { state: 1, ahead: 4 } }]);
});
