import type { CallContext, Preflight } from '../contract/call-context.js';
import type { DiagnoseRequest, Diagnosis } from '../contract/diagnosis.js';
import { draining, IntersticeError } from '../contract/errors.js';
import type { MeasuredOperations, OperationObserver, OperationStats } from '../contract/events.js';
import {
  DEFAULT_JOB_KEEP_SECONDS,
  type JobInfo,
  type JobQuestion,
  type JobResult,
  type ListJobsAnswer,
  type ListJobsRequest,
  type SubmitJobRequest,
  type WatchJobRequest,
} from '../contract/long-jobs.js';
import type { MeasuredOperation } from '../contract/operation-table.js';
import type { AnswerOf } from '../contract/operations.js';
import type { Report } from '../contract/report.js';
import type { CheckAnswer, CheckRequest, ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import type { EngineDescription, Limits, ServerInfo } from '../contract/server-info.js';
import {
  type CreateSessionRequest,
  DEFAULT_IDLE_TIMEOUT_SECONDS,
  type ListSessionsAnswer,
  type ListSessionsRequest,
  type SessionInfo,
  type StepAnswer,
  type StepRequest,
  type UpdateSessionRequest,
} from '../contract/sessions.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { monotonicMs } from '../jobs/clock.js';
import { type EngineOptions, type EngineSource, engineSourceOf, prepareProcess } from '../jobs/engines.js';
import { Scheduler } from '../lanes/scheduler.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import { pairLimit } from '../solver/pair-budget.js';
import { defaultsOf } from '../solver/parameters.js';
import type { SessionStore } from '../store/session-store.js';
import { admitCheck, admitDiagnosis } from './admission.js';
import { type Call, realClock, type SessionClock, startCall } from './call.js';
import { check, diagnose } from './check.js';
import { FindingsRecorder } from './findings.js';
import { SessionKeeper, type StoreFailure } from './keeper.js';
import { LongJobs } from './long-jobs.js';
import { type Log, Observation } from './observation.js';
import { QueuedSteps } from './pending-work.js';
import { checkProbe, explainProbe, probeRequest, type ResolveServices, resolve, withProbe } from './resolve.js';
import { Sessions } from './sessions.js';
import { untangle } from './untangle.js';

export interface OperationsOptions {
  /** `auto` takes the best engine that is available; `info().engines` says which one it fell back to, and why */
  readonly engine: 'auto' | 'cpu' | 'webgpu';
  /** which GPU */
  readonly adapter?: string | undefined;
  /** folder in which drivers keep compiled kernels; default: that of the user, or a temporary one */
  readonly shaderCache?: string | undefined;
  /** largest number of worker threads for ordinary work; default: one per core, or one if scenes submit together */
  readonly threads?: number | undefined;
  /** most threads that compute at the same time; a large request borrows idle ones. Default: one per core */
  readonly cores?: number | undefined;
  readonly limits: Limits;
  /** default: the limit of the server */
  readonly maxSessionsPerTenant?: number | undefined;
  /** bytes of host memory that all sessions may take; default 0 = no limit */
  readonly maxSessionBytes?: number | undefined;
  /** bytes of the scenes of sessions on an engine that keeps them in host memory, in place of `limits.maxDeviceBytes`; default 0 = that one */
  readonly maxSceneBytes?: number | undefined;
  /** jobs that wait, run or are kept; default {@link DEFAULT_MAX_JOBS} */
  readonly maxJobs?: number | undefined;
  /** default: the limit of the server */
  readonly maxJobsPerTenant?: number | undefined;
  /** bytes of host memory that all jobs may take; default 0 = no limit */
  readonly maxJobBytes?: number | undefined;
  /** seconds that a job is kept after its end, unless it asks for another time; default {@link DEFAULT_JOB_KEEP_SECONDS} */
  readonly jobKeepSeconds?: number | undefined;
  /** scenes that a thread of the engine webgpu computes together, and ms that one waits for the others; default: every scene alone */
  readonly convoy?: EngineOptions['convoy'];
  /** bytes that the pairs of one request may take; default 0 = as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
  /** bytes that all requests together may take to compute, on the host; default 0 = no limit */
  readonly maxWorkBytes?: number | undefined;
  /** bytes of the arrays of waiting requests; default 0 = no limit */
  readonly maxQueueBytes?: number | undefined;
  /** seconds, of sessions that request no timeout; 0 = until deleted; default {@link DEFAULT_IDLE_TIMEOUT_SECONDS} */
  readonly idleTimeoutSeconds?: number | undefined;
  /** whether requests may ask for verify NONE */
  readonly allowUnverified: boolean;
  /** takes an event as pino does; findings carry `level: 'error'` */
  readonly log?: Log | undefined;
  /** called for every call, session change and finding: for metrics */
  readonly onEvent?: OperationObserver | undefined;
  /** where reproductions of findings are written; default: a folder for temporary files */
  readonly findingsFolder?: string | undefined;
  /** if set, every resolve and step also writes its states there, each into a folder of its own; slow, for finding faults */
  readonly traceFolder?: string | undefined;
  /** converts the report for trace.json; default: the plain report */
  readonly encodeReport?: ((report: Report) => unknown) | undefined;
  /** what `info()` lists besides the operations: the features of the transports */
  readonly features?: readonly string[] | undefined;
  /** replaces the engine that `engine` names: for tests, and for other engines */
  readonly engineSource?: EngineSource | undefined;
  /** where sessions are kept besides this process; default: nowhere */
  readonly store?: { readonly sessions: SessionStore; readonly onFailure: StoreFailure } | undefined;
  /** default: the clock of this process */
  readonly clock?: SessionClock | undefined;
}

/**
 * Opens the engine on a first worker thread and returns the operations that use it.
 *
 * @throws INVALID_PARAMETER for an adapter that does not exist or that the engine cannot use, and for a folder of compiled
 *   kernels that cannot be written; INTERNAL when no worker can be started
 */
export async function createOperations(options: OperationsOptions): Promise<MeasuredOperations> {
  const { limits, log, engine: choice, adapter, shaderCache, maxPairBytes, maxWorkBytes } = options;
  const { maxDeviceBytes } = limits;
  if (!options.engineSource) await prepareProcess({ engine: choice, adapter, shaderCache });
  const operations: { current?: ScheduledOperations } = {};
  const scheduler = new Scheduler({
    engine:
      options.engineSource ??
      engineSourceOf({ engine: choice, adapter, maxDeviceBytes, maxPairBytes, convoy: options.convoy }),
    // Requests of callers are admitted before, under the limits as they are set.
    limits: withProbe(limits),
    allowUnverified: options.allowUnverified,
    threads: options.threads,
    cores: options.cores,
    maxWorkBytes,
    maxDeviceBytes,
    maxQueue: limits.maxQueue,
    maxQueueBytes: options.maxQueueBytes,
    onWorkerLost: (reason) => {
      log?.({ level: 'error', event: 'worker-lost', err: reason }, reason.message);
      operations.current?.reportWorkerLost();
    },
    onDeviceLost: (reason) => {
      log?.({ level: 'error', event: 'device-lost' }, reason);
      operations.current?.reportDeviceLost();
    },
  });
  let engine: EngineDescription;
  try {
    engine = await scheduler.hello();
  } catch (thrown) {
    await scheduler.close();
    throw thrown;
  }
  // The memory of such an engine is that of the host, of which no session may take the rest.
  const maxSceneBytes = engine.software ? options.maxSceneBytes : undefined;
  const heldLimits = maxSceneBytes ? { ...limits, maxDeviceBytes: maxSceneBytes } : limits;
  operations.current = new ScheduledOperations(scheduler, { ...options, limits: heldLimits }, engine);
  return operations.current;
}

const DEFAULT_MAX_JOBS = 64;

const FEATURES = [
  ...['resolve', 'check', 'sessions', 'part-targets', 'mesh-updates', 'idempotency-keys', 'parking'],
  ...['diagnose', 'ignore-pairs', 'part-distances', 'jobs'],
  ...['step-jobs', 'watch-jobs', 'after-frame', 'rest-lengths', 'untangle'],
];

const OF_SESSIONS = new Set(['sessions', 'part-targets', 'mesh-updates', 'parking', 'step-jobs', 'after-frame']);
const OF_JOBS = new Set(['jobs', 'step-jobs', 'watch-jobs']);

/** The operations of the service: each call is admitted, done by the scheduler or the sessions, and reported to the observer. */
export class ScheduledOperations implements MeasuredOperations {
  private readonly clock: SessionClock;
  private readonly observation: Observation;
  private readonly findings: FindingsRecorder;
  private readonly queuedSteps: QueuedSteps;
  private readonly sessions: Sessions;
  private readonly keeper: SessionKeeper | undefined;
  private readonly resolveServices: ResolveServices;
  private readonly longJobs: LongJobs;
  private probe: Promise<void> | undefined;
  private isClosed = false;
  /** of the calls that run */
  private readonly refusals = new Set<(reason: IntersticeError) => void>();

  constructor(
    /** public members only, so that tests can pass a fake */
    private readonly scheduler: Omit<Scheduler, 'hello' | 'sceneCount'>,
    private readonly options: Omit<OperationsOptions, 'engine' | 'threads'>,
    private readonly engine: EngineDescription,
  ) {
    const { limits, log, onEvent, allowUnverified, traceFolder, encodeReport } = options;
    const clock = options.clock ?? realClock(monotonicMs);
    this.clock = clock;
    this.observation = new Observation(onEvent, log);
    this.findings = new FindingsRecorder(this.observation, log, options.findingsFolder);
    this.queuedSteps = new QueuedSteps(scheduler, limits.maxQueue, options.maxQueueBytes);
    const onTraceFailure = (err: unknown) =>
      log?.({ level: 'error', event: 'trace', err }, 'A trace could not be written.');
    this.resolveServices = {
      scheduler,
      clock,
      limits,
      onFinding: (finding) => this.findings.record(finding),
      trace: traceFolder === undefined ? undefined : { folder: traceFolder, encodeReport, onFailure: onTraceFailure },
    };
    const quotas = {
      maxSessions: limits.maxSessions,
      maxSessionsPerTenant: options.maxSessionsPerTenant ?? limits.maxSessions,
      maxSessionBytes: options.maxSessionBytes ?? 0,
    };
    const { store } = options;
    const by = `${algorithmVersion} ${engine.name} ${engine.adapter}`;
    this.keeper =
      store &&
      new SessionKeeper({ store: store.sessions, onFailure: store.onFailure, quotas, by, scheduler, clock, log });
    this.sessions = new Sessions({
      ...this.resolveServices,
      scheduler,
      queuedSteps: this.queuedSteps,
      keeper: this.keeper,
      quotas,
      allowUnverified,
      engine,
      idleTimeoutSeconds: options.idleTimeoutSeconds ?? DEFAULT_IDLE_TIMEOUT_SECONDS,
      onChange: (tenant, change) => this.observation.emit({ type: 'session', change, tenant }),
      onBackgroundFailure: (what, err) => {
        if (!this.isClosed) log?.({ level: 'error', event: 'background', err }, `Could not ${what}.`);
      },
    });
    const { maxJobs = DEFAULT_MAX_JOBS } = options;
    this.longJobs = new LongJobs({
      clock,
      limits,
      quotas: {
        maxJobs,
        maxJobsPerTenant: options.maxJobsPerTenant ?? maxJobs,
        maxJobBytes: options.maxJobBytes ?? 0,
        keepSeconds: options.jobKeepSeconds ?? DEFAULT_JOB_KEEP_SECONDS,
      },
      // Without a store, processes of one service would not know each other's sessions.
      hasOtherProcesses: store !== undefined,
      resolve: (request, context) => this.resolve(request, context),
      step: (request, context) => this.step(request, context),
      untangle: (request, context) => this.untangle(request, context),
    });
  }

  preflight(preflight: Preflight, context: CallContext = {}): () => void {
    try {
      const call = this.admit(context);
      if (preflight.operation === 'submitJob') this.longJobs.preflight(call.tenant);
      return this.sessions.preflight(preflight, call);
    } catch (thrown) {
      // The refusal counts as one of the operation.
      this.observation.request(preflight.operation, context, () => Promise.reject(thrown)).catch(() => {});
      throw thrown;
    }
  }

  resolve(request: ResolveRequest, context?: CallContext): Promise<ResolveAnswer> {
    return this.run('resolve', context, (call) => resolve(request, call, this.resolveServices));
  }

  check(request: CheckRequest, context?: CallContext): Promise<CheckAnswer> {
    return this.run('check', context, (call) => {
      if ('sessionId' in request) return this.sessions.check(request, call);
      admitCheck(request, this.options.limits);
      return check(request, call, { ...this.resolveServices, scheduler: this.scheduler });
    });
  }

  diagnose(request: DiagnoseRequest, context?: CallContext): Promise<Diagnosis> {
    return this.run('diagnose', context, (call) => {
      admitDiagnosis(request, this.options.limits);
      return diagnose(request, call, { ...this.resolveServices, scheduler: this.scheduler });
    });
  }

  untangle(request: UntangleRequest, context?: CallContext): Promise<UntangledState> {
    return this.run('untangle', context, (call) => untangle(request, call, this.resolveServices));
  }

  createSession(request: CreateSessionRequest, context?: CallContext): Promise<SessionInfo> {
    return this.run('createSession', context, (call) => this.sessions.create(request, call));
  }

  getSession(id: string, context?: CallContext): Promise<SessionInfo> {
    return this.run('getSession', context, (call) => this.sessions.get(id, call));
  }

  listSessions(request: ListSessionsRequest, context?: CallContext): Promise<ListSessionsAnswer> {
    return this.run('listSessions', context, (call) => this.sessions.list(request, call));
  }

  updateSession(request: UpdateSessionRequest, context?: CallContext): Promise<SessionInfo> {
    return this.run('updateSession', context, (call) => this.sessions.update(request, call));
  }

  deleteSession(id: string, context?: CallContext): Promise<void> {
    return this.run('deleteSession', context, (call) => this.sessions.delete(id, call));
  }

  step(request: StepRequest, context?: CallContext): Promise<StepAnswer> {
    return this.run('step', context, (call) => this.sessions.step(request, call));
  }

  submitJob(request: SubmitJobRequest, context?: CallContext): Promise<JobInfo> {
    return this.run('submitJob', context, (call) => this.longJobs.submit(request, call));
  }

  getJob(request: JobQuestion, context?: CallContext): Promise<JobInfo> {
    return this.run('getJob', context, (call) => this.longJobs.get(request, call));
  }

  watchJob(request: WatchJobRequest, context?: CallContext): Promise<JobInfo> {
    return this.run('watchJob', context, (call) => this.longJobs.watch(request, call));
  }

  listJobs(request: ListJobsRequest, context?: CallContext): Promise<ListJobsAnswer> {
    return this.run('listJobs', context, (call) => this.longJobs.list(request, call));
  }

  getJobResult(request: JobQuestion, context?: CallContext): Promise<JobResult> {
    return this.run('getJobResult', context, (call) => this.longJobs.result(request, call));
  }

  deleteJob(id: string, context?: CallContext): Promise<void> {
    return this.run('deleteJob', context, (call) => this.longJobs.delete(id, call));
  }

  info(): ServerInfo {
    const { limits, features = [] } = this.options;
    return {
      version: packageVersion,
      algorithmVersion,
      engines: [this.engine],
      limits: {
        ...limits,
        maxPairsPerRequest: pairLimit(this.options.maxPairBytes),
        maxWorkBytes: this.options.maxWorkBytes ?? 0,
      },
      defaults: defaultsOf('TUNED'),
      features: [...FEATURES, ...features].filter((feature) => !this.isOff(feature)),
    };
  }

  /** Whether the settings allow none of what a feature needs. */
  private isOff(feature: string): boolean {
    const { limits, maxJobs } = this.options;
    return (limits.maxSessions === 0 && OF_SESSIONS.has(feature)) || (maxJobs === 0 && OF_JOBS.has(feature));
  }

  /** All callers share one probe; after a failure the next call tries again. */
  ready(): Promise<void> {
    const services = { ...this.resolveServices, limits: withProbe(this.options.limits) };
    this.probe ??= resolve(probeRequest(), startCall({}, this.clock), services)
      .then(checkProbe)
      .catch((reason: unknown) => {
        this.probe = undefined;
        throw explainProbe(reason, this.options.limits.maxDeviceBytes, this.options.maxWorkBytes ?? 0);
      });
    return this.probe;
  }

  stats(): OperationStats {
    return {
      waiting: this.scheduler.waitingCount + this.queuedSteps.count,
      running: this.scheduler.runningCount,
      ...this.sessions.stats,
      sharedBytes: this.scheduler.sharedBytes,
      pendingJobs: this.longJobs.pendingCount,
      endedJobs: this.longJobs.endedCount,
      jobBytes: this.longJobs.bytes,
      workBytes: this.scheduler.workBytes,
      deviceBufferBytes: this.scheduler.deviceBytes,
      scenesTogether: this.scheduler.scenesTogether,
      convoy: this.scheduler.convoy,
    };
  }

  reportWorkerLost(): void {
    this.observation.emit({ type: 'worker-lost' });
  }

  reportDeviceLost(): void {
    this.observation.emit({ type: 'device-lost' });
  }

  whenJobsSettled(): Promise<void> {
    return this.longJobs.whenSettled();
  }

  wrapUp(): void {
    this.scheduler.wrapUp();
  }

  /**
   * Refuses new calls; running calls end with DRAINING, at once: the store, or a copy to it, may take longer than their
   * connections stay open. To let them finish, drain the server first.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const refuse of this.refusals) refuse(draining());
    this.sessions.close();
    this.longJobs.close();
    await this.sessions.handOver();
    await this.scheduler.close();
    await this.findings.flush();
    await this.options.store?.sessions.close();
  }

  /** Admits a call, does its work, and reports its end to the observer. */
  private run<K extends MeasuredOperation>(
    operation: K,
    context: CallContext = {},
    work: (call: Call) => AnswerOf<K> | Promise<AnswerOf<K>>,
  ): Promise<AnswerOf<K>> {
    return this.observation.request(operation, context, async () => {
      try {
        return await this.untilClosed(async () => work(this.admit(context)));
      } catch (thrown) {
        // The memory of idle sessions would block the caller's next attempt.
        if (thrown instanceof IntersticeError && thrown.code === 'OUT_OF_DEVICE_MEMORY')
          this.sessions.live.residency.yieldIdle();
        throw thrown;
      }
    });
  }

  /** @throws DRAINING as soon as the operations are closed, and what the work throws */
  private untilClosed<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.refusals.add(reject);
      work()
        .then(resolve, reject)
        .finally(() => this.refusals.delete(reject));
    });
  }

  /** @throws DRAINING */
  private admit(context: CallContext): Call {
    if (this.isClosed) throw draining();
    return startCall(context, this.clock);
  }
}
