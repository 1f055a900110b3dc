import type { StoredSession } from '../store/session-store.js';

/** A session that this process has just taken over, as the store had it. */
export interface ClaimedSession {
  readonly stored: StoredSession;
  /** of the store when it was claimed: the store may lose everything while the session is being built */
  readonly generation: string;
}

/** The session has moved to another process, or has ended elsewhere. It must be loaded again. */
export class SessionMoved extends Error {
  override readonly name = 'SessionMoved';

  /** @param claimed the session as it is to be loaded, if this process has claimed it already */
  constructor(
    message: string,
    readonly claimed?: ClaimedSession,
  ) {
    super(message);
  }
}

/** The session has been deleted or has expired, and the store is the one that had it. */
export class SessionGone extends SessionMoved {}
