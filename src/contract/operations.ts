import type { CallContext, Preflight } from './call-context.js';
import type { DiagnoseRequest, Diagnosis } from './diagnosis.js';
import type {
  JobInfo,
  JobQuestion,
  JobResult,
  ListJobsAnswer,
  ListJobsRequest,
  SubmitJobRequest,
  WatchJobRequest,
} from './long-jobs.js';
import type { CheckAnswer, CheckRequest, ResolveAnswer, ResolveRequest } from './requests.js';
import type { ServerInfo } from './server-info.js';
import type {
  CreateSessionRequest,
  ListSessionsAnswer,
  ListSessionsRequest,
  SessionInfo,
  StepAnswer,
  StepRequest,
  UpdateSessionRequest,
} from './sessions.js';
import type { UntangleRequest } from './untangle.js';
import type { UntangledState } from './untangle-answer.js';

/** The operations that transports and the command line call. Methods throw only IntersticeError. */
export interface Operations {
  resolve(request: ResolveRequest, context?: CallContext): Promise<ResolveAnswer>;
  check(request: CheckRequest, context?: CallContext): Promise<CheckAnswer>;
  diagnose(request: DiagnoseRequest, context?: CallContext): Promise<Diagnosis>;
  untangle(request: UntangleRequest, context?: CallContext): Promise<UntangledState>;
  createSession(request: CreateSessionRequest, context?: CallContext): Promise<SessionInfo>;
  getSession(sessionId: string, context?: CallContext): Promise<SessionInfo>;
  listSessions(request: ListSessionsRequest, context?: CallContext): Promise<ListSessionsAnswer>;
  updateSession(request: UpdateSessionRequest, context?: CallContext): Promise<SessionInfo>;
  deleteSession(sessionId: string, context?: CallContext): Promise<void>;
  step(request: StepRequest, context?: CallContext): Promise<StepAnswer>;
  submitJob(request: SubmitJobRequest, context?: CallContext): Promise<JobInfo>;
  getJob(request: JobQuestion, context?: CallContext): Promise<JobInfo>;
  /** Calls `context.onJob` with the current job and at every change. @returns the job as it has ended */
  watchJob(request: WatchJobRequest, context?: CallContext): Promise<JobInfo>;
  listJobs(request: ListJobsRequest, context?: CallContext): Promise<ListJobsAnswer>;
  getJobResult(request: JobQuestion, context?: CallContext): Promise<JobResult>;
  deleteJob(jobId: string, context?: CallContext): Promise<void>;
  info(): ServerInfo;

  /**
   * Refuses a request before its body is transferred. Acceptance is not a promise: the complete request is admitted or
   * refused separately.
   *
   * @returns a function to call when the body is complete or the connection is lost; until then, or until a timeout of
   *   some seconds, the request counts as pending
   * @throws DRAINING, SESSION_NOT_FOUND, QUEUE_FULL, QUOTA_EXCEEDED
   */
  preflight(preflight: Preflight, context?: CallContext): () => void;
  /** Resolves when every job has failed, or its result was fetched. */
  whenJobsSettled(): Promise<void>;
  /** Resolves when the service can take requests; rejects with the reason if it never will. */
  ready(): Promise<void>;
  /**
   * Ends the work in progress soon: running resolves and steps return the safe states that they have reached; waiting
   * requests, those that may not return such a state, and new calls are refused with DRAINING.
   */
  wrapUp(): void;
  close(): Promise<void>;
}

/** The operations that a caller can invoke. Each has a row in the table in operation-table.ts. */
export type OperationName = Exclude<keyof Operations, 'preflight' | 'whenJobsSettled' | 'ready' | 'wrapUp' | 'close'>;

/** Request of an operation as plain data; undefined if it takes none. */
export type RequestOf<K extends OperationName> = Parameters<Operations[K]>[0];

/** Answer of an operation as plain data. */
export type AnswerOf<K extends OperationName> = Awaited<ReturnType<Operations[K]>>;

/** Calls the operation of that name, for code that handles all operations in the same way. */
export async function invoke<K extends OperationName>(
  operations: Operations,
  name: K,
  request: RequestOf<K>,
  context: CallContext,
): Promise<AnswerOf<K>> {
  const operation = operations[name] as unknown as (request: RequestOf<K>, context: CallContext) => unknown;
  return (await operation.call(operations, request, context)) as AnswerOf<K>;
}
