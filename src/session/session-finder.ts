import { IntersticeError } from '../contract/errors.js';
import type { SessionClock } from './call.js';
import type { SessionKeeper } from './keeper.js';
import { isSessionId, type Registry, refuseUnknown } from './registry.js';
import type { Session } from './session.js';
import { type ClaimedSession, SessionMoved } from './session-moved.js';

/** How often a call follows its session before it is refused: each time another process uses it at that moment. */
const MAX_MOVES = 8;

/** ms; work that takes longer does not lengthen the pause */
const MAX_WORK_MS = 5000;

export interface FinderHooks {
  /** Builds a session that is in the store only. @param claimed it, if this process has claimed it already @throws SESSION_NOT_FOUND */
  readonly load: (id: string, tenant: string, claimed?: ClaimedSession) => Promise<Session>;
  /** Whether a step of the session waits or runs here. */
  readonly hasSteps: (session: Session) => boolean;
  /** Frees what this process holds of a session that now belongs to another one. */
  readonly drop: (session: Session) => void;
}

/**
 * Finds the session that a call names if sessions are kept in a store: the one in memory, if the store confirms that
 * this process still holds it, otherwise the one in the store. Calls that arrive meanwhile wait for the same query, so
 * that their order is kept.
 */
export class SessionFinder {
  private readonly arriving = new Map<string, Promise<Session>>();
  /** of sessions that have just moved: all calls wait for the end of one pause, so that their order is kept there, too */
  private readonly pauses = new Map<string, Promise<void>>();
  private readonly loaded = new WeakSet<ClaimedSession>();

  constructor(
    private readonly registry: Registry,
    private readonly keeper: SessionKeeper,
    private readonly clock: SessionClock,
    private readonly hooks: FinderHooks,
  ) {}

  /**
   * Does the work on a session, and repeats it if the session has moved meanwhile.
   *
   * @throws SESSION_NOT_FOUND, STORE_UNAVAILABLE, SESSION_MOVED, and the refusals of the work and of rebuilding a
   *   session
   */
  async use<T>(id: string, tenant: string, work: (session: Session) => T | Promise<T>): Promise<T> {
    const name = nameOf(id, tenant);
    for (let moves = 0; ; moves++) {
      const pause = this.pauses.get(name);
      if (pause) await pause;
      const startedAt = this.clock.monotonicMs();
      const session = await this.find(id, tenant);
      try {
        // Between the query and this line it may have been dropped to make room for another one.
        if (session.hasEnded) throw new SessionMoved('it has left this process');
        return await work(session);
      } catch (thrown) {
        if (!(thrown instanceof SessionMoved)) throw thrown;
        this.hooks.drop(session);
        const { claimed } = thrown;
        if (moves < MAX_MOVES) {
          // This process has just claimed it, so there is no other one to wait for.
          if (claimed) this.loadOnce(claimed, id, tenant);
          else this.beginPause(name, (moves + 1) * Math.min(this.clock.monotonicMs() - startedAt, MAX_WORK_MS));
          continue;
        }
        throw new IntersticeError(
          'SESSION_MOVED',
          'The session moved from process to process while this request ran.',
          {
            cause: thrown,
            retryAfterSeconds: 1,
          },
        );
      }
    }
  }

  /**
   * Two processes that claim at once would fence each other without end, so each waits for a random time, scaled by that of
   * the work. The steps of a session that wait here learn of its move one after the other, in their order: the first of them
   * begins the pause, and the others, like calls that arrive meanwhile, wait for the same one.
   */
  private beginPause(name: string, longestMs: number): void {
    if (this.pauses.has(name)) return;
    const pause = new Promise<void>((resolve) => {
      this.clock.after(Math.random() * longestMs, resolve);
    });
    this.pauses.set(
      name,
      pause.then(() => void this.pauses.delete(name)),
    );
  }

  /** All calls of a step, and the steps behind it, learn of the same claim; it is loaded for the first of them. */
  private loadOnce(claimed: ClaimedSession, id: string, tenant: string): void {
    const name = nameOf(id, tenant);
    if (this.loaded.has(claimed) || this.arriving.has(name)) return;
    this.loaded.add(claimed);
    // The calls ask for it after the pause, if there is one, and hear of a failure then.
    this.arrive(name, this.hooks.load(id, tenant, claimed)).catch(() => {});
  }

  private arrive(name: string, session: Promise<Session>): Promise<Session> {
    const found = session.finally(() => this.arriving.delete(name));
    this.arriving.set(name, found);
    return found;
  }

  /** Resolves when a session that is being loaded is here, or was not found; at once if none is being loaded. */
  async arrivalOf(id: string, tenant: string): Promise<void> {
    await this.arriving.get(nameOf(id, tenant))?.catch(() => {});
  }

  private find(id: string, tenant: string): Promise<Session> | Session {
    const name = nameOf(id, tenant);
    const pending = this.arriving.get(name);
    if (pending) return pending;
    const session = this.registry.peek(id, tenant);
    // A step is compared with the store when it ends, a check is not.
    if (session && this.hooks.hasSteps(session)) return session;
    if (!session && !isSessionId(id)) return refuseUnknown(id);
    return this.arrive(name, this.confirmOrLoad(session, id, tenant));
  }

  private async confirmOrLoad(session: Session | undefined, id: string, tenant: string): Promise<Session> {
    if (!session) return this.hooks.load(id, tenant);
    try {
      await this.keeper.confirm(session);
    } catch (thrown) {
      if (!(thrown instanceof SessionMoved)) throw thrown;
      this.hooks.drop(session);
      return this.hooks.load(id, tenant);
    }
    // It may have ended during the query.
    return session.hasEnded ? this.hooks.load(id, tenant) : session;
  }
}

const nameOf = (id: string, tenant: string): string => JSON.stringify([tenant, id]);
