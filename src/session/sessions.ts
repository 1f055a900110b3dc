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
import { type SessionKeeper, SessionMoved } from './keeper.js';
import { ownCopy } from './payload.js';
import { PendingUploads } from './pending-work.js';
import { listPage, type Quotas, Registry, type Reservation, refuseUnknown } from './registry.js';
import { Residency } from './residency.js';
import { restoreSession } from './restore.js';
import { minHostBytes, Session } from './session.js';
import { SessionFinder } from './session-finder.js';
import { SharedWork } from './shared-work.js';
import { StepQueue, type StepServices } from './step-queue.js';
import { openingOf } from './untangle.js';

export interface SessionsOptions extends Omit<StepServices, 'registry' | 'residency'> {
  readonly scheduler: Pick<
    Scheduler,
    'preflight' | 'open' | 'untangle' | 'step' | 'check' | 'park' | 'dropSaved' | 'forget' | 'adopt'
  >;
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

/** ms for copies of scenes to the store, when this process ends or needs room */
const HAND_OVER_MS = 5000;

/** All sessions of this process: creates, finds, uses and ends them, and keeps them within their limits. */
export class Sessions {
  readonly registry: Registry;
  readonly residency: Residency;
  private readonly idempotencyKeys = new IdempotencyKeys();
  private readonly uploads: PendingUploads;
  private readonly idle: IdleWatch;
  private readonly queues = new Map<Session, StepQueue>();
  private readonly stepServices: StepServices;
  /** undefined = sessions live in this process only */
  private readonly finder: SessionFinder | undefined;

  constructor(private readonly options: SessionsOptions) {
    const { scheduler, clock, limits, quotas, queuedSteps, onChange, onFinding, trace, keeper } = options;
    this.uploads = new PendingUploads(clock);
    // The store counts the sessions of a tenant, wherever they are.
    this.registry = new Registry(keeper ? { ...quotas, maxSessionsPerTenant: quotas.maxSessions } : quotas);
    this.residency = new Residency(
      this.registry,
      limits.maxDeviceBytes,
      (session) => this.inBackground('park a session', this.park(session)),
      (session, change) => onChange(session.tenant, change),
    );
    this.idle = new IdleWatch(clock, (session) => this.end(session, 'expired'));
    const { registry, residency } = this;
    this.stepServices = { scheduler, clock, queuedSteps, registry, residency, onFinding, trace, keeper };
    this.finder =
      keeper &&
      new SessionFinder(registry, keeper, clock, {
        load: (id, tenant) => this.load(id, tenant, keeper),
        drop: (session) => this.drop(session),
      });
  }

  /**
   * Refuses a request of which only the headers have arrived, as far as they tell enough.
   *
   * @returns a function to call when the request is complete or gone
   * @throws SESSION_NOT_FOUND, QUEUE_FULL, QUOTA_EXCEEDED, DRAINING
   */
  preflight({ operation, sessionId, bytes }: Preflight, { tenant }: Call): () => void {
    const { scheduler, queuedSteps } = this.options;
    const session = sessionId === undefined ? undefined : this.registry.peek(sessionId, tenant);
    // One that is not here may be in the store, which is asked when the request is complete.
    if (sessionId !== undefined && !session && !this.finder) refuseUnknown(sessionId);
    if (OPERATIONS[operation].admission === 'check') return () => {};
    const ahead = { count: this.uploads.count, bytes: this.uploads.bytes };
    // The body may carry an idempotency key of an existing session, for which no further room is needed.
    const isCounted = operation === 'createSession' && !this.finder;
    if (isCounted && !this.idempotencyKeys.has(tenant)) this.registry.refuseOneMore(tenant, 1);
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
    const { keeper } = this.options;
    const { tenant } = call;
    const known = request.idempotencyKey ? this.idempotencyKeys.find(tenant, request) : undefined;
    if (known instanceof Session && !keeper) {
      this.markUsed(known);
      return known.describe();
    }
    if (keeper && !(known instanceof SharedWork)) {
      const kept = request.idempotencyKey ? await keeper.creation.findKey(tenant, request) : undefined;
      const info = kept && (await keeper.describe({ tenant, id: kept.id }));
      if (info) return info;
      await this.makeRoom(tenant, minHostBytes(request.mesh, request.start), keeper);
    }
    const work = known instanceof SharedWork ? known : this.startCreation(request, call);
    const { timeBudgetSeconds } = withBudget(request, this.options.limits);
    const session = (await work.join({ ...call, expiresAt: expiryOf(call, timeBudgetSeconds) })).value;
    return session instanceof Session ? session.describe() : session;
  }

