import { IntersticeError } from '../contract/errors.js';
import type { LanePool } from './lane-pool.js';
import { MeanDuration } from './mean-duration.js';
import { explainRefusal, QueueBound } from './queue-bound.js';
import type { JobPreflight, Placement } from './submission.js';

/** Decides which jobs may wait: as many as the bound of the queue allows. A job that starts at once needs no place. */
export class Admission {
  private readonly bound: QueueBound;
  /** jobs that have a place */
  private readonly waiting = new Set<Placement>();
  /** the shares of the time of a lane that jobs took, for Retry-After */
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

  /** @param free how many such jobs could start at once @throws QUEUE_FULL if the job would be refused now; it takes no place */
  preflight({ tenant, bytes, ahead }: JobPreflight, free: number): void {
    // The requests ahead start first.
    const count = ahead.count - free;
    if (count < 0) return;
    // It is not known which of them remain, so each is assumed to have the mean size.
    const share = ahead.count > 0 ? count / ahead.count : 0;
    this.refuseUnlessAdmitted(this.bound.preflight(tenant, bytes, { count, bytes: share * ahead.bytes }), bytes);
  }

  /**
   * Admits a job that has arrived and waits. Call it after all jobs that can start have started, because which jobs a
   * lane takes depends on all that wait for it.
   *
   * @param hasPlace whether it was admitted earlier
   * @throws QUEUE_FULL; the job then has no place
   */
  admit(placement: Placement, hasPlace = false): void {
    const { claim, bytes, isCounted } = placement;
    if (!isCounted) return;
    if (hasPlace) this.bound.enterUnchecked(claim.tenant, bytes);
    else this.refuseUnlessAdmitted(this.bound.enter(claim.tenant, bytes), bytes);
    this.waiting.add(placement);
  }

  /** Notes a job that started as soon as it arrived. For refused tenants it counts as one that leaves the queue. */
  pass({ claim, bytes, isCounted }: Placement): void {
    if (!isCounted) return;
    this.bound.enterUnchecked(claim.tenant, bytes);
    this.bound.leave(claim.tenant, bytes);
  }

  /** The job waits no longer, if it did. */
  leave(placement: Placement): void {
    if (this.waiting.delete(placement)) this.bound.leave(placement.claim.tenant, placement.bytes);
  }

  /** Notes that a job has ended. @param charge ms, its share of the time of its lane */
  note(charge: number): void {
    this.durations.note(charge);
  }

  private refuseUnlessAdmitted(verdict: ReturnType<QueueBound['enter']>, bytes = 0): void {
    if (verdict === 'ADMITTED') return;
    const reason = explainRefusal(verdict, this.bound, bytes, this.bound.maxBytes);
    throw new IntersticeError('QUEUE_FULL', reason, { retryAfterSeconds: this.retryAfterSeconds() });
  }

  /** Time until a place should be free: on average a lane ends one job per mean share of its time. */
  private retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.durations.ms / this.pool.ordinary.lanes.length / 1000));
  }
}
