import { IntersticeError } from '../../contract/errors.js';
import type { Positions } from '../../contract/mesh.js';
import type { ResolveAnswer } from '../../contract/requests.js';
import type { ServerInfo } from '../../contract/server-info.js';
import type { ListSessionsAnswer, SessionInfo, StepAnswer } from '../../contract/sessions.js';
import { fromUntangled } from './untangle.js';
import { secondsToDuration, type WireTime } from './wire-message.js';

/** Converts answers of the operations into messages of the contract, ready to be encoded as JSON or protobuf. */

export function fromResolveAnswer(answer: ResolveAnswer) {
  const { path } = answer;
  return {
    positions: fromPositions(answer.positions),
    report: answer.report,
    ...(answer.contacts ? { contacts: answer.contacts } : {}),
    ...(answer.vertices ? { vertices: answer.vertices } : {}),
    ...(path ? { path: { ...path, positions: fromPositions(path.positions) } } : {}),
    ...(answer.reasons ? { reasons: answer.reasons } : {}),
  };
}

const fromPositions = (data: Positions) => ({
  data,
  scalar: data instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
});

export function fromServerInfo(info: ServerInfo): object {
  const { maxTimeBudgetSeconds, defaultTimeBudgetSeconds: seconds, ...others } = info.limits;
  const limits = {
    ...others,
    maxTimeBudget: secondsToDuration(maxTimeBudgetSeconds),
    ...(seconds === undefined ? {} : { defaultTimeBudget: secondsToDuration(seconds) }),
  };
  return { ...info, limits };
}

export function fromStepAnswer(answer: StepAnswer) {
  return { frame: answer.frame, ...fromResolveAnswer(answer) };
}

export function fromSession(session: SessionInfo): object {
  const { created, lastUsed, idleTimeoutSeconds, untangle, ...same } = session;
  return {
    ...same,
    ...(untangle ? { untangle: fromUntangled(untangle) } : {}),
    created: millisecondsToTimestamp(created),
    lastUsed: millisecondsToTimestamp(lastUsed),
    idleTimeout: secondsToDuration(idleTimeoutSeconds),
  };
}

export function fromListSessionsAnswer(answer: ListSessionsAnswer): object {
  return { ...answer, sessions: answer.sessions.map(fromSession) };
}

/** @param milliseconds since 1970 */
export function millisecondsToTimestamp(milliseconds: number): WireTime {
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanos: Math.floor((milliseconds - seconds * 1000) * 1e6) };
}

/** The contract's `Error` message. */
export function fromError(thrown: unknown, requestId: string) {
  const error = IntersticeError.from(thrown);
  // The message of an unexpected exception may contain anything. The log has it under the request id.
  const isUnexpected = error.code === 'INTERNAL' && error.cause !== undefined;
  return {
    code: error.code,
    message: isUnexpected ? 'The service failed to answer this request.' : error.message,
    hint: error.hint,
    retryable: error.retryable,
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfter: secondsToDuration(error.retryAfterSeconds) }),
    requestId,
    ...(error.element ? { element: error.element } : {}),
    pairs: error.pairs,
    pairCount: error.pairCount,
    ...(error.frame === undefined ? {} : { frame: error.frame }),
  };
}
