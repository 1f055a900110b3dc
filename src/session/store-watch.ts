import { IntersticeError } from '../contract/errors.js';
import type { SessionClock } from './call.js';
import type { Session } from './session.js';

/**
 * ms between two looks, and so about the time for which a copy of a session that has left is kept. One look costs a small query
 * for each idle session.
 */
const LOOK_MS = 30_000;

/**
 * Compares idle sessions with the store at intervals. Otherwise a copy of a session that another process has deleted or claimed
 * would take memory until its idle timeout, or for ever, and would be written again after the store has lost everything;
 * and a session that the store has lost would exist in one memory only until its next use.
 */
export class StoreWatch {
  private cancel: () => void = () => {};
  private isClosed = false;
  private isLooking = false;

  /** @param review compares a session with the store @throws (review) STORE_UNAVAILABLE */
  constructor(
    private readonly clock: SessionClock,
    private readonly idle: () => readonly Session[],
    private readonly review: (session: Session) => Promise<void>,
    private readonly onFailure: (thrown: unknown) => void,
  ) {
    this.wait();
  }

  close(): void {
    this.isClosed = true;
    this.cancel();
  }

  private wait(): void {
    this.cancel = this.clock.after(LOOK_MS, () => {
      this.wait();
      void this.look();
    });
  }

  /** One after the other, so that the queries do not delay those for which callers wait. */
  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      for (const session of this.idle()) if (!this.isClosed && session.workCount === 0) await this.review(session);
    } catch (thrown) {
      // The next look tries again when the store answers.
      const isDown = thrown instanceof IntersticeError && thrown.code === 'STORE_UNAVAILABLE';
      if (!isDown) this.onFailure(thrown);
    } finally {
      this.isLooking = false;
    }
  }
}
