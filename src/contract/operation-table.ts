import type { OperationName } from './operations.js';

/**
 * What happens when the head of a request has arrived and its body has not:
 * - `none`: nothing, because the request has no body worth refusing early.
 * - `check`: the operation's preflight may refuse the request.
 * - `count`: the same, and an accepted body counts as pending until it is complete.
 */
export type Admission = 'none' | 'check' | 'count';

export interface OperationRow {
  /** One line for the API reference. */
  readonly summary: string;
  /** Names of the protobuf messages. */
  readonly request: string;
  readonly response: string;
  /** Method of the gRPC service. */
  readonly grpcMethod: string;
  readonly httpMethod: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `:id` stands for the id of the session or job. */
  readonly httpPath: string;
  /** Status of a successful answer; 204 has no body. */
  readonly httpStatus: 200 | 201 | 202 | 204;
  readonly admission: Admission;
  /** Name of the span of a call; null if calls are neither traced nor measured. */
  readonly span: string | null;
  /** The form of the operation that answers with several messages; absent if it has none. */
  readonly stream?: AnswerStreamRow;
}

/** An answer of several messages: progress while it is computed, and the answer last. */
export interface AnswerStreamRow {
  /** Name of the protobuf message that the stream consists of. */
  readonly response: string;
  /** Method of the gRPC service; absent if it is StepStream. */
  readonly grpcMethod?: string;
}

const SESSIONS = '/v1/sessions';
const SESSION = '/v1/sessions/:id';
const JOBS = '/v1/jobs';
const JOB = '/v1/jobs/:id';

/**
 * One row for each operation. The transports, the API reference, tracing, metrics and the conformance tests are derived
 * from this table. A new operation needs its messages in the .proto, a method of {@link Operations}, a row here, an
 * implementation in src/session and a converter in src/transport/messages; the compiler reports whatever is missing.
 */
