import type { Preflight } from '../contract/call-context.js';
import type { OperationStats } from '../contract/events.js';
import { OPERATIONS } from '../contract/operation-table.js';
import type { CheckAnswer, SessionCheckRequest } from '../contract/requests.js';
import {
  type CreateSessionRequest,
  KEY_PREFIX,
  type ListSessionsAnswer,
  type ListSessionsRequest,
  type SessionInfo,
  type StepAnswer,
  type StepRequest,
  type UpdateSessionRequest,
} from '../contract/sessions.js';
import type { Scheduler } from '../lanes/scheduler.js';
import { admitSessionCheck, admitStep, admitUpdate } from './admission.js';
import { type Call, expiryOf, withBudget } from './call.js';
import { check as checkMesh } from './check.js';
import { HAND_OVER_MS, LiveSessions, type LiveSessionsOptions } from './live-sessions.js';
import { PendingUploads } from './pending-work.js';
import { listPage, refuseUnknown } from './registry.js';
import type { Session } from './session.js';
import { type CreationOptions, SessionCreation } from './session-creation.js';
import { SessionFinder } from './session-finder.js';
import { takeOver } from './take-over.js';

export type SessionsOptions = LiveSessionsOptions &
  CreationOptions & {
    readonly scheduler: Pick<
      Scheduler,
      'preflight' | 'open' | 'untangle' | 'step' | 'check' | 'park' | 'dropSaved' | 'forget' | 'adopt'
    >;
  };

/** All sessions of this service: creates, finds, uses and ends them. */
export class Sessions {
  readonly live: LiveSessions;
  private readonly creation: SessionCreation;
  private readonly uploads: PendingUploads;
  /** undefined = sessions live in this process only */
  private readonly finder: SessionFinder | undefined;

  constructor(private readonly options: SessionsOptions) {
    const { clock, keeper } = options;
    const live = new LiveSessions(options);
    this.live = live;
    this.uploads = new PendingUploads(clock);
    this.creation = new SessionCreation(live, options);
    this.finder =
      keeper &&
      new SessionFinder(live.registry, keeper, clock, {
        load: (id, tenant, claimed) => takeOver(id, tenant, live, keeper, options, claimed),
        hasSteps: (session) => live.queueOf(session).isBusy,
        drop: (session) => live.drop(session),
      });
  }

  /**
   * Refuses a request whose headers alone have arrived, if they contain enough information to refuse it.
   *
   * @returns a function to call when the request is complete or gone
   * @throws SESSION_NOT_FOUND, QUEUE_FULL, QUOTA_EXCEEDED, DRAINING
   */
  preflight({ operation, sessionId, bytes }: Preflight, { tenant }: Call): () => void {
    const { scheduler, queuedSteps } = this.options;
    const session = sessionId === undefined ? undefined : this.live.registry.peek(sessionId, tenant);
    // A session that is not in memory may be in the store, which is queried when the request is complete.
    if (sessionId !== undefined && !session && !this.finder) refuseUnknown(sessionId);
    if (OPERATIONS[operation].admission === 'check') return () => {};
    const ahead = { count: this.uploads.count, bytes: this.uploads.bytes };
    // The body may carry an idempotency key of an existing session, for which no further room is needed.
    const isCounted = operation === 'createSession' && !this.finder;
    if (isCounted && !this.live.idempotencyKeys.has(tenant)) this.live.registry.refuseOneMore(tenant, 1);
    // A step behind another one of its session, or behind one that is still being uploaded, waits in the session's queue.
    const step = operation === 'step' ? session : undefined;
    if (step && (this.live.queueOf(step).isBusy || this.uploads.has(step.key))) {
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

  create(request: CreateSessionRequest, call: Call): Promise<SessionInfo> {
    return this.creation.create(request, call);
  }

  get(id: string, { tenant }: Call): SessionInfo | Promise<SessionInfo> {
    const { keeper } = this.options;
    if (!keeper || !this.finder) return this.live.registry.find(id, tenant).describe();
    if (this.live.registry.peek(id, tenant)) return this.finder.use(id, tenant, (session) => session.describe());
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
      : this.live.registry.list(tenant, request);
  }

  update(request: UpdateSessionRequest, { tenant }: Call): SessionInfo | Promise<SessionInfo> {
    const { keeper } = this.options;
    return this.use(request.sessionId, tenant, (session) => {
      admitUpdate(request);
      const change = () => {
        const takeBack = session.update(request);
        this.live.markUsed(session);
        return () => {
          takeBack();
          this.live.markUsed(session);
        };
      };
      if (keeper) return keeper.change(session, change).then(() => session.describe());
      change();
      return session.describe();
    });
  }

  /**
   * @param name id of the session, or `key:` and the idempotency key of its creation, which is stopped if it still runs
   * @throws SESSION_NOT_FOUND, STORE_UNAVAILABLE
   */
  async delete(name: string, { tenant }: Call): Promise<void> {
    const { keeper } = this.options;
    const key = name.startsWith(KEY_PREFIX) ? name.slice(KEY_PREFIX.length) : undefined;
    const id = key === undefined ? name : ((await this.creation.giveUp(tenant, key)) ?? refuseUnknown(name));
    if (!keeper) return this.live.end(this.live.registry.find(id, tenant), 'deleted');
    let existed = await keeper.remove({ tenant, id });
    // A session that is being loaded has been read already.
    await this.finder?.arrivalOf(id, tenant);
    const session = this.live.registry.peek(id, tenant);
    const hasLeft = session !== undefined && this.live.stop(session);
    try {
      if (session && (!existed || session.kept?.deciding)) existed = (await keeper.removeAgain(session)) || existed;
    } finally {
      // A session that another process has deleted was not deleted by this call: the counts of all processes add up.
      if (existed) this.options.onChange(tenant, 'deleted');
      else if (hasLeft) this.options.onChange(tenant, 'moved');
    }
    if (!existed) refuseUnknown(name);
  }

  step(asked: StepRequest, call: Call): Promise<StepAnswer> {
    return Promise.resolve(
      this.use(asked.sessionId, call.tenant, async (session) => {
        const { limits } = this.options;
        admitStep(asked, limits);
        const request = withBudget(asked, limits);
        const expiresAt = expiryOf(call, request.timeBudgetSeconds);
        const answer = this.live.queueOf(session).enter({ ...call, request, expiresAt });
        this.live.markUsed(session);
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
      this.live.beginWork(session);
      try {
        // The session keeps its mesh and state anyway, so only sent positions count while the request waits.
        const waitingBytes = positions?.buffer.byteLength ?? 0;
        return await checkMesh(subject, call, this.options, waitingBytes);
      } finally {
        this.live.endWork(session);
      }
    });
  }

  get stats(): Pick<OperationStats, 'sessions' | 'parked' | 'residentBytes' | 'hostBytes'> {
    const { registry, residency } = this.live;
    const sessions = [...registry.all()];
    return {
      sessions: sessions.length,
      parked: sessions.filter((session) => session.residency === 'PARKED').length,
      residentBytes: residency.deviceBytes,
      hostBytes: registry.hostBytes,
    };
  }

  /** Hands all sessions over to other processes, if a store keeps them. */
  async handOver(): Promise<void> {
    await this.options.keeper?.departure.handOver(this.live.registry.all(), HAND_OVER_MS);
  }

  close(): void {
    this.live.close();
  }

  /** Finds a session in memory at once; with a store, after a query to the store. */
  private use<T>(id: string, tenant: string, work: (session: Session) => T | Promise<T>): T | Promise<T> {
    return this.finder ? this.finder.use(id, tenant, work) : work(this.live.registry.find(id, tenant));
  }
}
