import type { Preflight } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { SessionChange } from '../contract/events.js';
import { OPERATIONS } from '../contract/operation-table.js';
import type { CheckAnswer, SessionCheckRequest } from '../contract/requests.js';
import type { Limits } from '../contract/server-info.js';
import type {
  CreateSessionRequest,
  ListSessionsAnswer,
  ListSessionsRequest,
  SessionInfo,
  StepAnswer,
  StepRequest,
  UpdateSessionRequest,
} from '../contract/sessions.js';
import { admitCreation, admitSessionCheck, admitStep, admitUpdate } from './admission.js';
import { Announced } from './announced.js';
import { type Call, claimOf, expiryOf } from './calls.js';
import type { SessionClock } from './clock.js';
import { Creations } from './creations.js';
import type { HeldSteps } from './held-bound.js';
import { IdleWatch } from './idle-watch.js';
import { ownCopy } from './payload.js';
import { type Quotas, Registry, type Reservation } from './registry.js';
import { Residency } from './residency.js';
import type { Schedule } from './schedule.js';
import { demandOf, Session } from './session.js';
import { SharedCall } from './shared-call.js';
import { StepQueue } from './step-queue.js';
import type { StepRoom } from './step-run.js';

export interface SessionRoomOptions extends Pick<StepRoom, 'schedule' | 'onFinding' | 'openTrace'> {
  readonly schedule: Schedule;
  readonly clock: SessionClock;
  readonly held: HeldSteps;
  readonly limits: Limits;
  readonly quotas: Quotas;
  readonly allowUnverified: boolean;
  /** of sessions that name none; 0 = until deleted */
  readonly idleTimeoutSeconds: number;
  readonly onChange: (tenant: string, change: SessionChange) => void;
  /** something that was done in the background failed; no caller waits for it */
  readonly onBackgroundFailure: (what: string, reason: unknown) => void;
}

/** All sessions of this process: opened, used, kept within bounds, ended. */
export class SessionRoom {
  readonly registry: Registry;
  readonly residency: Residency;
  private readonly creations = new Creations();
  private readonly announced: Announced;
  private readonly idle: IdleWatch;
  private readonly queues = new Map<Session, StepQueue>();
  private readonly stepRoom: StepRoom;

  constructor(private readonly options: SessionRoomOptions) {
    const { schedule, limits, quotas, onChange } = options;
    this.announced = new Announced(options.clock);
    this.registry = new Registry(quotas);
    this.residency = new Residency(
      this.registry,
      limits.maxDeviceBytes,
      (session) => this.inBackground('park a session', schedule.park(session.key)),
      (session, change) => onChange(session.tenant, change),
    );
    this.idle = new IdleWatch(options.clock, (session) => this.end(session, 'expired'));
    const { onFinding, openTrace } = options;
    this.stepRoom = { schedule, registry: this.registry, residency: this.residency, onFinding, openTrace };
  }

  /** @throws what an opening is refused with, QUOTA_EXCEEDED, TOO_LARGE, OUT_OF_DEVICE_MEMORY */
  async create(request: CreateSessionRequest, call: Call): Promise<SessionInfo> {
    admitCreation(request, this.options.limits);
    const { signal } = call.context;
    if (signal?.aborted) throw new IntersticeError('CANCELLED', 'the caller went away');
    const known = request.idempotencyKey ? this.creations.find(call.tenant, request) : undefined;
    if (known instanceof Session) {
      this.use(known);
      return known.describe();
    }
    const shared = known ?? this.begin(request, call);
    return (await shared.join({ signal })).value.describe();
  }

  /** As far as it can be said before the request has come. @throws SESSION_NOT_FOUND, QUEUE_FULL, QUOTA_EXCEEDED, DRAINING */
  preflight({ operation, sessionId, bytes }: Preflight, { tenant }: Call): () => void {
    const { schedule, held } = this.options;
    const session = sessionId === undefined ? undefined : this.registry.find(sessionId, tenant);
    if (OPERATIONS[operation].admission === 'check') return () => {};
    const ahead = { count: this.announced.count, bytes: this.announced.bytes };
    // Who has keys of idempotency may ask for a session that is there already, whatever else there is room for.
    if (operation === 'createSession' && !this.creations.has(tenant)) this.registry.refuseOneMore(tenant, 1);
    // Behind another step of its session, one on its way included, it waits here, not in the schedule.
    const step = operation === 'step' ? session : undefined;
    if (step && (this.queues.get(step)!.isBusy || this.announced.has(step.key))) {
      held.preflight(tenant, bytes ?? 0, ahead);
      return this.announced.add(step.key, bytes);
    }
    schedule.preflight({
      tenant,
      bytes,
      ahead,
      isForScene: operation === 'step',
      ...(session ? { mesh: session.meshInput } : {}),
      ...(step ? { session: step.key } : {}),
    });
    return this.announced.add(step?.key, bytes);
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
    this.use(session);
    return session.describe();
  }

