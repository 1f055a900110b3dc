import { IntersticeError } from '../contract/errors.js';
import type { Lane, LanePool } from './lane-pool.js';
import { MeanDuration } from './mean-duration.js';
import { explainRefusal, QueueBound } from './queue-bound.js';
import type { JobPreflight, Placement } from './submission.js';

/** Which jobs may wait: those for which a lane is free always, others as far as the bound of the queue allows. */
export class Admission {
  private readonly bound: QueueBound;
  /** of jobs, for Retry-After */
  private readonly durations = new MeanDuration();

  constructor(
    private readonly pool: LanePool,
    maxQueue: number,
    maxQueueBytes: number | undefined,
  ) {
    this.bound = new QueueBound(maxQueue, maxQueueBytes);
  }

  /** Bytes of the arrays of waiting jobs. */
  get waitingBytes(): number {
    return this.bound.bytes;
  }

  /** @param free lanes that could start it @throws QUEUE_FULL if the job would be refused now; it takes no place */
  preflight({ tenant, bytes, ahead }: JobPreflight, free: number): void {
    // The requests ahead take the free lanes first.
    const count = ahead.count - free;
    if (count < 0) return;
    // Which of them remain is not known: each is assumed to have the mean size.
    const share = ahead.count > 0 ? count / ahead.count : 0;
    this.refuseUnlessAdmitted(this.bound.preflight(tenant, bytes, { count, bytes: share * ahead.bytes }), bytes);
  }

  /** @param hasPlace it was admitted earlier @throws QUEUE_FULL */
  admit({ group, claim, record, bytes, size }: Placement, hasPlace = false): void {
    const isFree = (lane: Lane) => lane.takes(size) && (!record || record.home === lane);
    const starts = !group.queue.mustWait(claim) && group.lanes.some(isFree);
    if (hasPlace || starts) this.bound.enterUnchecked(claim.tenant, bytes);
    else this.refuseUnlessAdmitted(this.bound.enter(claim.tenant, bytes), bytes);
  }

  /** The job waits no longer. */
  leave({ claim, isCounted, bytes }: Placement): void {
    if (isCounted) this.bound.leave(claim.tenant, bytes);
  }

  /** A job has ended. */
  note(took: number): void {
    this.durations.note(took);
  }

  private refuseUnlessAdmitted(verdict: ReturnType<QueueBound['enter']>, bytes = 0): void {
    if (verdict === 'ADMITTED') return;
    const waiting = { count: this.pool.waitingCount, bytes: this.waitingBytes };
    const reason = explainRefusal(verdict, waiting, bytes, this.bound.maxBytes);
    throw new IntersticeError('QUEUE_FULL', reason, { retryAfterSeconds: this.retryAfterSeconds() });
  }

  /** When a place in the queue should be free: on average one job leaves the queue per mean job time and thread. */
  private retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.durations.ms / this.pool.ordinary.lanes.length / 1000));
  }
}
