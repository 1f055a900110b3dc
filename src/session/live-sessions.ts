import { IntersticeError } from '../contract/errors.js';
import type { SessionChange } from '../contract/events.js';
import type { Limits } from '../contract/server-info.js';
import type { Scheduler } from '../lanes/scheduler.js';
import { StoreDown } from '../store/session-store.js';
import { IdempotencyKeys } from './idempotency.js';
import { IdleWatch } from './idle-watch.js';
import { unavailable } from './kept-records.js';
import { type Quotas, Registry, type Reservation } from './registry.js';
import { Residency } from './residency.js';
import type { Session } from './session.js';
import { SessionMoved } from './session-moved.js';
import { StepQueue, type StepServices } from './step-queue.js';
import { StoreWatch } from './store-watch.js';

export interface LiveSessionsOptions extends Omit<StepServices, 'registry' | 'residency' | 'withRoom'> {
  readonly scheduler: StepServices['scheduler'] & Pick<Scheduler, 'park' | 'dropSaved' | 'forget'>;
  readonly limits: Pick<Limits, 'maxDeviceBytes'>;
  readonly quotas: Quotas;
  readonly onChange: (tenant: string, change: SessionChange) => void;
  /** called if work fails for which no caller waits */
  readonly onBackgroundFailure: (what: string, reason: unknown) => void;
}

/** ms for copies of scenes to the store, when this process ends or needs room */
export const HAND_OVER_MS = 5000;

/** The sessions that this process has in memory, until they leave it, and the memory that they take. */
export class LiveSessions {
  readonly registry: Registry;
  readonly residency: Residency;
  readonly idempotencyKeys = new IdempotencyKeys();
  private readonly idle: IdleWatch;
  private readonly storeWatch: StoreWatch | undefined;
  private readonly queues = new Map<Session, StepQueue>();
  private readonly stepServices: StepServices;

  constructor(private readonly options: LiveSessionsOptions) {
    const { scheduler, clock, limits, quotas, queuedSteps, onChange, onFinding, trace, keeper } = options;
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
    this.storeWatch =
      keeper &&
      new StoreWatch(
        clock,
        () => residency.idle(),
        (session) => this.review(session),
        (thrown) => options.onBackgroundFailure('compare a session with the store', thrown),
      );
    const withRoom: StepServices['withRoom'] = (take) => this.withRoom(take);
    this.stepServices = { scheduler, clock, queuedSteps, registry, residency, withRoom, onFinding, trace, keeper };
  }

  /** Called when a session was created or loaded in this process. */
  enter(session: Session, place: Reservation): void {
    place.fill(session);
    const queue = new StepQueue(session, this.stepServices, (change) =>
      change === 'busy' ? this.beginWork(session) : this.endWork(session),
    );
    this.queues.set(session, queue);
    this.markUsed(session);
  }

  queueOf(session: Session): StepQueue {
    return this.queues.get(session)!;
  }

  /**
   * Takes room in this process. If a store keeps the sessions and there is none, idle sessions go on there, least
   * recently used first, until there is. One that the store does not confirm stays: while the store is down, only this
   * process can continue it.
   *
   * @param take throws QUOTA_EXCEEDED, without any effect, as long as there is no room; what else it throws is thrown at once
   * @throws QUOTA_EXCEEDED if no idle session can leave; STORE_UNAVAILABLE if one could if the store were not down
   */
  async withRoom<T>(take: () => T | Promise<T>): Promise<T> {
    const { keeper } = this.options;
    for (const session of keeper ? this.residency.idle() : []) {
      try {
        // What it has begun is not awaited here: a refusal that comes later is not about this room.
        return take();
      } catch (thrown) {
        if (!(thrown instanceof IntersticeError) || thrown.code !== 'QUOTA_EXCEEDED') throw thrown;
      }
      const isStored = await keeper!.departure.letGo(session, HAND_OVER_MS);
      const { health } = keeper!.store;
      if (!isStored && !health.isUp) throw unavailable(new StoreDown());
      // Meanwhile it may have got work, and even frames that only this process has.
      if (isStored && session.workCount === 0 && !session.kept?.isBehind) this.drop(session);
    }
    return take();
  }

  /** Frees what this process holds of a session that continues in the store. */
  drop(session: Session): void {
    if (this.leave(session, new SessionMoved('it is another process’s')))
      this.options.onChange(session.tenant, 'moved');
  }

  /** The session that was created under an idempotency key, for the case that the store has lost it. */
  withKey(tenant: string, key: string): Session | undefined {
    const held = [...this.registry.all()].filter((one) => one.tenant === tenant && one.kept?.key?.name === key);
    // An earlier one has ended in another process: otherwise the key would not have been free.
    return held.at(-1);
  }

  /** Compares a session with the store: writes what that has lost, and drops a session that has left. @throws STORE_UNAVAILABLE */
  async review(session: Session): Promise<void> {
    try {
      if (!session.hasEnded) await this.options.keeper?.review(session);
    } catch (thrown) {
      if (!(thrown instanceof SessionMoved)) throw thrown;
      this.drop(session);
    }
  }

  markUsed(session: Session): void {
    if (session.hasEnded) return;
    this.options.keeper?.lifetime.use(session);
    session.lastUsed = this.options.clock.wallMs();
    this.residency.touch(session);
    this.idle.restart(session);
  }

  beginWork(session: Session): void {
    session.workCount++;
    this.idle.stop(session);
    this.options.keeper?.lifetime.use(session);
  }

  endWork(session: Session): void {
    session.workCount--;
    this.markUsed(session);
    this.residency.settle();
  }

  end(session: Session, change: 'deleted' | 'expired'): void {
    if (!this.stop(session)) return;
    const { keeper, onChange } = this.options;
    const tell = (told: SessionChange) => onChange(session.tenant, told);
    // The process that holds a session counts it: the counts of all processes add up.
    if (keeper && change === 'expired')
      this.inBackground(
        'end a session',
        keeper.expire(session).then((isOurs) => tell(isOurs ? change : 'moved')),
      );
    else tell(change);
  }

  /** Ends a session here, of which it is not known yet whether another process has ended it. @returns false if it has left before */
  stop(session: Session): boolean {
    const hint = 'Create another session from your mesh and last answer.';
    return this.leave(
      session,
      new IntersticeError('CANCELLED', 'The session was deleted before this step was done.', { hint }),
    );
  }

  /** @param reason for the steps that wait or run @returns false if the session has left before */
  private leave(session: Session, reason: Error): boolean {
    if (!this.registry.remove(session)) return false;
    this.idle.stop(session);
    this.options.keeper?.lifetime.end(session);
    this.residency.forget(session);
    this.idempotencyKeys.forget(session);
    this.queues.get(session)?.cancel(reason);
    this.queues.delete(session);
    this.inBackground('forget a session', this.options.scheduler.forget(session.key));
    return true;
  }

  /** If host memory is short, drops the pairs of a parked session: its next step searches anew and reports that. */
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

  inBackground(what: string, work: Promise<unknown>): void {
    work.catch((reason: unknown) => this.options.onBackgroundFailure(what, reason));
  }

  close(): void {
    this.idle.close();
    this.storeWatch?.close();
  }
}
