import type { CallContext, Preflight } from '../../src/contract/call-context.js';
import type { DiagnoseRequest, Diagnosis } from '../../src/contract/diagnosis.js';
import { IntersticeError } from '../../src/contract/errors.js';
import type {
  JobInfo,
  JobQuestion,
  JobResult,
  ListJobsAnswer,
  ListJobsRequest,
  SubmitJobRequest,
  WatchJobRequest,
} from '../../src/contract/long-jobs.js';
import type { Operations } from '../../src/contract/operations.js';
import type { CheckAnswer, CheckRequest, ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import type { ServerInfo } from '../../src/contract/server-info.js';
import type {
  CreateSessionRequest,
  ListSessionsAnswer,
  ListSessionsRequest,
  SessionInfo,
  StepAnswer,
  StepRequest,
  UpdateSessionRequest,
} from '../../src/contract/sessions.js';
import type { UntangleRequest } from '../../src/contract/untangle.js';
import type { UntangledState } from '../../src/contract/untangle-answer.js';
import {
  fakeCheckAnswer,
  fakeDiagnosis,
  fakeInfo,
  fakeJob,
  fakeReport,
  fakeSession,
  fakeUntangled,
} from './fake-answers.js';

/** Operations that compute nothing: a resolve answers with its target, and every call is recorded. */
export class FakeOperations implements Operations {
  readonly resolves: { request: ResolveRequest; context: CallContext }[] = [];
  readonly checks: { request: CheckRequest; context: CallContext }[] = [];
  readonly diagnoses: { request: DiagnoseRequest; context: CallContext }[] = [];
  closed = 0;
  /** refusal that every call ends with */
  failure: unknown;
  /** takes the place of the answer of a resolve */
  onResolve: ((request: ResolveRequest, context: CallContext) => Promise<ResolveAnswer>) | undefined;
  readiness: Promise<void> = Promise.resolve();
  onWrapUp: (() => void) | undefined;

  /** every call of {@link preflight} */
  readonly preflights: { preflight: Preflight; context: CallContext }[] = [];
  /** refusal that every preflight ends with */
  shut: unknown;

  /** how many that were let through have not come yet */
  expected = 0;

  preflight(preflight: Preflight, context: CallContext = {}): () => void {
    this.preflights.push({ preflight, context });
    if (this.shut !== undefined) throw this.shut;
    this.expected++;
    let isOut = false;
    return () => {
      if (!isOut) this.expected--;
      isOut = true;
    };
  }

  async resolve(request: ResolveRequest, context: CallContext = {}): Promise<ResolveAnswer> {
    this.resolves.push({ request, context });
    if (this.failure !== undefined) throw this.failure;
    if (this.onResolve) return this.onResolve(request, context);
    return { positions: request.target, report: fakeReport() };
  }

  async check(request: CheckRequest, context: CallContext = {}): Promise<CheckAnswer> {
    this.checks.push({ request, context });
    if (this.failure !== undefined) throw this.failure;
    return fakeCheckAnswer();
  }

  async diagnose(request: DiagnoseRequest, context: CallContext = {}): Promise<Diagnosis> {
    this.diagnoses.push({ request, context });
    if (this.failure !== undefined) throw this.failure;
    return fakeDiagnosis();
  }

  readonly untanglings: { request: UntangleRequest; context: CallContext }[] = [];

  async untangle(request: UntangleRequest, context: CallContext = {}): Promise<UntangledState> {
    this.untanglings.push({ request, context });
    if (this.failure !== undefined) throw this.failure;
    context.onUntangleProgress?.({ phase: 'UNTANGLING', iteration: 1, pierces: 5, contours: 1, regionVertices: 3 });
    return fakeUntangled(request.positions);
  }

  /** every call about a session, by its name */
  readonly sessionCalls: { call: string; request: unknown; context: CallContext }[] = [];
  /** takes the place of the answer of a step */
  onStep: ((request: StepRequest, context: CallContext) => Promise<StepAnswer>) | undefined;

  private async session<T>(call: string, request: unknown, context: CallContext, answer: T): Promise<T> {
    this.sessionCalls.push({ call, request, context });
    if (this.failure !== undefined) throw this.failure;
    return answer;
  }

  /** what the creation of a session waits for before it answers */
  onCreate: ((context: CallContext) => Promise<void>) | undefined;

  async createSession(request: CreateSessionRequest, context: CallContext = {}): Promise<SessionInfo> {
    const answer = await this.session('create', request, context, fakeSession());
    await this.onCreate?.(context);
    return answer;
  }

  getSession(id: string, context: CallContext = {}): Promise<SessionInfo> {
    return this.session('get', id, context, { ...fakeSession(), lastReport: fakeReport() });
  }

  listSessions(request: ListSessionsRequest, context: CallContext = {}): Promise<ListSessionsAnswer> {
    return this.session('list', request, context, { sessions: [fakeSession()], nextPageToken: 'more' });
  }

  updateSession(request: UpdateSessionRequest, context: CallContext = {}): Promise<SessionInfo> {
    return this.session('update', request, context, fakeSession());
  }

  deleteSession(id: string, context: CallContext = {}): Promise<void> {
    return this.session('delete', id, context, undefined);
  }

  async step(request: StepRequest, context: CallContext = {}): Promise<StepAnswer> {
    this.sessionCalls.push({ call: 'step', request, context });
    if (this.failure !== undefined) throw this.failure;
    if (this.onStep) return this.onStep(request, context);
    const positions = request.target ?? new Float32Array(18);
    return { frame: request.frame ?? 1n, positions, report: fakeReport(), isReplay: false };
  }

  submitJob(request: SubmitJobRequest, context: CallContext = {}): Promise<JobInfo> {
    return this.session('submitJob', request, context, fakeJob());
  }

  getJob(request: JobQuestion, context: CallContext = {}): Promise<JobInfo> {
    return this.session('getJob', request, context, fakeJob());
  }

  /** takes the place of the end of a watched job */
  onWatch: ((context: CallContext) => Promise<JobInfo>) | undefined;

  async watchJob(request: WatchJobRequest, context: CallContext = {}): Promise<JobInfo> {
    const ended = await this.session('watchJob', request, context, { ...fakeJob(), state: 'JOB_DONE' as const });
    if (this.onWatch) return this.onWatch(context);
    context.onJob?.(fakeJob());
    return ended;
  }

  jobsSettled: Promise<void> = Promise.resolve();

  whenJobsSettled(): Promise<void> {
    return this.jobsSettled;
  }

  listJobs(request: ListJobsRequest, context: CallContext = {}): Promise<ListJobsAnswer> {
    return this.session('listJobs', request, context, { jobs: [fakeJob()], nextPageToken: 'more', ofOneProcess: true });
  }

  getJobResult(request: JobQuestion, context: CallContext = {}): Promise<JobResult> {
    const positions = new Float32Array(18);
    return this.session('getJobResult', request, context, { positions, report: fakeReport(), isReplay: true as const });
  }

  deleteJob(id: string, context: CallContext = {}): Promise<void> {
    return this.session('deleteJob', id, context, undefined);
  }

  info(): ServerInfo {
    return fakeInfo();
  }

  ready(): Promise<void> {
    return this.readiness;
  }

  wrapUp(): void {
    this.onWrapUp?.();
  }

  async close(): Promise<void> {
    this.closed++;
  }
}

/** A resolve that ends only when its signal is aborted; tells when it has begun and when it was aborted. */
export function hangingResolve() {
  let tellBegun: () => void = () => {};
  let tellAborted: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    tellBegun = resolve;
  });
  const aborted = new Promise<void>((resolve) => {
    tellAborted = resolve;
  });
  const resolve = (_request: ResolveRequest, context: CallContext): Promise<ResolveAnswer> =>
    new Promise((_resolve, reject) => {
      context.signal?.addEventListener('abort', () => {
        tellAborted();
        reject(new IntersticeError('CANCELLED', 'The caller went away.'));
      });
      tellBegun();
    });
  return { begun, aborted, resolve };
}