  delete(id: string, { tenant }: Call): void {
    this.end(this.registry.find(id, tenant), 'deleted');
  }

  async step(request: StepRequest, call: Call): Promise<StepAnswer> {
    const session = this.registry.find(request.sessionId, call.tenant);
    admitStep(request, this.options.limits);
    const expiresAt = expiryOf(call, request.timeBudgetSeconds);
    const answer = this.queues.get(session)!.enter({ call, request, signal: call.context.signal, expiresAt });
    this.use(session);
    return await answer;
  }

  /** Of the last answer at this moment, or of given positions, under the session's mesh; steps under way are not waited for. */
  async check(request: SessionCheckRequest, call: Call): Promise<CheckAnswer> {
    const { sessionId, positions, ...question } = request;
    const session = this.registry.find(sessionId, call.tenant);
    admitSessionCheck(request, this.options.limits);
    const subject = { ...question, mesh: session.meshInput, positions: positions ?? session.state };
    this.beginWork(session);
    try {
      // The mesh, and the state where none is sent, are the session's, whether the check waits or not.
      const waitingBytes = positions?.buffer.byteLength ?? 0;
      const hooks = { signal: call.context.signal, claim: claimOf(call), waitingBytes };
      return await this.options.schedule.check(subject, hooks);
    } finally {
      this.endWork(session);
    }
  }

  close(): void {
    this.idle.close();
  }

  private begin(request: CreateSessionRequest, call: Call): SharedCall<Session> {
    const place = this.registry.reserve(call.tenant, demandOf(request.mesh, request.start));
    // Its own from the first moment: what the worker checks is what the session keeps.
    const own = ownCopy(request);
    const shared = new SharedCall<Session>(this.options.clock);
    if (request.idempotencyKey) this.creations.begin(call.tenant, { request: own, shared });
    // The caller joins before anything can end: `open` goes on after this turn of the event loop at the earliest.
    void this.open(own, call, place, shared);
    return shared;
  }

  private async open(
    request: CreateSessionRequest,
    call: Call,
    place: Reservation,
    shared: SharedCall<Session>,
  ): Promise<void> {
    const { schedule, clock, allowUnverified, onChange } = this.options;
    const { mesh, start, parameters, label = '' } = request;
    const { id, key } = place;
    const { receivedAt, queuedAt, tenant } = call;
    try {
      await Promise.resolve();
      const state = { key, meshVersion: 0, mesh, stateVersion: 0, start };
      const opened = await schedule.open(
        { state, parameters, receivedAt, queuedAt },
        { signal: shared.signal, claim: claimOf(call, undefined, key) },
      );
      if (shared.isAbandoned) throw new IntersticeError('CANCELLED', 'the caller went away');
      this.residency.admit(opened.residentBytes);
      const idleTimeoutSeconds = request.idleTimeoutSeconds ?? this.options.idleTimeoutSeconds;
      const session = new Session(
        { id, key, tenant, mesh, start, parameters, label, idleTimeoutSeconds, created: clock.wallMs() },
        opened,
        { allowUnverified },
      );
      this.keep(session, place);
      if (request.idempotencyKey) this.creations.succeed(tenant, request, session);
      onChange(tenant, 'created');
      shared.succeed(session);
    } catch (thrown) {
      place.release();
      if (request.idempotencyKey) this.creations.fail(tenant, { request, shared });
      this.inBackground('forget a session', schedule.forget(key));
      shared.fail(thrown);
    }
  }

  private keep(session: Session, place: Reservation): void {
    place.fill(session);
    const { clock, held } = this.options;
    const queue = new StepQueue(session, this.stepRoom, clock, held, (change) =>
      change === 'busy' ? this.beginWork(session) : this.endWork(session),
    );
    this.queues.set(session, queue);
    this.use(session);
  }

  private use(session: Session): void {
    if (session.isGone) return;
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
    this.use(session);
    this.residency.settle();
  }

  private end(session: Session, change: 'deleted' | 'expired'): void {
    if (!this.registry.remove(session)) return;
    this.idle.stop(session);
    this.residency.forget(session);
    this.creations.forget(session);
    this.queues.get(session)?.cancel(
      new IntersticeError('CANCELLED', 'the session was deleted before this step was done', {
        hint: 'Create another session from your mesh and last answer.',
      }),
    );
    this.queues.delete(session);
    this.inBackground('forget a session', this.options.schedule.forget(session.key));
    this.options.onChange(session.tenant, change);
  }

  private inBackground(what: string, work: Promise<unknown>): void {
    work.catch((reason: unknown) => this.options.onBackgroundFailure(what, reason));
  }
}
