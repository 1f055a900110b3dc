import type { CallContext, Preflight } from '../contract/call-context.js';
import { draining, IntersticeError } from '../contract/errors.js';
import type { MeasuredOperations, OperationObserver, OperationStats } from '../contract/events.js';
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
import { monotonicMs } from '../jobs/clock.js';
import { type EngineSource, engineSourceOf } from '../jobs/engines.js';
import { Scheduler } from '../lanes/scheduler.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import { pairLimit } from '../solver/pair-budget.js';
import { defaultsOf } from '../solver/parameters.js';
import { admitCheck } from './admission.js';
import { type Call, realClock, type SessionClock, startCall } from './call.js';
import { check } from './check.js';
import { FindingsRecorder } from './findings.js';
import { type Log, Observation } from './observation.js';
import { QueuedSteps } from './pending-work.js';
import { checkProbe, probeRequest, type ResolveServices, resolve } from './resolve.js';
import { Sessions } from './sessions.js';

export interface OperationsOptions {
  /** `auto` takes the best engine that is available; `info().engines` says what it fell back to, and why */
  readonly engine: 'auto' | 'cpu' | 'webgpu';
  /** which GPU */
  readonly adapter?: string | undefined;
  /** largest number of worker threads for ordinary work */
  readonly threads: number;
  /** most threads that compute at the same time; a large request borrows what others leave. Default: one per core */
  readonly cores?: number | undefined;
  readonly limits: Limits;
  /** default: the limit of the server */
  readonly maxSessionsPerTenant?: number | undefined;
  /** bytes of host memory that all sessions may take; default 0 = no limit */
  readonly maxSessionBytes?: number | undefined;
  /** bytes that the pairs of one request may take; default 0 = as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
  /** bytes that all requests together may take to compute, on the host; default 0 = no limit */
  readonly maxWorkBytes?: number | undefined;
  /** bytes of the arrays of waiting requests; default 0 = no limit */
  readonly maxQueueBytes?: number | undefined;
  /** seconds, of sessions that ask for no timeout; 0 = until deleted; default {@link DEFAULT_IDLE_TIMEOUT_SECONDS} */
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
  /** default: the clock of this process */
  readonly clock?: SessionClock | undefined;
}

/**
 * Opens the engine on a first worker thread and returns the operations that use it.
 *
 * @throws INVALID_PARAMETER for an adapter that does not exist or that the engine cannot use; INTERNAL when no worker can be
 *   started
 */
export async function createOperations(options: OperationsOptions): Promise<MeasuredOperations> {
  const { limits, log, engine: choice, adapter, maxPairBytes, maxWorkBytes } = options;
  const { maxDeviceBytes } = limits;
  const operations: { current?: ScheduledOperations } = {};
  const scheduler = new Scheduler({
    engine: options.engineSource ?? engineSourceOf({ engine: choice, adapter, maxDeviceBytes, maxPairBytes }),
    limits,
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
  });
  let engine: EngineDescription;
  try {
    engine = await scheduler.hello();
  } catch (thrown) {
    await scheduler.close();
    throw thrown;
  }
  operations.current = new ScheduledOperations(scheduler, options, engine);
  return operations.current;
}

const FEATURES = [
  ...['resolve', 'check', 'sessions', 'part-targets', 'mesh-updates', 'idempotency-keys', 'parking'],
  ...['ignore-pairs', 'part-distances'],
];

/** The operations of the service: each call is admitted, done by the scheduler or the sessions, and reported to the observer. */
export class ScheduledOperations implements MeasuredOperations {
  private readonly clock: SessionClock;
  private readonly observation: Observation;
  private readonly findings: FindingsRecorder;
  private readonly queuedSteps: QueuedSteps;
  private readonly sessions: Sessions;
  private readonly resolveServices: ResolveServices;
  private probe: Promise<void> | undefined;
  private isClosed = false;

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
    this.sessions = new Sessions({
      ...this.resolveServices,
      scheduler,
      queuedSteps: this.queuedSteps,
      quotas: {
        maxSessions: limits.maxSessions,
        maxSessionsPerTenant: options.maxSessionsPerTenant ?? limits.maxSessions,
        maxSessionBytes: options.maxSessionBytes ?? 0,
      },
      allowUnverified,
      engine,
      idleTimeoutSeconds: options.idleTimeoutSeconds ?? DEFAULT_IDLE_TIMEOUT_SECONDS,
      onChange: (tenant, change) => this.observation.emit({ type: 'session', change, tenant }),
      onBackgroundFailure: (what, err) => {
        if (!this.isClosed) log?.({ level: 'error', event: 'background', err }, `Could not ${what}.`);
      },
    });
  }

  preflight(preflight: Preflight, context: CallContext = {}): () => void {
    try {
      return this.sessions.preflight(preflight, this.admit(context));
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
      features: [...FEATURES, ...features],
    };
  }

  /** All callers share one probe; after a failure the next call tries again. */
  ready(): Promise<void> {
    this.probe ??= resolve(probeRequest(), startCall({}, this.clock), this.resolveServices)
      .then(checkProbe)
      .catch((reason: unknown) => {
        this.probe = undefined;
        throw reason;
      });
    return this.probe;
  }

  stats(): OperationStats {
    const { registry, residency } = this.sessions;
    const sessions = [...registry.all()];
    return {
      waiting: this.scheduler.waitingCount + this.queuedSteps.count,
      running: this.scheduler.runningCount,
      sessions: sessions.length,
      parked: sessions.filter(({ residency }) => residency === 'PARKED').length,
      residentBytes: residency.deviceBytes,
      sharedBytes: this.scheduler.sharedBytes,
      hostBytes: registry.hostBytes,
      workBytes: this.scheduler.workBytes,
      deviceBufferBytes: this.scheduler.deviceBytes,
    };
  }

  reportWorkerLost(): void {
    this.observation.emit({ type: 'worker-lost' });
  }

  wrapUp(): void {
    this.scheduler.wrapUp();
  }

  /** Refuses new calls; running calls end with DRAINING. To let them finish, drain the server before. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.sessions.close();
    await this.scheduler.close();
    await this.findings.flush();
  }

  /** Admits a call, does its work, and reports its end to the observer. */
  private run<K extends MeasuredOperation>(
    operation: K,
    context: CallContext = {},
    work: (call: Call) => AnswerOf<K> | Promise<AnswerOf<K>>,
  ): Promise<AnswerOf<K>> {
    return this.observation.request(operation, context, async () => {
      try {
        return await work(this.admit(context));
      } catch (thrown) {
        // What idle sessions hold is in the way of the caller's next attempt.
        if (thrown instanceof IntersticeError && thrown.code === 'OUT_OF_DEVICE_MEMORY')
          this.sessions.residency.yieldIdle();
        throw thrown;
      }
    });
  }

  /** @throws DRAINING */
  private admit(context: CallContext): Call {
    if (this.isClosed) throw draining();
    return startCall(context, this.clock);
  }
}
