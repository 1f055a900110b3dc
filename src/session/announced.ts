import type { SessionClock } from './clock.js';

/** ms; who takes longer to send a body than this is not counted on any more, and holds up nobody */
const SOON_MS = 5000;

/**
 * Requests that were let through on their heads and whose bodies are on their way. Without counting them a whole crowd
 * that comes at once would be let through for one place, send its bodies, and be refused then.
 */
export class Announced {
  count = 0;
  /** of their bodies, where their heads said so */
  bytes = 0;

  /** how many of them are steps of a session, by its key */
  private readonly ofSession = new Map<number, number>();

  constructor(private readonly clock: SessionClock) {}

  /** Whether a step of this session is on its way. */
  has(session: number): boolean {
    return this.ofSession.has(session);
  }

  /** @param session of a step @param bytes of the body @returns to be called when the request is whole, or gone; further calls do nothing */
  add(session?: number, bytes = 0): () => void {
    this.book(session, 1, bytes);
    let isOut = false;
    const leave = () => {
      if (!isOut) this.book(session, -1, -bytes);
      isOut = true;
      callOff();
    };
    const callOff = this.clock.after(SOON_MS, leave);
    return leave;
  }

  private book(session: number | undefined, change: 1 | -1, bytes: number): void {
    this.count += change;
    this.bytes += bytes;
    if (session === undefined) return;
    const own = (this.ofSession.get(session) ?? 0) + change;
    if (own > 0) this.ofSession.set(session, own);
    else this.ofSession.delete(session);
  }
}
