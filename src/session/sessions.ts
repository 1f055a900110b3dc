import type { Preflight } from '../contract/call-context.js';
import { cancelled, IntersticeError } from '../contract/errors.js';
import type { SessionChange } from '../contract/events.js';
import { OPERATIONS } from '../contract/operation-table.js';
import type { CheckAnswer, SessionCheckRequest } from '../contract/requests.js';
import type { EngineDescription, Limits } from '../contract/server-info.js';
import type {
  CreateSessionRequest,
  ListSessionsAnswer,
  ListSessionsRequest,
  SessionInfo,
  StepAnswer,
  StepRequest,
  UpdateSessionRequest,
} from '../contract/sessions.js';
import type { Scheduler } from '../lanes/scheduler.js';
import { admitCreation, admitSessionCheck, admitStep, admitUpdate } from './admission.js';
import { type Call, claimOf, expiryOf, withBudget } from './call.js';
import { check as checkMesh } from './check.js';
import { IdempotencyKeys } from './idempotency.js';
import { IdleWatch } from './idle-watch.js';
import { ownCopy } from './payload.js';
import { PendingUploads } from './pending-work.js';
import { type Quotas, Registry, type Reservation } from './registry.js';
import { Residency } from './residency.js';
import { minHostBytes, Session } from './session.js';
import { SharedWork } from './shared-work.js';
import { StepQueue, type StepServices } from './step-queue.js';

export interface SessionsOptions extends Omit<StepServices, 'registry' | 'residency'> {
  readonly scheduler: Pick<Scheduler, 'preflight' | 'open' | 'step' | 'check' | 'park' | 'dropSaved' | 'forget'>;
  readonly limits: Limits;
  readonly quotas: Quotas;
  readonly allowUnverified: boolean;
  readonly engine: EngineDescription;
  /** of sessions that ask for no timeout; 0 = until deleted */
  readonly idleTimeoutSeconds: number;
  readonly onChange: (tenant: string, change: SessionChange) => void;
  /** called when work fails that no caller waits for */
  readonly onBackgroundFailure: (what: string, reason: unknown) => void;
}

/** All sessions of this process: creates, finds, uses and ends them, and keeps them within their limits. */
export class Sessions {
  readonly registry: Registry;
  readonly residency: Residency;
  private readonly idempotencyKeys = new IdempotencyKeys();
  private readonly uploads: PendingUploads;
  private readonly idle: IdleWatch;
  private readonly queues = new Map<Session, StepQueue>();
  private readonly stepServices: StepServices;

  constructor(private readonly options: SessionsOptions) {
    const { scheduler, clock, limits, quotas, queuedSteps, onChange, onFinding, trace } = options;
    this.uploads = new PendingUploads(clock);
    this.registry = new Registry(quotas);
    this.residency = new Residency(
      this.registry,
      limits.maxDeviceBytes,
      (session) => this.inBackground('park a session', this.park(session)),
      (session, change) => onChange(session.tenant, change),
    );
    this.idle = new IdleWatch(clock, (session) => this.end(session, 'expired'));
    const { registry, residency } = this;
    this.stepServices = { scheduler, clock, queuedSteps, registry, residency, onFinding, trace };
  }

  /**
   * Refuses a request of which only the headers have arrived, as far as they tell enough.
   *
   * @returns a function to call when the request is complete or gone
   * @throws SESSION_NOT_FOUND, QUEUE_FULL, QUOTA_EXCEEDED, DRAINING
   */
  preflight({ operation, sessionId, bytes }: Preflight, { tenant }: Call): () => void {
    const { scheduler, queuedSteps } = this.options;
    const session = sessionId === undefined ? undefined : this.registry.find(sessionId, tenant);
    if (OPERATIONS[operation].admission === 'check') return () => {};
    const ahead = { count: this.uploads.count, bytes: this.uploads.bytes };
    // The body may carry an idempotency key of an existing session, for which no further room is needed.
    if (operation === 'createSession' && !this.idempotencyKeys.has(tenant)) this.registry.refuseOneMore(tenant, 1);
    // A step behind another one of its session, or behind one that is still being uploaded, waits in the session's queue.
    const step = operation === 'step' ? session : undefined;
    if (step && (this.queues.get(step)!.isBusy || this.uploads.has(step.key))) {
      queuedSteps.preflight(tenant, bytes ?? 0, ahead);
      return this.uploads.add(step.key, bytes);
    }
    scheduler.preflight({
      tenant,
      bytes,
      ahead,
      isForScene: operation === 'step',
      ...(session ? { mesh: session.meshInput } : {}),
      ...(step ? { session: step.key } : {}),
    });
    return this.uploads.add(step?.key, bytes);
  }

  /** @throws what the opening of a scene refuses, QUOTA_EXCEEDED, TOO_LARGE, OUT_OF_DEVICE_MEMORY */
  async create(request: CreateSessionRequest, call: Call): Promise<SessionInfo> {
    admitCreation(request, this.options.limits);
    if (call.context.signal?.aborted) throw cancelled();
    const known = request.idempotencyKey ? this.idempotencyKeys.find(call.tenant, request) : undefined;
    if (known instanceof Session) {
      this.markUsed(known);
      return known.describe();
    }
    const work = known ?? this.startCreation(request, call);
    const { timeBudgetSeconds } = withBudget(request, this.options.limits);
    return (await work.join({ ...call, expiresAt: expiryOf(call, timeBudgetSeconds) })).value.describe();
  }

  get(id: string, { tenant }: Call): SessionInfo {
    return this.registry.find(id, tenant).describe();
  }

