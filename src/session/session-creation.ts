import { cancelled } from '../contract/errors.js';
import type { EngineDescription, Limits } from '../contract/server-info.js';
import type { CreateSessionRequest, SessionInfo } from '../contract/sessions.js';
import type { Scheduler } from '../lanes/scheduler.js';
import type { KeyedSession } from '../store/session-store.js';
import { admitCreation } from './admission.js';
import { type Call, claimOf, expiryOf, type SessionClock, withBudget } from './call.js';
import type { CreationWork, KeyedCreation } from './idempotency.js';
import type { SessionKeeper } from './keeper.js';
import type { LiveSessions, LiveSessionsOptions } from './live-sessions.js';
import { ownCopy } from './payload.js';
import { type Reservation, refuseUnknown } from './registry.js';
import { minHostBytes, Session } from './session.js';
import { SharedWork } from './shared-work.js';
import { type CreationCall, openingOf } from './untangle.js';

export interface CreationOptions {
  readonly scheduler: Pick<Scheduler, 'open' | 'untangle' | 'forget'>;
  readonly clock: SessionClock;
  readonly limits: Limits;
  readonly allowUnverified: boolean;
  readonly engine: EngineDescription;
  /** for sessions that request no timeout; 0 = until deleted */
  readonly idleTimeoutSeconds: number;
  readonly onChange: LiveSessionsOptions['onChange'];
  /** undefined = sessions live in this process only */
  readonly keeper?: SessionKeeper | undefined;
}

/** Creates sessions: a request and its repetitions under one idempotency key create one. */
export class SessionCreation {
  constructor(
    private readonly live: LiveSessions,
    private readonly options: CreationOptions,
  ) {}

  /** @throws what the opening of a scene refuses, QUOTA_EXCEEDED, TOO_LARGE, OUT_OF_DEVICE_MEMORY */
  async create(request: CreateSessionRequest, call: Call): Promise<SessionInfo> {
    admitCreation(request, this.options.limits);
    if (call.context.signal?.aborted) throw cancelled();
    const { keeper } = this.options;
    const { tenant } = call;
    const { timeBudgetSeconds } = request;
    const expiresAt = expiryOf(call, withBudget(request, this.options.limits).timeBudgetSeconds);
    const known = request.idempotencyKey ? this.live.idempotencyKeys.find(tenant, request) : undefined;
    if (known instanceof Session && !keeper) {
      this.live.markUsed(known);
      return known.describe();
    }
    if (keeper && !(known instanceof SharedWork)) {
      const kept = request.idempotencyKey ? await this.findKept(keeper, tenant, request.idempotencyKey) : undefined;
      if (kept) keeper.creation.refuseOtherPayload(kept, request);
      const info =
        kept &&
        ((await keeper.describe({ tenant, id: kept.id })) ?? this.live.registry.peek(kept.id, tenant)?.describe());
      if (info) return info;
    }
    const begin = () => {
      // While the store was asked, or other sessions made room, another call may have begun to create it.
      const running = known instanceof SharedWork ? known : this.runningCreation(request, tenant);
      const work = running ?? this.startCreation(request, call);
      return work.join({ ...call, expiresAt, timeBudgetSeconds });
    };
    const session = (await this.live.withRoom(begin)).value;
    return session instanceof Session ? session.describe() : session;
  }

  /**
   * Ends a creation whose answer no caller wants any longer, if it still runs.
   *
   * @returns the id of the session that it created; undefined = none
   * @throws STORE_UNAVAILABLE
   */
  async giveUp(tenant: string, key: string): Promise<string | undefined> {
    const { idempotencyKeys } = this.live;
    for (let known = idempotencyKeys.of(tenant, key); known; known = idempotencyKeys.of(tenant, key)) {
      if (known.session) return known.session.id;
      known.work.cancel(cancelled());
      await known.ended;
    }
    const { keeper } = this.options;
    return keeper && (await this.findKept(keeper, tenant, key))?.id;
  }

