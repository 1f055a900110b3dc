import { IntersticeError } from '../contract/errors.js';
import type { Registry } from './registry.js';
import type { Session } from './session.js';

/** Seconds: about a step, which is what has to end before memory comes free. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Keeps what engines hold for sessions within a limit, by parking idle sessions, least recently used first. It decides by
 * the bytes that engines report and by the order of use, never by free memory or by time: the same history, the same
 * decisions. Sessions at work are never parked, so that while they work the limit may be exceeded by what they hold.
 */
export class Residency {
  /** idle or not, least recently used first: a Set keeps the order in which its members were added */
  private readonly byUse = new Set<Session>();

  /**
   * @param maxDeviceBytes 0 = no limit
   * @param free tells the worker to let go of what it holds of a session
   */
  constructor(
    private readonly registry: Registry,
    private readonly maxDeviceBytes: number,
    private readonly free: (session: Session) => void,
    private readonly onChange: (session: Session, change: 'parked' | 'resumed') => void,
  ) {}

  get deviceBytes(): number {
    let sum = 0;
    for (const session of this.registry.all()) sum += session.deviceBytes;
    return sum;
  }

  /** The session is used now; from the first time on it is one of those that may be parked. */
  touch(session: Session): void {
    this.byUse.delete(session);
    this.byUse.add(session);
  }

  forget(session: Session): void {
    this.byUse.delete(session);
  }

  /** Frees what the worker holds of a session, or may have built for a step of it that came to nothing. */
  park(session: Session): void {
    if (session.isGone) return;
    const isNews = session.residency === 'RESIDENT';
    session.residency = 'PARKED';
    this.free(session);
    if (isNews) this.onChange(session, 'parked');
  }

  /** A step of the session has been answered: its scene is there. */
  resume(session: Session): void {
    if (session.residency === 'RESIDENT') return;
    session.residency = 'RESIDENT';
    this.onChange(session, 'resumed');
  }

  /** Parks others until `session`, which is about to work, fits in at the size it had last, or nobody idle is left. */
  makeRoomFor(session: Session): void {
    this.parkIdle(session.residency === 'PARKED' ? session.sceneBytes : 0, session);
  }

  /** After work: parks what is too much. The one that has just worked goes last. */
  settle(): void {
    this.parkIdle(0);
  }

  /**
   * Whether a scene of this size may stay. Others are parked for it; they are not when it could never fit.
   *
   * @param bytes that the new scene holds; not yet counted
   * @throws TOO_LARGE when it is larger than all the memory there is; OUT_OF_DEVICE_MEMORY when what works now leaves too
   *   little of it
   */
  admit(bytes: number): void {
    this.refuseHopeless(bytes);
    if (this.parkIdle(bytes)) return;
    throw new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `the session needs ${bytes} bytes of device memory; ${this.deviceBytes} of ${this.maxDeviceBytes} are held by sessions at work`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }

  /** @throws TOO_LARGE with demand and limit */
  refuseHopeless(bytes: number): void {
    if (this.maxDeviceBytes === 0 || bytes <= this.maxDeviceBytes) return;
    throw new IntersticeError(
      'TOO_LARGE',
      `the session needs ${bytes} bytes of device memory; the limit is ${this.maxDeviceBytes}`,
    );
  }

  /** @returns whether `extra` bytes fit in beside what is held now */
  private parkIdle(extra: number, except?: Session): boolean {
    if (this.maxDeviceBytes === 0) return true;
    let held = this.deviceBytes;
    for (const session of this.byUse) {
      if (held + extra <= this.maxDeviceBytes) break;
      if (session === except || session.workCount > 0 || session.deviceBytes === 0) continue;
      held -= session.deviceBytes;
      this.park(session);
    }
    return held + extra <= this.maxDeviceBytes;
  }
}