  list(request: ListSessionsRequest, { tenant }: Call): ListSessionsAnswer {
    return this.registry.list(tenant, request);
  }

  update(request: UpdateSessionRequest, { tenant }: Call): SessionInfo {
    const session = this.registry.find(request.sessionId, tenant);
    admitUpdate(request);
    session.update(request);
    this.markUsed(session);
    return session.describe();
  }

  delete(id: string, { tenant }: Call): void {
    this.end(this.registry.find(id, tenant), 'deleted');
  }

  async step(asked: StepRequest, call: Call): Promise<StepAnswer> {
    const session = this.registry.find(asked.sessionId, call.tenant);
    const { limits } = this.options;
    admitStep(asked, limits);
    const request = withBudget(asked, limits);
    const expiresAt = expiryOf(call, request.timeBudgetSeconds);
    const answer = this.queues.get(session)!.enter({ ...call, request, expiresAt });
    this.markUsed(session);
    return await answer;
  }

  /** Checks the last answer, or the given positions, under the session's mesh; does not wait for pending steps. */
  async check(request: SessionCheckRequest, call: Call): Promise<CheckAnswer> {
    const { sessionId, positions, ...question } = request;
    const session = this.registry.find(sessionId, call.tenant);
    admitSessionCheck(request, this.options.limits);
    const subject = { ...question, mesh: session.meshInput, positions: positions ?? session.state };
    this.beginWork(session);
    try {
      // The session keeps its mesh and state in any case; only sent positions are kept for the time of waiting.
      const waitingBytes = positions?.buffer.byteLength ?? 0;
      return await checkMesh(subject, call, this.options, waitingBytes);
    } finally {
      this.endWork(session);
    }
  }

  close(): void {
    this.idle.close();
  }

  private startCreation(request: CreateSessionRequest, call: Call): SharedWork<Session> {
    const place = this.registry.reserve(call.tenant, minHostBytes(request.mesh, request.start));
    // Copied at once, so that the session keeps what the lane checks.
    const own = ownCopy(request);
    const work = new SharedWork<Session>(this.options.clock);
    if (request.idempotencyKey) this.idempotencyKeys.begin(call.tenant, { request: own, work });
    void this.open(own, call, place, work);
    return work;
  }

  private async open(
    request: CreateSessionRequest,
    call: Call,
    place: Reservation,
    work: SharedWork<Session>,
  ): Promise<void> {
    const { scheduler, clock, allowUnverified, onChange } = this.options;
    const { mesh, start, parameters, label = '' } = request;
    const { id, key } = place;
    const { receivedAt, queuedAt, tenant } = call;
    try {
      // The call joins the work before anything can end it.
      await Promise.resolve();
      const state = { key, meshVersion: 0, mesh, stateVersion: 0, start };
      const opened = await scheduler.open(
        { state, parameters, receivedAt, queuedAt },
        { signal: work.signal, claim: claimOf(call, undefined, key) },
      );
      if (work.isAbandoned) throw cancelled();
      this.residency.admit(opened.residentBytes);
      const idleTimeoutSeconds = request.idleTimeoutSeconds ?? this.options.idleTimeoutSeconds;
      const session = new Session(
        { id, key, tenant, mesh, start, parameters, label, idleTimeoutSeconds, created: clock.wallMs() },
        opened,
        { allowUnverified, engine: { description: this.options.engine } },
      );
      place.fill(session);
      const queue = new StepQueue(session, this.stepServices, (change) =>
        change === 'busy' ? this.beginWork(session) : this.endWork(session),
      );
      this.queues.set(session, queue);
      this.markUsed(session);
      if (request.idempotencyKey) this.idempotencyKeys.succeed(tenant, request, session);
      onChange(tenant, 'created');
      work.succeed(session);
    } catch (thrown) {
      place.release();
      if (request.idempotencyKey) this.idempotencyKeys.fail(tenant, { request, work });
      this.inBackground('forget a session', scheduler.forget(key));
      work.fail(thrown);
    }
  }

  private markUsed(session: Session): void {
    if (session.hasEnded) return;
    session.lastUsed = this.options.clock.wallMs();
    this.residency.touch(session);
    this.idle.restart(session);
  }

  private beginWork(session: Session): void {
    session.workCount++;
    this.idle.stop(session);
  }

  private endWork(session: Session): void {
    session.workCount--;
    this.markUsed(session);
    this.residency.settle();
  }

  private end(session: Session, change: 'deleted' | 'expired'): void {
    if (!this.registry.remove(session)) return;
    this.idle.stop(session);
    this.residency.forget(session);
    this.idempotencyKeys.forget(session);
    this.queues.get(session)?.cancel(
      new IntersticeError('CANCELLED', 'The session was deleted before this step was done.', {
        hint: 'Create another session from your mesh and last answer.',
      }),
    );
    this.queues.delete(session);
    this.inBackground('forget a session', this.options.scheduler.forget(session.key));
    this.options.onChange(session.tenant, change);
  }

  /** Where host memory is short, the pairs of a parked session are given up: its next step searches anew, and says so. */
  private async park(session: Session): Promise<void> {
    const { scheduler } = this.options;
    session.savedBytes = 0;
    const bytes = await scheduler.park(session.key);
    if (session.residency !== 'PARKED' || session.hasEnded) return;
    session.savedBytes = bytes;
    if (!this.registry.isOverBytes) return;
    session.savedBytes = 0;
    scheduler.dropSaved(session.key);
  }

  private inBackground(what: string, work: Promise<unknown>): void {
    work.catch((reason: unknown) => this.options.onBackgroundFailure(what, reason));
  }
}