  /**
   * The session of a key in the store, also if the store has lost it and this process still has it: it is then written again.
   *
   * @throws STORE_UNAVAILABLE
   */
  private async findKept(keeper: SessionKeeper, tenant: string, key: string): Promise<KeyedSession | undefined> {
    const known = await keeper.creation.findKey(tenant, key);
    const held = known ? undefined : this.live.withKey(tenant, key);
    if (!held) return known;
    await this.live.review(held);
    const found = await keeper.creation.findKey(tenant, key);
    // The store may have lost it once more.
    return found ?? (held.hasEnded ? undefined : { id: held.id, digest: held.kept!.key!.digest });
  }

  /** The creation under the key of the request that runs in this process. @throws INVALID_PARAMETER for another payload */
  private runningCreation(request: CreateSessionRequest, tenant: string): CreationWork | undefined {
    const known = request.idempotencyKey ? this.live.idempotencyKeys.find(tenant, request) : undefined;
    return known instanceof SharedWork ? known : undefined;
  }

  private startCreation(request: CreateSessionRequest, call: Call): CreationWork {
    const place = this.live.registry.reserve(call.tenant, minHostBytes(request.mesh, request.start));
    // Copied at once, so that the session keeps the same data that the lane checks.
    const own = ownCopy(request);
    const work = new SharedWork<Session | SessionInfo, CreationCall>(this.options.clock);
    const ended = this.open(own, call, place, work);
    if (request.idempotencyKey) this.live.idempotencyKeys.begin(call.tenant, { request: own, work, ended });
    return work;
  }

  /** A store keeps the keys of its sessions, which any process may end: this one keeps those of creations that run here. */
  private settleKey(tenant: string, creation: Omit<KeyedCreation, 'ended'>, session: Session): void {
    const { idempotencyKeys } = this.live;
    if (this.options.keeper) idempotencyKeys.release(tenant, creation);
    else idempotencyKeys.succeed(tenant, creation, session);
  }

  private async open(request: CreateSessionRequest, call: Call, place: Reservation, work: CreationWork): Promise<void> {
    const { scheduler, clock, allowUnverified, onChange, keeper } = this.options;
    const { mesh, label = '' } = request;
    const { id, key } = place;
    const { receivedAt, queuedAt, tenant } = call;
    try {
      // The call joins the work before anything can end it.
      await Promise.resolve();
      const opening = await openingOf(request, work, scheduler);
      const state = { key, meshVersion: 0, mesh, stateVersion: 0, start: opening.start };
      const claim = claimOf(call, undefined, key);
      const opened = await scheduler.open(
        { state, parameters: opening.parameters, receivedAt, queuedAt },
        { signal: work.signal, claim },
      );
      if (work.isAbandoned) throw cancelled();
      this.live.residency.admit(opened.residentBytes);
      const idleTimeoutSeconds = request.idleTimeoutSeconds ?? this.options.idleTimeoutSeconds;
      const { priority } = claim;
      const session = new Session(
        { id, key, tenant, mesh, ...opening, label, idleTimeoutSeconds, created: clock.wallMs(), priority },
        opened,
        { allowUnverified, engine: { description: this.options.engine } },
      );
      const other = await keeper?.creation.create(session, request);
      if (other !== undefined) {
        const info = await keeper!.describe({ tenant, id: other });
        place.release();
        if (request.idempotencyKey) this.live.idempotencyKeys.release(tenant, { request, work });
        this.live.inBackground('forget a session', scheduler.forget(key));
        work.succeed(info ?? refuseUnknown(other));
        return;
      }
      if (keeper && work.isAbandoned && !request.idempotencyKey) {
        // The caller has gone without the id, and no key leads back to the session.
        await keeper.remove({ tenant, id });
        throw cancelled();
      }
      this.live.enter(session, place);
      if (request.idempotencyKey) this.settleKey(tenant, { request, work }, session);
      onChange(tenant, 'created');
      work.succeed(session);
    } catch (thrown) {
      place.release();
      if (request.idempotencyKey) this.live.idempotencyKeys.release(tenant, { request, work });
      this.live.inBackground('forget a session', scheduler.forget(key));
      work.fail(thrown);
    }
  }
}
