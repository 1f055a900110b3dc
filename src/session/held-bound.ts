import { IntersticeError } from '../contract/errors.js';
import { type Ahead, explainBytes, isTooMuch, QueueBound } from '../lanes/queue-bound.js';
import type { Schedule } from './schedule.js';
import type { HeldBound } from './step-queue.js';

/** Seconds; steps that wait behind another of their session come free one by one, about a step apart */
const RETRY_AFTER_SECONDS = 1;

/**
 * Steps that wait behind another one of their own session wait here, not in the schedule; they take places of the same
 * number and bytes of the same bound all the same, shared between tenants by the same rule.
 */
export class HeldSteps implements HeldBound {
  private readonly bound: QueueBound;

  constructor(
    private readonly schedule: Pick<Schedule, 'waitingCount' | 'waitingBytes'>,
    private readonly most: number,
    /** 0 = no limit */
    mostBytes = 0,
  ) {
    this.bound = new QueueBound(most, mostBytes);
  }

  get count(): number {
    return this.bound.count;
  }

  /** @param bytes of the arrays that are kept while it waits */
  enter(tenant: string, bytes: number): void {
    this.preflight(tenant, bytes);
    this.bound.enter(tenant, bytes);
  }

  /** As {@link enter}, without taking a place. @param ahead let through, and not here yet @throws QUEUE_FULL */
  preflight(tenant: string, bytes: number, ahead: Ahead = { count: 0, bytes: 0 }): void {
    const { bound, schedule } = this;
    const waiting = {
      count: bound.count + schedule.waitingCount + ahead.count,
      bytes: bound.bytes + schedule.waitingBytes + ahead.bytes,
    };
    const isFull = waiting.count >= this.most;
    const isFullOfBytes = isTooMuch(waiting.bytes, bytes, bound.mostBytes);
    if (!isFull && !isFullOfBytes && bound.preflight(tenant, bytes) === 'IN') return;
    const why = isFull
      ? `${waiting.count} requests are waiting already`
      : isFullOfBytes
        ? explainBytes(waiting, bytes, bound.mostBytes)
        : 'others wait for the places left';
    throw new IntersticeError('QUEUE_FULL', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  leave(tenant: string, bytes: number): void {
    this.bound.leave(tenant, bytes);
  }
}
