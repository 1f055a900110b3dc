import type { SessionName, SessionStore, StoredSession } from '../store/session-store.js';
import type { SessionClock } from './call.js';
import { refOf, TOUCH_SHARE, ttlOf } from './kept-records.js';
import type { Session, SessionSettings } from './session.js';
import { unpack } from './stored-session.js';

/**
 * Time between two renewals while a session has work, as a share of its idle timeout. It is more than
 * {@link TOUCH_SHARE}, so that each of them is made, and so much less than the time to live that one may fail.
 */
const RENEWAL_SHARE = 1 / 4;

export interface LifetimeOptions {
  readonly store: SessionStore;
  readonly clock: SessionClock;
}

/**
 * The time to live of sessions in the store. A use renews it; while a session has work or is being loaded, it is renewed
 * at intervals, because that may take longer than the time to live. If a renewal is lost or a session ends in spite of
 * it, the next use of the session detects that.
 */
export class KeptLifetime {
  private readonly renewals = new Map<Session, () => void>();

  constructor(private readonly options: LifetimeOptions) {}

  /** Called at each use of a session, when its work begins or ends, and when it gets another idle timeout. */
  use(session: Session): void {
    this.end(session);
    if (!session.kept || session.hasEnded) return;
    this.touch(session);
    if (session.workCount === 0) return;
    this.renewals.set(
      session,
      this.repeat(session, () => this.touch(session)),
    );
  }

  /** Called when a session leaves this process. */
  end(session: Session): void {
    this.renewals.get(session)?.();
    this.renewals.delete(session);
  }

  /** Called when this process has claimed a session. @returns a function to call when it is loaded, or cannot be */
  beginLoading(name: SessionName, { epoch, settings }: StoredSession): () => void {
    const known = unpack<SessionSettings>(settings);
    // Another version of the service has written it, so it is not loaded.
    if (!known) return () => {};
    const renew = () => {
      this.options.store.touch({ ...name, epoch }, ttlOf(known)).catch(() => {});
    };
    renew();
    return this.repeat(known, renew);
  }

  /** Renews the time to live, unless that was just done. */
  private touch(session: Session): void {
    const { store, clock } = this.options;
    const kept = session.kept!;
    if (session.idleTimeoutSeconds === 0 || kept.isBehind) return;
    const now = clock.monotonicMs();
    if (now - kept.touchedAt < TOUCH_SHARE * session.idleTimeoutSeconds * 1000) return;
    kept.touchedAt = now;
    store.touch(refOf(session), ttlOf(session)).catch(() => {});
  }

  /** @returns a function that ends the renewals */
  private repeat({ idleTimeoutSeconds }: Pick<SessionSettings, 'idleTimeoutSeconds'>, renew: () => void): () => void {
    if (idleTimeoutSeconds === 0) return () => {};
    let cancel = () => {};
    const wait = () => {
      cancel = this.options.clock.after(RENEWAL_SHARE * idleTimeoutSeconds * 1000, () => {
        renew();
        wait();
      });
    };
    wait();
    return () => cancel();
  }
}