  get(id: string, { tenant }: Call): SessionInfo | Promise<SessionInfo> {
    const { keeper } = this.options;
    if (!keeper || !this.finder) return this.registry.find(id, tenant).describe();
    if (this.registry.peek(id, tenant)) return this.finder.use(id, tenant, (session) => session.describe());
    return keeper.describe({ tenant, id }).then((info) => info ?? refuseUnknown(id));
  }

  list(request: ListSessionsRequest, { tenant }: Call): ListSessionsAnswer | Promise<ListSessionsAnswer> {
    const { keeper } = this.options;
    return keeper
      ? keeper.list(tenant).then((listed) =>
          listPage(
            listed.map(({ order, info }) => [order, info]),
            request,
          ),
        )
      : this.registry.list(tenant, request);
  }

  update(request: UpdateSessionRequest, { tenant }: Call): SessionInfo | Promise<SessionInfo> {
    const { keeper } = this.options;
    return this.use(request.sessionId, tenant, (session) => {
      admitUpdate(request);
      session.update(request);
      this.markUsed(session);
      return keeper ? keeper.update(session).then(() => session.describe()) : session.describe();
    });
  }

  delete(id: string, { tenant }: Call): void | Promise<void> {
    const { keeper } = this.options;
    if (!keeper) return this.end(this.registry.find(id, tenant), 'deleted');
    return keeper.remove({ tenant, id }).then((existed) => {
      const session = this.registry.peek(id, tenant);
      if (session) this.end(session, 'deleted');
      else if (existed) this.options.onChange(tenant, 'deleted');
      if (!existed) refuseUnknown(id);
    });
  }

  step(asked: StepRequest, call: Call): Promise<StepAnswer> {
    return Promise.resolve(
      this.use(asked.sessionId, call.tenant, async (session) => {
        const { limits } = this.options;
        admitStep(asked, limits);
        const request = withBudget(asked, limits);
        const expiresAt = expiryOf(call, request.timeBudgetSeconds);
        const answer = this.queues.get(session)!.enter({ ...call, request, expiresAt });
        this.markUsed(session);
        return await answer;
      }),
    );
  }

  /** Checks the last answer, or the given positions, under the session's mesh; does not wait for pending steps. */
  async check(request: SessionCheckRequest, call: Call): Promise<CheckAnswer> {
    const { sessionId, positions, ...question } = request;
    return await this.use(sessionId, call.tenant, async (session) => {
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
    });
  }

  /** Leaves all sessions to other processes, where a store keeps them. */
  async handOver(): Promise<void> {
    await this.options.keeper?.handOver(this.registry.all(), HAND_OVER_MS);
  }

  close(): void {
    this.idle.close();
  }

  /** In memory at once, as ever; where a store keeps the sessions, after it was asked. */
  private use<T>(id: string, tenant: string, work: (session: Session) => T | Promise<T>): T | Promise<T> {
    return this.finder ? this.finder.use(id, tenant, work) : work(this.registry.find(id, tenant));
  }

  private startCreation(request: CreateSessionRequest, call: Call): SharedWork<Session | SessionInfo> {
    const place = this.registry.reserve(call.tenant, minHostBytes(request.mesh, request.start));
    // Copied at once, so that the session keeps what the lane checks.
    const own = ownCopy(request);
    const work = new SharedWork<Session | SessionInfo>(this.options.clock);
    if (request.idempotencyKey) this.idempotencyKeys.begin(call.tenant, { request: own, work });
    void this.open(own, call, place, work);
    return work;
  }

