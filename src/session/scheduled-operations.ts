import type { CallContext, Preflight } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeasuredOperations, OperationStats } from '../contract/events.js';
import type { MeasuredOperation } from '../contract/operation-table.js';
import type { AnswerOf } from '../contract/operations.js';
import type { CheckAnswer, CheckRequest, ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import type { EngineDescription, ServerInfo } from '../contract/server-info.js';
import type {
  CreateSessionRequest,
  ListSessionsAnswer,
  ListSessionsRequest,
  SessionInfo,
  StepAnswer,
  StepRequest,
  UpdateSessionRequest,
} from '../contract/sessions.js';
import { deadlineExceeded } from '../jobs/deadline.js';
import type { ScheduleHooks } from '../lanes/claim.js';
import { monotonicMs } from '../lanes/clock.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import { defaultsOf } from '../solver/parameters.js';
import { admitCheck, admitResolve } from './admission.js';
import { type Call, claimOf, expiryOf, isOver, startCall } from './calls.js';
import { realClock, type SessionClock } from './clock.js';
import { FindingsRecorder } from './findings-recorder.js';
import { HeldSteps } from './held-bound.js';
import { Observation } from './observation.js';
import type { OperationsOptions } from './operations.js';
import { judgeProbe, probeRequest } from './probe.js';
import { RequestTrace, type TracedRequest } from './request-trace.js';
import type { Schedule } from './schedule.js';
import { SessionRoom } from './session-room.js';
import { SharedCall } from './shared-call.js';

/** Seconds: long enough for a pause in a simulation, short enough that a client that died does not hold memory for long. */
export const DEFAULT_IDLE_TIMEOUT_SECONDS = 900;

const FEATURES = [
  ...['resolve', 'check', 'sessions', 'part-targets', 'mesh-updates', 'idempotency-keys', 'parking'],
  ...['ignore-pairs', 'part-distances'],
];

/** The operations on a schedule: admission, sessions, what is told of each call. */
export class ScheduledOperations implements MeasuredOperations {
  private readonly clock: SessionClock;
  private readonly observation: Observation;
  private readonly findings: FindingsRecorder;
  private readonly held: HeldSteps;
  private readonly room: SessionRoom;
  private probe: Promise<void> | undefined;
  private isClosed = false;

  constructor(
    private readonly schedule: Schedule,
    private readonly options: Omit<OperationsOptions, 'engine' | 'threads'>,
    private readonly engine: EngineDescription,
  ) {
    const { limits, log, onEvent, allowUnverified } = options;
    this.clock = options.clock ?? realClock(monotonicMs);
    this.observation = new Observation(onEvent, log);
    this.findings = new FindingsRecorder(this.observation, log, options.findingsFolder);
    this.held = new HeldSteps(schedule, limits.maxQueue, options.maxQueueBytes);
    this.room = new SessionRoom({
      schedule,
      clock: this.clock,
      held: this.held,
      limits,
      quotas: {
        maxSessions: limits.maxSessions,
        maxSessionsPerTenant: options.maxSessionsPerTenant ?? limits.maxSessions,
        maxSessionBytes: options.maxSessionBytes ?? 0,
      },
      allowUnverified,
      idleTimeoutSeconds: options.idleTimeoutSeconds ?? DEFAULT_IDLE_TIMEOUT_SECONDS,
      onFinding: (finding) => this.findings.record(finding),
      openTrace: options.traceFolder === undefined ? undefined : (request) => this.openTrace(request),
      onChange: (tenant, change) => this.observation.emit({ type: 'session', change, tenant }),
      onBackgroundFailure: (what, err) => {
        if (!this.isClosed) log?.({ level: 'error', event: 'background', err }, `could not ${what}`);
      },
    });
  }

  preflight(preflight: Preflight, context: CallContext = {}): () => void {
    try {
      return this.room.preflight(preflight, this.admit(context));
    } catch (thrown) {
      // It counts as the operation that it would have been.
      this.observation.request(preflight.operation, context, () => Promise.reject(thrown)).catch(() => {});
      throw thrown;
    }
  }

  resolve(request: ResolveRequest, context?: CallContext): Promise<ResolveAnswer> {
    return this.run('resolve', context, (call) => this.compute(request, call));
  }

  check(request: CheckRequest, context?: CallContext): Promise<CheckAnswer> {
    return this.run('check', context, (call) => {
      if ('sessionId' in request) return this.room.check(request, call);
      admitCheck(request, this.options.limits);
      return this.schedule.check(request, { signal: call.context.signal, claim: claimOf(call) });
    });
  }

  createSession(request: CreateSessionRequest, context?: CallContext): Promise<SessionInfo> {
    return this.run('createSession', context, (call) => this.room.create(request, call));
  }

  getSession(id: string, context?: CallContext): Promise<SessionInfo> {
    return this.run('getSession', context, (call) => this.room.get(id, call));
  }

  listSessions(request: ListSessionsRequest, context?: CallContext): Promise<ListSessionsAnswer> {
    return this.run('listSessions', context, (call) => this.room.list(request, call));
  }

  updateSession(request: UpdateSessionRequest, context?: CallContext): Promise<SessionInfo> {
    return this.run('updateSession', context, (call) => this.room.update(request, call));
  }

  deleteSession(id: string, context?: CallContext): Promise<void> {
    return this.run('deleteSession', context, (call) => this.room.delete(id, call));
  }

  step(request: StepRequest, context?: CallContext): Promise<StepAnswer> {
    return this.run('step', context, (call) => this.room.step(request, call));
  }

  info(): ServerInfo {
    const { limits, features = [] } = this.options;
    return {
      version: packageVersion,
      algorithmVersion,
      engines: [this.engine],
      limits,
      defaults: defaultsOf('TUNED'),
      features: [...FEATURES, ...features],
    };
  }

  /** The same probe for all who ask; a failed one is tried again when somebody asks again. */
  ready(): Promise<void> {
    this.probe ??= this.compute(probeRequest(), startCall({}, this.clock))
      .then(judgeProbe)
      .catch((reason: unknown) => {
        this.probe = undefined;
        throw reason;
      });
    return this.probe;
  }

  stats(): OperationStats {
    const { registry, residency } = this.room;
    const sessions = [...registry.all()];
    return {
      waiting: this.schedule.waitingCount + this.held.count,
      running: this.schedule.runningCount,
      sessions: sessions.length,
      parked: sessions.filter(({ residency }) => residency === 'PARKED').length,
      residentBytes: residency.deviceBytes,
      sharedBytes: this.schedule.sharedBytes,
      hostBytes: registry.hostBytes,
    };
  }

  tellWorkerLost(): void {
    this.observation.emit({ type: 'worker-lost' });
  }

  /** Refuses what comes; what still runs ends with DRAINING. Whoever wants it to finish drains first. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.room.close();
    await this.schedule.close();
    await this.findings.flush();
  }

  /** Admits a call, does its work, and reports its end to the observer. */
  private run<K extends MeasuredOperation>(
    operation: K,
    context: CallContext = {},
    work: (call: Call) => AnswerOf<K> | Promise<AnswerOf<K>>,
  ): Promise<AnswerOf<K>> {
    return this.observation.request(operation, context, () => work(this.admit(context)));
  }

  /** @throws DRAINING */
  private admit(context: CallContext): Call {
    if (this.isClosed) throw new IntersticeError('DRAINING', 'this server is shutting down');
    return startCall(context, this.clock);
  }

  private async compute(request: ResolveRequest, call: Call): Promise<ResolveAnswer> {
    admitResolve(request, this.options.limits);
    const { context, receivedAt, queuedAt } = call;
    const { mesh, parameters, timeBudgetSeconds, onBudget, priority } = request;
    const { requestId, onState } = context;
    const trace = await this.openTrace({
      operation: 'resolve',
      requestId,
      mesh,
      parameters,
      timeBudgetSeconds,
      onBudget,
    });
    const expiresAt = expiryOf(call, timeBudgetSeconds);
    const isHard = onBudget === 'FAIL';
    // Who wants an answer in time or none is told at that time, whatever the work is doing.
    const shared = new SharedCall<ResolveAnswer>(this.clock);
    const end = shared.join({ signal: context.signal, expiresAt: isHard ? expiresAt : undefined });
    const hooks: ScheduleHooks = {
      signal: shared.signal,
      expiresAt,
      onProgress: context.onProgress,
      onState: trace
        ? (positions, at) => {
            trace.add(positions, at);
            return onState?.(positions, at);
          }
        : onState,
      onFinding: (finding) => this.findings.record(finding),
      claim: claimOf(call, priority),
    };
    this.schedule.resolve({ request, receivedAt, queuedAt }, hooks).then(
      (answer) => shared.succeed(answer),
      (reason: unknown) => shared.fail(reason),
    );
    const { value: answer } = await end;
    // The worker was in time; its message may not have been, where this thread had much to do.
    if (isHard && isOver(expiresAt, this.clock)) throw deadlineExceeded('on the way back from the engine');
    trace?.finish(answer);
    return answer;
  }

  private async openTrace(request: TracedRequest): Promise<RequestTrace | undefined> {
    const { traceFolder, encodeReport, log } = this.options;
    if (traceFolder === undefined) return undefined;
    return RequestTrace.open(request, {
      folder: traceFolder,
      encodeReport,
      onFailure: (err) => log?.({ level: 'error', event: 'trace', err }, 'a trace could not be written'),
    });
  }
}
