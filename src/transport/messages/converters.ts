import type { AnswerOf, OperationName, RequestOf } from '../../contract/operations.js';
import { fromListSessionsAnswer, fromResolveAnswer, fromServerInfo, fromSession, fromStepAnswer } from './answers.js';
import { toJobId, toSessionId } from './fields.js';
import {
  fromJob,
  fromJobResult,
  fromListJobsAnswer,
  toJobQuestion,
  toListJobsRequest,
  toSubmitJobRequest,
  toWatchJobRequest,
} from './long-jobs.js';
import {
  type RequestOrigin,
  toCheckRequest,
  toCreateSessionRequest,
  toDiagnoseRequest,
  toListSessionsRequest,
  toResolveRequest,
  toStepRequest,
  toUpdateSessionRequest,
} from './requests.js';
import { fromUntangled, toUntangleRequest } from './untangle.js';
import type { WireMessage } from './wire-message.js';

/** Converts between the messages of one operation and its plain data. */
export interface Converter<K extends OperationName> {
  /** @throws IntersticeError for a message that is not a valid request */
  toRequest(message: WireMessage, origin?: RequestOrigin): RequestOf<K>;
  /** @returns the response message, ready to be encoded as JSON or protobuf */
  fromAnswer(answer: AnswerOf<K>): object;
}

const toId = (message: WireMessage, origin: RequestOrigin = {}) => toSessionId(message.sessionId, origin.sessionId);

/** The converter of each operation; the names of the messages are in the contract's operation table. */
export const CONVERTERS: { readonly [K in OperationName]: Converter<K> } = {
  resolve: { toRequest: toResolveRequest, fromAnswer: fromResolveAnswer },
  check: { toRequest: toCheckRequest, fromAnswer: (answer) => answer },
  diagnose: { toRequest: toDiagnoseRequest, fromAnswer: (answer) => answer },
  untangle: { toRequest: toUntangleRequest, fromAnswer: fromUntangled },
  createSession: { toRequest: toCreateSessionRequest, fromAnswer: fromSession },
  getSession: { toRequest: toId, fromAnswer: fromSession },
  listSessions: { toRequest: toListSessionsRequest, fromAnswer: fromListSessionsAnswer },
  updateSession: { toRequest: toUpdateSessionRequest, fromAnswer: fromSession },
  deleteSession: { toRequest: toId, fromAnswer: () => ({}) },
  step: { toRequest: toStepRequest, fromAnswer: fromStepAnswer },
  submitJob: { toRequest: toSubmitJobRequest, fromAnswer: fromJob },
  getJob: { toRequest: toJobQuestion, fromAnswer: fromJob },
  listJobs: { toRequest: toListJobsRequest, fromAnswer: fromListJobsAnswer },
  watchJob: { toRequest: toWatchJobRequest, fromAnswer: (job) => ({ job: fromJob(job) }) },
  getJobResult: { toRequest: toJobQuestion, fromAnswer: fromJobResult },
  deleteJob: {
    toRequest: (message, origin = {}) => toJobId(message.jobId, origin.jobId),
    fromAnswer: () => ({}),
  },
  info: { toRequest: () => undefined, fromAnswer: fromServerInfo },
};
