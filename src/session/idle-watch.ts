import type { SessionClock } from './call.js';
import type { Session } from './session.js';

/** Expires sessions that have not been used for their idle timeout. A session with pending work is in use. */
export class IdleWatch {
  private readonly cancelTimers = new Map<Session, () => void>();
  private readonly idleSince = new Map<Session, number>();
  private isClosed = false;

  constructor(
    private readonly clock: SessionClock,
    private readonly expire: (session: Session) => void,
  ) {}

  /** Restarts the timeout: the session was used, has finished its work, or has another timeout. */
  restart(session: Session): void {
    this.stop(session);
    if (session.hasEnded || this.isClosed) return;
    this.idleSince.set(session, this.clock.monotonicMs());
    this.startTimer(session);
  }

  /** Stops the timeout: the session works, or has ended. */
  stop(session: Session): void {
    this.cancelTimers.get(session)?.();
    this.cancelTimers.delete(session);
    this.idleSince.delete(session);
  }

  close(): void {
    this.isClosed = true;
    for (const session of [...this.cancelTimers.keys()]) this.stop(session);
  }

  private startTimer(session: Session): void {
    if (session.idleTimeoutSeconds === 0 || session.workCount > 0) return;
    const left = this.idleSince.get(session)! + session.idleTimeoutSeconds * 1000 - this.clock.monotonicMs();
    // A timer may fire early: by a fraction of a millisecond, or after at most 24 days.
    this.cancelTimers.set(
      session,
      this.clock.after(left, () => {
        if (this.idleSince.get(session)! + session.idleTimeoutSeconds * 1000 > this.clock.monotonicMs()) {
          this.startTimer(session);
        } else {
          this.stop(session);
          this.expire(session);
        }
      }),
    );
  }
}
