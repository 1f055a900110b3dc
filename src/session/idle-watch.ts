import type { SessionClock } from './clock.js';
import type { Session } from './session.js';

/** Ends sessions that nobody has used for their idle timeout. One that works, or whose step waits, is in use. */
export class IdleWatch {
  private readonly stops = new Map<Session, () => void>();
  private readonly idleSince = new Map<Session, number>();
  private isClosed = false;

  constructor(
    private readonly clock: SessionClock,
    private readonly expire: (session: Session) => void,
  ) {}

  /** Counts anew: the session has been used, has finished its work, or has another timeout. */
  restart(session: Session): void {
    this.stop(session);
    if (session.isGone || this.isClosed) return;
    this.idleSince.set(session, this.clock.monotonicMs());
    this.arm(session);
  }

  /** Stops counting: it works, or it is gone. */
  stop(session: Session): void {
    this.stops.get(session)?.();
    this.stops.delete(session);
    this.idleSince.delete(session);
  }

  close(): void {
    this.isClosed = true;
    for (const session of [...this.stops.keys()]) this.stop(session);
  }

  private arm(session: Session): void {
    if (session.idleTimeoutSeconds === 0 || session.workCount > 0) return;
    const left = this.idleSince.get(session)! + session.idleTimeoutSeconds * 1000 - this.clock.monotonicMs();
    // A timer may be early by a fraction, and counts no further than 24 days.
    this.stops.set(
      session,
      this.clock.after(left, () => {
        if (this.idleSince.get(session)! + session.idleTimeoutSeconds * 1000 > this.clock.monotonicMs()) {
          this.arm(session);
        } else {
          this.stop(session);
          this.expire(session);
        }
      }),
    );
  }
}
