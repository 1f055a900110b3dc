import type { handleServerStreamingCall } from '@grpc/grpc-js';
import type { CallContext } from '../../contract/call-context.js';
import { OPERATIONS } from '../../contract/operation-table.js';
import type { Operations } from '../../contract/operations.js';
import { logFault } from '../../observe/log.js';
import { answerBytes } from '../answer-bytes.js';
import { encodeStamped } from '../answer-timing.js';
import { ANSWER_STALL_MS } from '../intake/arrival.js';
import { fromResolveAnswer } from '../messages/answers.js';
import { CONVERTERS } from '../messages/converters.js';
import { fromJob } from '../messages/long-jobs.js';
import { messageShape } from '../messages/schema.js';
import { fromUntangled } from '../messages/untangle.js';
import { decodeMessage } from '../protobuf/decode.js';
import { encodeMessage } from '../protobuf/encode.js';
import { type CallState, callStateOf } from './call-state.js';
import type { GrpcOptions } from './options.js';
import { identify } from './status.js';
import { StreamWriter } from './stream-writer.js';

type Handler = handleServerStreamingCall<Uint8Array, Uint8Array>;

/** The handlers of the methods that answer one request with several messages, by the names of the methods. */
export function serverStreams(options: GrpcOptions): Readonly<Record<string, Handler>> {
  const { operations } = options;
  return {
    [OPERATIONS.resolve.stream.grpcMethod]: serverStream(options, (bytes, state, tell) =>
      resolveStream(operations, bytes, state, tell),
    ),
    [OPERATIONS.untangle.stream.grpcMethod]: serverStream(options, (bytes, state, tell) =>
      untangleStream(operations, bytes, state, tell),
    ),
    [OPERATIONS.watchJob.stream.grpcMethod]: serverStream(options, (bytes, state, tell) =>
      watchJob(operations, bytes, state, tell),
    ),
  };
}

/** Sends an intermediate message, unless the caller reads more slowly than messages are sent. */
type Tell = (bytes: Uint8Array) => void;

async function resolveStream(
  operations: Operations,
  bytes: Uint8Array,
  { context, meter, signal }: CallState,
  tell: Tell,
): Promise<Uint8Array> {
  const type = OPERATIONS.resolve.stream.response;
  const onProgress: CallContext['onProgress'] = ({ steps, residual, unfinishedVertices }) =>
    tell(encodeMessage(type, { progress: { steps, residual, unfinishedVertices } }));
  const input = CONVERTERS.resolve.toRequest(decodeMessage('ResolveRequest', bytes, true), { takesProgress: true });
  const answer = await operations.resolve(input, { ...context, onProgress });
  const message = fromResolveAnswer(answer);
  await meter?.oldestAccount?.growToAnswer(answerBytes(message, 'binary'), signal);
  const fieldNumber = messageShape(type).byName.get('response')!.number;
  const enclosure = { before: new Uint8Array(0), fieldNumber };
  return encodeStamped('ResolveResponse', message, answer, context.receivedAt ?? performance.now(), enclosure);
}

async function untangleStream(
  operations: Operations,
  bytes: Uint8Array,
  { context, meter, signal }: CallState,
  tell: Tell,
): Promise<Uint8Array> {
  const type = OPERATIONS.untangle.stream.response;
  const onUntangleProgress: CallContext['onUntangleProgress'] = (progress) => tell(encodeMessage(type, { progress }));
  const input = CONVERTERS.untangle.toRequest(decodeMessage('UntangleRequest', bytes, true));
  const response = fromUntangled(await operations.untangle(input, { ...context, onUntangleProgress }));
  await meter?.oldestAccount?.growToAnswer(answerBytes(response, 'binary'), signal);
  return encodeMessage(type, { response });
}

async function watchJob(
  operations: Operations,
  bytes: Uint8Array,
  { context }: CallState,
  tell: Tell,
): Promise<Uint8Array> {
  const { request, response } = OPERATIONS.watchJob;
  const input = CONVERTERS.watchJob.toRequest(decodeMessage(request, bytes, true));
  const onJob: CallContext['onJob'] = (job) => tell(encodeMessage(response, { job: fromJob(job) }));
  return encodeMessage(
    response,
    CONVERTERS.watchJob.fromAnswer(await operations.watchJob(input, { ...context, onJob })),
  );
}

/** @param work @returns the last message */
function serverStream(
  { log, answerStallMs = ANSWER_STALL_MS }: GrpcOptions,
  work: (bytes: Uint8Array, state: CallState, tell: Tell) => Promise<Uint8Array>,
): Handler {
  return async (call) => {
    const state = callStateOf(call.metadata);
    const writer = new StreamWriter(call, state, answerStallMs);
    let isIdentified = false;
    const identifyOnce = () => {
      if (!isIdentified) call.sendMetadata(identify(state.requestId));
      isIdentified = true;
    };
    try {
      const last = await work(call.request, state, (bytes) => {
        identifyOnce();
        writer.writeIfIdle(bytes);
      });
      identifyOnce();
      await writer.write(last);
      call.end();
    } catch (thrown) {
      logFault(log, state.requestId, thrown);
      // A caller that has disconnected has an outcome already.
      if (state.outcome === undefined) call.emit('error', state.refuse(thrown));
    }
  };
}
