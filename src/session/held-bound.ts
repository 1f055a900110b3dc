import { IntersticeError } from '../errors.js';
import { QueueBound } from '../schedule/queue-bound.js';
import type { Schedule } from './schedule.js';
import type { HeldBound } from './step-queue.js';

/** Seconds; steps that wait behind another of their session come free one by one, about a step apart */
const RETRY_AFTER_SECONDS = 1;

/**
 * Steps that wait behind another one of their own session wait here, not in the schedule; they take places of the same
 * number all the same, shared between tenants by the same rule.
 */
export class HeldSteps implements HeldBound {
  private readonly bound: QueueBound;

  constructor(
    private readonly schedule: Pick<Schedule, 'waitingCount'>,
    private readonly most: number,
  ) {
    this.bound = new QueueBound(most);
  }

  get count(): number {
    return this.bound.count;
  }

  enter(tenant: string): void {
    this.knock(tenant);
    this.bound.enter(tenant);
  }

  /** As {@link enter}, without taking a place. @param ahead let through, and not here yet @throws QUEUE_FULL */
  knock(tenant: string, ahead = 0): void {
    const waiting = this.bound.count + this.schedule.waitingCount + ahead;
    const verdict = waiting >= this.most ? 'FULL' : this.bound.knock(tenant);
    if (verdict === 'IN') return;
    const why = verdict === 'FULL' ? `${waiting} requests are waiting already` : 'others wait for the places left';
    throw new IntersticeError('QUEUE_FULL', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  leave(tenant: string): void {
    this.bound.leave(tenant);
  }
}
