import { StoreDown } from '../store/session-store.js';
import type { SessionClock } from './call.js';
import type { KeptCheckpoints } from './kept-checkpoints.js';
import type { Session } from './session.js';
import { SessionGone, SessionMoved } from './session-moved.js';

export interface DepartureOptions {
  readonly clock: SessionClock;
  readonly checkpoints: KeptCheckpoints;
  /** compares a session with the store, and writes what that lacks; throws SessionMoved, StoreDown */
  readonly compare: (session: Session) => Promise<void>;
  /** reports a fault of a session */
  readonly say: (session: Session, message: string) => void;
}

/** Sessions that leave this process: because it ends, or because they have been idle. */
export class KeptDeparture {
  constructor(private readonly options: DepartureOptions) {}

  /**
   * Writes to the store the frames that it lacks, and copies the scenes there, so that other processes continue quickly.
   * Begins nothing after `ms`, waits for nothing longer than that, and reports every session whose frames were not written.
   */
  async handOver(sessions: Iterable<Session>, ms: number): Promise<void> {
    const { clock } = this.options;
    const end = clock.monotonicMs() + ms;
    // Scenes can be computed again; frames that only this process has cannot.
    const rank = ({ kept }: Session) => (kept?.isBehind ? 0 : 1);
    for (const session of [...sessions].sort((a, b) => rank(a) - rank(b))) {
      const left = end - clock.monotonicMs();
      if (left > 0) await this.within(left, this.handOverOne(session));
      if (session.kept?.isBehind && !session.hasEnded)
        this.options.say(session, 'A session ends although the store lacks some of its frames.');
    }
  }

  /**
   * Prepares an idle session to leave this process, which goes on: as {@link handOver} does.
   *
   * @returns whether the store has confirmed within `ms` that it has all frames, or that the session is no longer this
   *   process's
   */
  async letGo(session: Session, ms: number): Promise<boolean> {
    let isStored = false;
    const onStored = () => {
      isStored = true;
    };
    await this.within(ms, this.handOverOne(session, onStored));
    return isStored;
  }

  /** Waits for the work, but no longer than `ms`: the store may take that long for an answer. */
  private async within(ms: number, work: Promise<void>): Promise<void> {
    let stop = () => {};
    let isLate = false;
    const late = new Promise<void>((resolve) => {
      stop = this.options.clock.after(ms, () => {
        isLate = true;
        resolve();
      });
    });
    work.catch((err) => isLate && this.options.checkpoints.reportFailure(err));
    await Promise.race([work, late]).finally(stop);
  }

  /** @param onStored called before the scene is copied, which can also be computed again */
  private async handOverOne(session: Session, onStored = () => {}): Promise<void> {
    const { kept } = session;
    if (!kept) return;
    // A checkpoint under way would be cut off with the connection; the code that began it reports its failure.
    await kept.writing?.catch(() => {});
    if (session.hasEnded) return;
    try {
      await this.options.compare(session);
      onStored();
      if (kept.logged !== kept.loggedAtCheckpoint) await (await this.options.checkpoints.write(session))?.written;
    } catch (thrown) {
      // The store lacks nothing of a session that has ended.
      if (thrown instanceof SessionGone) kept.isBehind = false;
      if (thrown instanceof SessionMoved) onStored();
      else if (!(thrown instanceof StoreDown)) throw thrown;
    }
  }
}