  private async open(
    request: CreateSessionRequest,
    call: Call,
    place: Reservation,
    work: SharedWork<Session | SessionInfo>,
  ): Promise<void> {
    const { scheduler, clock, allowUnverified, onChange, keeper } = this.options;
    const { mesh, label = '' } = request;
    const { id, key } = place;
    const { receivedAt, queuedAt, tenant } = call;
    try {
      // The call joins the work before anything can end it.
      await Promise.resolve();
      const opening = await openingOf(request, call, work.signal, scheduler);
      const state = { key, meshVersion: 0, mesh, stateVersion: 0, start: opening.start };
      const opened = await scheduler.open(
        { state, parameters: opening.parameters, receivedAt, queuedAt },
        { signal: work.signal, claim: claimOf(call, undefined, key) },
      );
      if (work.isAbandoned) throw cancelled();
      this.residency.admit(opened.residentBytes);
      const idleTimeoutSeconds = request.idleTimeoutSeconds ?? this.options.idleTimeoutSeconds;
      const session = new Session(
        { id, key, tenant, mesh, ...opening, label, idleTimeoutSeconds, created: clock.wallMs() },
        opened,
        { allowUnverified, engine: { description: this.options.engine } },
      );
      const other = await keeper?.creation.create(session, request);
      if (other !== undefined) {
        const info = await keeper!.describe({ tenant, id: other });
        place.release();
        if (request.idempotencyKey) this.idempotencyKeys.fail(tenant, { request, work });
        this.inBackground('forget a session', scheduler.forget(key));
        work.succeed(info ?? refuseUnknown(other));
        return;
      }
      this.enter(session, place);
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

  /** A session that was created or loaded begins to live here. */
  private enter(session: Session, place: Reservation): void {
    place.fill(session);
    const queue = new StepQueue(session, this.stepServices, (change) =>
      change === 'busy' ? this.beginWork(session) : this.endWork(session),
    );
    this.queues.set(session, queue);
    this.markUsed(session);
  }

  /** Takes a session over from the store. @throws SESSION_NOT_FOUND, STORE_UNAVAILABLE, and what its rebuilding is refused with */
  private async load(id: string, tenant: string, keeper: SessionKeeper): Promise<Session> {
    const { scheduler, clock, allowUnverified, engine, onChange, onBackgroundFailure } = this.options;
    const stored = await keeper.claim({ tenant, id });
    if (!stored) return refuseUnknown(id);
    const bytes = stored.mesh.byteLength + 2 * (stored.head?.byteLength ?? stored.opening.byteLength);
    await this.makeRoom(tenant, bytes, keeper);
    const place = this.registry.reserve(tenant, bytes, id);
    const { key } = place;
    try {
      const { by } = keeper;
      const services = { scheduler, clock, allowUnverified, engine, by };
      const restored = await restoreSession(stored, { tenant, id }, key, services);
      if (!restored) return refuseUnknown(id);
      const { session, scene, repeated } = restored;
      keeper.adopt(session, stored);
      this.residency.refuseAboveLimit(session.deviceBytes);
      this.enter(session, place);
      this.residency.settle();
      keeper.log(
        { event: 'store', session: id, frame: String(stored.frame), scene, repeated },
        'A session was loaded.',
      );
      onChange(tenant, 'loaded');
      return session;
    } catch (thrown) {
      this.inBackground('forget a session', scheduler.forget(key));
      if (thrown instanceof IntersticeError) throw thrown;
      onBackgroundFailure('load a session', thrown);
      throw thrown;
    } finally {
      place.release();
    }
  }

  /** Where the store keeps the sessions, memory for one more is taken from those that have not been used for longest. */
  private async makeRoom(tenant: string, bytes: number, keeper: SessionKeeper): Promise<void> {
    for (const session of this.residency.idle()) {
      if (this.registry.hasRoom(tenant, bytes)) return;
      if (session.kept?.isBehind) continue;
      await keeper.handOver([session], HAND_OVER_MS);
      if (session.workCount === 0) this.drop(session);
    }
  }

  /** Frees what this process holds of a session that lives on in the store. */
  private drop(session: Session): void {
    if (this.leave(session, new SessionMoved('it is another process’s')))
      this.options.onChange(session.tenant, 'moved');
  }

  private markUsed(session: Session): void {
    if (session.hasEnded) return;
    this.options.keeper?.touch(session);
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
    const hint = 'Create another session from your mesh and last answer.';
    const reason = new IntersticeError('CANCELLED', 'The session was deleted before this step was done.', { hint });
    if (!this.leave(session, reason)) return;
    if (change === 'expired') this.options.keeper?.expire(session);
    this.options.onChange(session.tenant, change);
  }

  /** @param reason for the steps that wait or run @returns false when the session has left before */
  private leave(session: Session, reason: Error): boolean {
    if (!this.registry.remove(session)) return false;
    this.idle.stop(session);
    this.residency.forget(session);
    this.idempotencyKeys.forget(session);
    this.queues.get(session)?.cancel(reason);
    this.queues.delete(session);
    this.inBackground('forget a session', this.options.scheduler.forget(session.key));
    return true;
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
