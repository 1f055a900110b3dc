import type { SessionClock } from './clock.js';

/** ms; who takes longer to send a body than this is not counted on any more, and holds up nobody */
const SOON_MS = 5000;

/**
 * Requests that were let through on their heads and whose bodies are on their way. Without counting them a whole crowd
 * that comes at once would be let through for one place, send its bodies, and be refused then.
 */
export class Announced {
  count = 0;

  constructor(private readonly clock: SessionClock) {}

  /** @returns to be called when the request is whole, or gone; further calls do nothing */
  add(): () => void {
    this.count++;
    let isOut = false;
    const leave = () => {
      if (!isOut) this.count--;
      isOut = true;
      callOff();
    };
    const callOff = this.clock.after(SOON_MS, leave);
    return leave;
  }
}