export const OPERATIONS = {
  resolve: {
    summary: 'Resolve one pair of start and target; no state is kept.',
    request: 'ResolveRequest',
    response: 'ResolveResponse',
    grpcMethod: 'Resolve',
    httpMethod: 'POST',
    httpPath: '/v1/resolve',
    httpStatus: 200,
    admission: 'count',
    span: 'interstice resolve',
    stream: { response: 'ResolveStreamResponse', grpcMethod: 'ResolveStream' },
  },
  check: {
    summary: 'Does this state, or this straight path, intersect?',
    request: 'CheckRequest',
    response: 'CheckResponse',
    grpcMethod: 'Check',
    httpMethod: 'POST',
    httpPath: '/v1/check',
    httpStatus: 200,
    admission: 'count',
    span: 'interstice check',
  },
  diagnose: {
    summary: 'What is wrong with this mesh? Also of one that is refused.',
    request: 'DiagnoseRequest',
    response: 'DiagnoseResponse',
    grpcMethod: 'Diagnose',
    httpMethod: 'POST',
    httpPath: '/v1/diagnose',
    httpStatus: 200,
    admission: 'count',
    span: 'interstice diagnose',
  },
  untangle: {
    summary: 'From a state that intersects to one that does not.',
    request: 'UntangleRequest',
    response: 'UntangleResponse',
    grpcMethod: 'Untangle',
    httpMethod: 'POST',
    httpPath: '/v1/untangle',
    httpStatus: 200,
    admission: 'count',
    span: 'interstice untangle',
    stream: { response: 'UntangleStreamResponse', grpcMethod: 'UntangleStream' },
  },
  createSession: {
    summary: 'Create a session: a mesh and its state at frame 0.',
    request: 'CreateSessionRequest',
    response: 'Session',
    grpcMethod: 'CreateSession',
    httpMethod: 'POST',
    httpPath: SESSIONS,
    httpStatus: 201,
    admission: 'count',
    span: 'interstice createSession',
  },
  getSession: {
    summary: 'Get one session, with its last report.',
    request: 'GetSessionRequest',
    response: 'Session',
    grpcMethod: 'GetSession',
    httpMethod: 'GET',
    httpPath: SESSION,
    httpStatus: 200,
    admission: 'none',
    span: 'interstice getSession',
  },
  listSessions: {
    summary: 'List your sessions, one page at a time.',
    request: 'ListSessionsRequest',
    response: 'ListSessionsResponse',
    grpcMethod: 'ListSessions',
    httpMethod: 'GET',
    httpPath: SESSIONS,
    httpStatus: 200,
    admission: 'none',
    span: 'interstice listSessions',
  },
  updateSession: {
    summary: 'Change the parameters, idle timeout or label; unset fields keep their values.',
    request: 'UpdateSessionRequest',
    response: 'Session',
    grpcMethod: 'UpdateSession',
    httpMethod: 'PATCH',
    httpPath: SESSION,
    httpStatus: 200,
    admission: 'check',
    span: 'interstice updateSession',
  },
  deleteSession: {
    summary: 'Delete a session; a second call answers SESSION_NOT_FOUND.',
    request: 'DeleteSessionRequest',
    response: 'DeleteSessionResponse',
    grpcMethod: 'DeleteSession',
    httpMethod: 'DELETE',
    httpPath: SESSION,
    httpStatus: 204,
    admission: 'none',
    span: 'interstice deleteSession',
  },
  step: {
    summary: 'Compute one step: move the mesh towards its next target.',
    request: 'StepRequest',
    response: 'StepResponse',
    grpcMethod: 'Step',
    httpMethod: 'POST',
    httpPath: `${SESSION}/steps`,
    httpStatus: 200,
    admission: 'count',
    span: 'interstice step',
    stream: { response: 'StepStreamResponse' },
  },
  submitJob: {
    summary: 'Submit a resolve, a step or an untangling as a job that no connection waits for.',
    request: 'SubmitJobRequest',
    response: 'Job',
    grpcMethod: 'SubmitJob',
    httpMethod: 'POST',
    httpPath: JOBS,
    httpStatus: 202,
    admission: 'count',
    span: 'interstice submitJob',
  },
  getJob: {
    summary: 'Get one job: its state and progress, at its end if you wait for it.',
    request: 'GetJobRequest',
    response: 'Job',
    grpcMethod: 'GetJob',
    httpMethod: 'GET',
    httpPath: JOB,
    httpStatus: 200,
    admission: 'none',
    span: 'interstice getJob',
  },
  watchJob: {
    summary: 'Follow one job: as it is now, at every change, and at its end.',
    request: 'WatchJobRequest',
    response: 'WatchJobResponse',
    grpcMethod: 'WatchJob',
    httpMethod: 'GET',
    httpPath: `${JOB}/watch`,
    httpStatus: 200,
    admission: 'none',
    span: 'interstice watchJob',
    stream: { response: 'WatchJobResponse', grpcMethod: 'WatchJob' },
  },
  listJobs: {
    summary: 'List your jobs, one page at a time.',
    request: 'ListJobsRequest',
    response: 'ListJobsResponse',
    grpcMethod: 'ListJobs',
    httpMethod: 'GET',
    httpPath: JOBS,
    httpStatus: 200,
    admission: 'none',
    span: 'interstice listJobs',
  },
  getJobResult: {
    summary: 'Get the answer of a job, or the error that it ended with.',
    request: 'GetJobResultRequest',
    response: 'ResolveResponse',
    grpcMethod: 'GetJobResult',
    httpMethod: 'GET',
    httpPath: `${JOB}/result`,
    httpStatus: 200,
    admission: 'none',
    span: 'interstice getJobResult',
  },
  deleteJob: {
    summary: 'Stop a job, if it has not ended, and forget it; a second call answers JOB_NOT_FOUND.',
    request: 'DeleteJobRequest',
    response: 'DeleteJobResponse',
    grpcMethod: 'DeleteJob',
    httpMethod: 'DELETE',
    httpPath: JOB,
    httpStatus: 204,
    admission: 'none',
    span: 'interstice deleteJob',
  },
  info: {
    summary: 'Describe this server: version, engines, limits, defaults and features.',
    request: 'GetServerInfoRequest',
    response: 'ServerInfo',
    grpcMethod: 'GetServerInfo',
    httpMethod: 'GET',
    httpPath: '/v1',
    httpStatus: 200,
    admission: 'none',
    span: null,
  },
} as const satisfies Record<OperationName, OperationRow>;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

/** The operations that are traced and counted. */
export type MeasuredOperation = {
  [K in OperationName]: (typeof OPERATIONS)[K]['span'] extends null ? never : K;
}[OperationName];

/** The operations that can be refused before their body arrives. */
export type PreflightOperation = {
  [K in OperationName]: (typeof OPERATIONS)[K]['admission'] extends 'none' ? never : K;
}[OperationName];

/** Whether the operation is about existing jobs. */
export const isAboutJobs = (name: OperationName): boolean =>
  name !== 'submitJob' && OPERATIONS[name].httpPath.startsWith(JOBS);

export const isMeasured = (name: OperationName): name is MeasuredOperation => OPERATIONS[name].span !== null;

export const hasPreflight = (name: OperationName): name is PreflightOperation => OPERATIONS[name].admission !== 'none';
