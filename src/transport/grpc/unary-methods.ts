import type { CallContext } from '../../contract/call-context.js';
import type { Operations } from '../../contract/operations.js';
import {
  fromCheckAnswer,
  fromListSessionsAnswer,
  fromResolveAnswer,
  fromServerInfo,
  fromSession,
  fromStepAnswer,
} from '../answers.js';
import {
  toCheckRequest,
  toCreateSessionRequest,
  toListSessionsRequest,
  toResolveRequest,
  toSessionId,
  toStepRequest,
  toUpdateSessionRequest,
} from '../messages.js';
import { decodeMessage, encodeMessage } from '../protobuf/codec.js';
import { encodeStamped } from './reported.js';
import type { UnaryName } from './service.js';

/** From the bytes of a request to those of its answer. */
export type UnaryWork = (bytes: Uint8Array, context: CallContext) => Promise<Uint8Array>;

/** What each unary method does with the operations. */
export function unaryMethods(operations: Operations): Readonly<Record<UnaryName, UnaryWork>> {
  const receivedAt = (context: CallContext): number => context.receivedAt ?? performance.now();
  return {
    Resolve: async (bytes, context) => {
      const answer = await operations.resolve(toResolveRequest(decodeMessage('ResolveRequest', bytes)), context);
      return encodeStamped('ResolveResponse', fromResolveAnswer(answer), answer, receivedAt(context));
    },
    Step: async (bytes, context) => {
      const answer = await operations.step(toStepRequest(decodeMessage('StepRequest', bytes, true)), context);
      return encodeStamped('StepResponse', fromStepAnswer(answer), answer, receivedAt(context));
    },
    Check: async (bytes, context) => {
      const answer = await operations.check(toCheckRequest(decodeMessage('CheckRequest', bytes)), context);
      return encodeMessage('CheckResponse', fromCheckAnswer(answer));
    },
    CreateSession: async (bytes, context) => {
      const request = toCreateSessionRequest(decodeMessage('CreateSessionRequest', bytes));
      return encodeMessage('Session', fromSession(await operations.createSession(request, context)));
    },
    GetSession: async (bytes, context) => {
      const id = toSessionId(decodeMessage('GetSessionRequest', bytes).sessionId);
      return encodeMessage('Session', fromSession(await operations.getSession(id, context)));
    },
    ListSessions: async (bytes, context) => {
      const request = toListSessionsRequest(decodeMessage('ListSessionsRequest', bytes));
      const answer = await operations.listSessions(request, context);
      return encodeMessage('ListSessionsResponse', fromListSessionsAnswer(answer));
    },
    UpdateSession: async (bytes, context) => {
      const request = toUpdateSessionRequest(decodeMessage('UpdateSessionRequest', bytes));
      return encodeMessage('Session', fromSession(await operations.updateSession(request, context)));
    },
    DeleteSession: async (bytes, context) => {
      await operations.deleteSession(toSessionId(decodeMessage('DeleteSessionRequest', bytes).sessionId), context);
      return encodeMessage('DeleteSessionResponse', {});
    },
    GetServerInfo: async (bytes) => {
      decodeMessage('GetServerInfoRequest', bytes);
      return encodeMessage('ServerInfo', fromServerInfo(operations.info()));
    },
  };
}
