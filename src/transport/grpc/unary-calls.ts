import type { handleUnaryCall } from '@grpc/grpc-js';
import { OPERATIONS } from '../../contract/operation-table.js';
import { invoke, type OperationName, type Operations } from '../../contract/operations.js';
import { type Logger, logFault } from '../../observe/log.js';
import { answerBytes } from '../answer-bytes.js';
import { encodeStamped, hasReport } from '../answer-timing.js';
import { CONVERTERS } from '../messages/converters.js';
import { decodeMessage } from '../protobuf/decode.js';
import { encodeMessage } from '../protobuf/encode.js';
import { takeBackIfUndelivered } from '../undelivered.js';
import { type CallState, callStateOf } from './call-state.js';
import { UNARY_NAMES } from './service.js';
import { identify } from './status.js';

/** The handlers of all unary methods, by the names of the methods. */
export function unaryCalls(
  operations: Operations,
  log: Logger,
): Record<string, handleUnaryCall<Uint8Array, Uint8Array>> {
  return Object.fromEntries(
    UNARY_NAMES.map((name) => [
      OPERATIONS[name].grpcMethod,
      unaryCall((bytes, state) => answer(operations, name, bytes, state), log),
    ]),
  );
}

/** Converts the bytes of a request into those of its response. */
async function answer<K extends OperationName>(
  operations: Operations,
  name: K,
  bytes: Uint8Array,
  { context, meter, signal }: CallState,
): Promise<Uint8Array> {
  const { request, response } = OPERATIONS[name];
  const input = CONVERTERS[name].toRequest(decodeMessage(request, bytes, true));
  const answer = await invoke(operations, name, input, context);
  takeBackIfUndelivered(operations, name, input, answer, context);
  const message = CONVERTERS[name].fromAnswer(answer);
  await meter?.oldestAccount?.growToAnswer(answerBytes(message as object, 'binary'), signal);
  return hasReport(answer)
    ? encodeStamped(response, message as { report: object }, answer, context.receivedAt ?? performance.now())
    : encodeMessage(response, message);
}

type Handle = (bytes: Uint8Array, state: CallState) => Promise<Uint8Array>;

/** Responds exactly once, with an answer or an error. */
function unaryCall(handle: Handle, log: Logger): handleUnaryCall<Uint8Array, Uint8Array> {
  return async (call, respond) => {
    const state = callStateOf(call.metadata);
    try {
      const bytes = await handle(call.request, state);
      state.bytesOut += bytes.byteLength;
      call.sendMetadata(identify(state.requestId));
      respond(null, bytes);
    } catch (thrown) {
      logFault(log, state.requestId, thrown);
      // A caller that has disconnected has an outcome already.
      if (state.outcome === undefined) respond(state.refuse(thrown));
    }
  };
}
