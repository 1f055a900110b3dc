import { IntersticeError } from '../contract/errors.js';
import { exceedsByteLimit, explainRefusal, QueueBound, type QueueLoad } from '../lanes/queue-bound.js';
import type { Scheduler } from '../lanes/scheduler.js';
import type { SessionClock } from './call.js';

/**
 * Work that the scheduler's queue does not hold yet, but that counts against its limits: requests whose bodies are still
 * being uploaded, and steps that wait behind another step of their session.
 */

/**
 * ms; a body that takes longer than this no longer takes a place in the queue, so that a slow upload does not block
 * others. Its memory is different: the transports count it until the request ends.
 */
const UPLOAD_GRACE_MS = 5000;

/**
 * Requests that passed the preflight and whose bodies are still being uploaded. If they were not counted, many callers that
 * arrive at once would all pass the preflight for one free place, upload their bodies, and only then be refused.
 */
export class PendingUploads {
  count = 0;
  /** sum over the bodies whose headers give a size */
  bytes = 0;

  /** number of pending steps by session key */
  private readonly stepsBySession = new Map<number, number>();

  constructor(private readonly clock: SessionClock) {}

  /** Whether a step of this session is being uploaded. */
  has(session: number): boolean {
    return this.stepsBySession.has(session);
  }

  /**
   * @param session the key of the session, for a step
   * @param bytes of the body
   * @returns a function to call when the request is complete or gone; further calls do nothing
   */
  add(session?: number, bytes = 0): () => void {
    this.change(session, 1, bytes);
    let isPending = true;
    const remove = () => {
      if (isPending) this.change(session, -1, -bytes);
      isPending = false;
      cancelTimer();
    };
    const cancelTimer = this.clock.after(UPLOAD_GRACE_MS, remove);
    return remove;
  }

  private change(session: number | undefined, count: 1 | -1, bytes: number): void {
    this.count += count;
    this.bytes += bytes;
    if (session === undefined) return;
    const own = (this.stepsBySession.get(session) ?? 0) + count;
    if (own > 0) this.stepsBySession.set(session, own);
    else this.stepsBySession.delete(session);
  }
}

/** Seconds; steps that wait behind another step of their session leave the queue one by one, about a step apart. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the steps that wait behind another step of their session (they wait in a {@link StepQueue}, not with the
 * scheduler). Together with the scheduler's queue they are subject to its limits on number and bytes, shared between
 * tenants by the same rule.
 */
export class QueuedSteps {
  private readonly bound: QueueBound;

  /** @param maxBytes 0 = no limit */
  constructor(
    private readonly scheduler: Pick<Scheduler, 'waitingCount' | 'waitingBytes'>,
    private readonly maxCount: number,
    maxBytes = 0,
  ) {
    this.bound = new QueueBound(maxCount, maxBytes);
  }

  get count(): number {
    return this.bound.count;
  }

  /** @param bytes of the arrays that are kept while the step waits @throws QUEUE_FULL */
  enter(tenant: string, bytes: number): void {
    this.preflight(tenant, bytes);
    this.bound.enter(tenant, bytes);
  }

  /** Like {@link enter}, without taking a place. @param ahead requests that are still being uploaded @throws QUEUE_FULL */
  preflight(tenant: string, bytes: number, ahead: QueueLoad = { count: 0, bytes: 0 }): void {
    const { bound, scheduler } = this;
    const waiting = {
      count: bound.count + scheduler.waitingCount + ahead.count,
      bytes: bound.bytes + scheduler.waitingBytes + ahead.bytes,
    };
    const verdict =
      waiting.count >= this.maxCount
        ? 'FULL'
        : exceedsByteLimit(waiting.bytes, bytes, bound.maxBytes)
          ? 'FULL_OF_BYTES'
          : bound.preflight(tenant, bytes);
    if (verdict === 'ADMITTED') return;
    const reason = explainRefusal(verdict, waiting, bytes, bound.maxBytes);
    throw new IntersticeError('QUEUE_FULL', reason, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  leave(tenant: string, bytes: number): void {
    this.bound.leave(tenant, bytes);
  }
}
