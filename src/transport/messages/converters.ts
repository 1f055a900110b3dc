import type { AnswerOf, OperationName, RequestOf } from '../../contract/operations.js';
import { fromListSessionsAnswer, fromResolveAnswer, fromServerInfo, fromSession, fromStepAnswer } from './answers.js';
import { toSessionId } from './fields.js';
import {
  type RequestOrigin,
  toCheckRequest,
  toCreateSessionRequest,
  toListSessionsRequest,
  toResolveRequest,
  toStepRequest,
  toUpdateSessionRequest,
} from './requests.js';
import type { WireMessage } from './wire-message.js';

/** Converts between the messages of one operation and its plain data. */
export interface Converter<K extends OperationName> {
  /** @throws IntersticeError for a message that is no valid request */
  toRequest(message: WireMessage, origin?: RequestOrigin): RequestOf<K>;
  /** @returns the response message, ready to be encoded as JSON or protobuf */
  fromAnswer(answer: AnswerOf<K>): object;
}

const toId = (message: WireMessage, origin: RequestOrigin = {}) => toSessionId(message.sessionId, origin.sessionId);

/** The converter of each operation; the names of the messages are in the contract's operation table. */
export const CONVERTERS: { readonly [K in OperationName]: Converter<K> } = {
  resolve: { toRequest: toResolveRequest, fromAnswer: fromResolveAnswer },
  check: { toRequest: toCheckRequest, fromAnswer: (answer) => answer },
  createSession: { toRequest: toCreateSessionRequest, fromAnswer: fromSession },
  getSession: { toRequest: toId, fromAnswer: fromSession },
  listSessions: { toRequest: toListSessionsRequest, fromAnswer: fromListSessionsAnswer },
  updateSession: { toRequest: toUpdateSessionRequest, fromAnswer: fromSession },
  deleteSession: { toRequest: toId, fromAnswer: () => ({}) },
  step: { toRequest: toStepRequest, fromAnswer: fromStepAnswer },
  info: { toRequest: () => undefined, fromAnswer: fromServerInfo },
};
