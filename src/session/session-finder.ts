import { IntersticeError } from '../contract/errors.js';
import type { SessionClock } from './call.js';
import type { SessionKeeper } from './keeper.js';
import { SessionMoved } from './keeper.js';
import { isSessionId, type Registry, refuseUnknown } from './registry.js';
import type { Session } from './session.js';

/** Times that a call follows its session before it is refused: each takes another process that uses the session at that very moment. */
const MAX_MOVES = 8;

/** ms; a step that takes longer is not waited for in full */
const MAX_WORK_MS = 5000;

export interface FinderHooks {
  /** Builds a session that is in the store only. @throws SESSION_NOT_FOUND */
  readonly load: (id: string, tenant: string) => Promise<Session>;
  /** Frees what this process holds of a session that is another one's now. */
  readonly drop: (session: Session) => void;
}

/**
 * Finds the session that a call names where sessions are kept in a store: the one in memory, if the store says that it is still this
 * process that has it, else the one in the store. Calls that come meanwhile wait for the same question, so that their order stays.
 */
export class SessionFinder {
  private readonly arriving = new Map<string, Promise<Session>>();

  constructor(
    private readonly registry: Registry,
    private readonly keeper: SessionKeeper,
    private readonly clock: SessionClock,
    private readonly hooks: FinderHooks,
  ) {}

  /**
   * Does the work on a session, again if the session turns out to have moved meanwhile.
   *
   * @throws SESSION_NOT_FOUND, STORE_UNAVAILABLE, SESSION_MOVED, and what the work and the rebuilding of a session are refused with
   */
  async use<T>(id: string, tenant: string, work: (session: Session) => T | Promise<T>): Promise<T> {
    for (let moves = 0; ; moves++) {
      const startedAt = this.clock.monotonicMs();
      const session = await this.find(id, tenant);
      try {
        return await work(session);
      } catch (thrown) {
        if (!(thrown instanceof SessionMoved)) throw thrown;
        this.hooks.drop(session);
        if (moves < MAX_MOVES) {
          // Two processes that claim at once would fence each other for ever: each waits at random, and longer than the work takes.
          const worked = this.clock.monotonicMs() - startedAt;
          const pause = Math.random() * (moves + 1) * Math.min(worked, MAX_WORK_MS);
          await new Promise<void>((resolve) => this.clock.after(pause, resolve));
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

  /** Resolves when a session that is being loaded is here, or was not found; at once where none is. */
  async arrivalOf(id: string, tenant: string): Promise<void> {
    await this.arriving.get(nameOf(id, tenant))?.catch(() => {});
  }

  private find(id: string, tenant: string): Promise<Session> | Session {
    const name = nameOf(id, tenant);
    const pending = this.arriving.get(name);
    if (pending) return pending;
    const session = this.registry.peek(id, tenant);
    // What it does now is compared with the store when it ends.
    if (session && session.workCount > 0) return session;
    if (!session && !isSessionId(id)) return refuseUnknown(id);
    const found = this.confirmOrLoad(session, id, tenant).finally(() => this.arriving.delete(name));
    this.arriving.set(name, found);
    return found;
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
    // It may have ended while the store was asked.
    return session.hasEnded ? this.hooks.load(id, tenant) : session;
  }
}

const nameOf = (id: string, tenant: string): string => JSON.stringify([tenant, id]);
