import { IntersticeError } from '../contract/errors.js';
import type { Registry } from './registry.js';
import type { Session } from './session.js';

/** Seconds, about the time of a step, which must end before memory is freed. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Keeps the memory that lanes hold for sessions within a limit: it parks idle sessions, least recently used first. It
 * decides by the bytes that lanes report and by the order of use, never by free memory or by time, so the same history leads
 * to the same decisions. Sessions with pending work are never parked; while they work, their memory may exceed the limit.
 */
export class Residency {
  /** all sessions, least recently used first: a Set keeps the order in which its members were added */
  private readonly byUse = new Set<Session>();

  /**
   * @param maxDeviceBytes 0 = no limit
   * @param free frees what the lane holds for a session
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

  /** Marks the session as the most recently used one; the first call adds it. */
  touch(session: Session): void {
    this.byUse.delete(session);
    this.byUse.add(session);
  }

  forget(session: Session): void {
    this.byUse.delete(session);
  }

  /** Sessions without pending work, least recently used first. */
  idle(): readonly Session[] {
    return [...this.byUse].filter(({ workCount }) => workCount === 0);
  }

  /** Frees what the lane holds for a session, including anything that it has built for a step that failed. */
  park(session: Session): void {
    if (session.hasEnded) return;
    const wasResident = session.residency === 'RESIDENT';
    session.residency = 'PARKED';
    this.free(session);
    if (wasResident) this.onChange(session, 'parked');
  }

  /** After a step of the session: the lane holds its scene again. */
  resume(session: Session): void {
    if (session.residency === 'RESIDENT') return;
    session.residency = 'RESIDENT';
    this.onChange(session, 'resumed');
  }

  /** Before a step: parks other sessions until `session` fits in with its last size, or no idle session is left. */
  makeRoomFor(session: Session): void {
    this.parkIdle(session.residency === 'PARKED' ? session.sceneBytes : 0, session);
  }

  /** After work: parks sessions until the limit holds. The session that has just worked comes last. */
  settle(): void {
    this.parkIdle(0);
  }

  /**
   * Makes room for a new scene by parking idle sessions; parks none of them for a scene that can never fit.
   *
   * @param bytes that the new scene holds; not counted yet
   * @throws TOO_LARGE when the scene exceeds the whole limit; OUT_OF_DEVICE_MEMORY when the sessions at work leave too little
   */
  admit(bytes: number): void {
    this.refuseAboveLimit(bytes);
    if (this.parkIdle(bytes)) return;
    throw new IntersticeError(
      'OUT_OF_DEVICE_MEMORY',
      `The session needs ${bytes} bytes of device memory; sessions at work hold ${this.deviceBytes} of ${this.maxDeviceBytes}.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }

  /** Parks every idle session, after a request was refused because there is too little memory. */
  yieldIdle(): void {
    for (const session of [...this.byUse]) {
      if (session.workCount === 0 && session.deviceBytes > 0) this.park(session);
    }
  }

  /** @throws TOO_LARGE with demand and limit */
  refuseAboveLimit(bytes: number): void {
    if (this.maxDeviceBytes === 0 || bytes <= this.maxDeviceBytes) return;
    throw new IntersticeError(
      'TOO_LARGE',
      `The session needs ${bytes} bytes of device memory; the limit is ${this.maxDeviceBytes}.`,
    );
  }

  /** @returns whether `extra` bytes then fit into the limit */
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
