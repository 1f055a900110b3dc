import type { CallContext } from '../contract/call-context.js';
import { cancelled, IntersticeError } from '../contract/errors.js';
import type { SessionClock } from './call.js';

/** A call that waits for a piece of work. */
export interface Waiter {
  /** its signal ends the wait of this call, whatever the others do */
  readonly context: Pick<CallContext, 'signal'>;
  /** ms of the monotonic clock, when the wait of this call ends; undefined = no deadline */
  readonly expiresAt?: number | undefined;
}

export interface SharedResult<T> {
  readonly value: T;
  /** whether this is the first call that still waited; the others get the result that was computed for it */
  readonly isFirst: boolean;
}

interface Place<W> {
  readonly waiter: W;
  readonly resolve: (result: SharedResult<never>) => void;
  readonly reject: (reason: unknown) => void;
  readonly stopListening: () => void;
  stopTimer: () => void;
}

/**
 * Work for which several calls wait: a request, and its retries that arrive while it runs. Each call leaves when it is
 * cancelled or its time is over; the work is stopped only when the last call has left.
 */
export class SharedWork<T, W extends Waiter = Waiter> {
  private readonly places = new Set<Place<W>>();
  private readonly stopper = new AbortController();
  /** the refusal of calls whose time is over */
  private late = new IntersticeError('DEADLINE_EXCEEDED', 'The time budget was spent before the answer was ready.');

  /** @param onAbandoned called once, when the last call has left before the end */
  constructor(
    private readonly clock: SessionClock,
    private readonly onAbandoned: () => void = () => {},
  ) {}

  /** aborted when no call waits any longer */
  get signal(): AbortSignal {
    return this.stopper.signal;
  }

  get isAbandoned(): boolean {
    return this.stopper.signal.aborted;
  }

  /** the calls that wait, in the order of their arrival */
  get waiters(): readonly W[] {
    return [...this.places].map((place) => place.waiter);
  }

  /** @throws CANCELLED, DEADLINE_EXCEEDED (of this call), and what the work fails with */
  join(waiter: W): Promise<SharedResult<T>> {
    return new Promise((resolve, reject) => {
      const { context, expiresAt } = waiter;
      const { signal } = context;
      const onAbort = () => this.leave(place, cancelled());
      const place: Place<W> = {
        waiter,
        resolve,
        reject,
        stopListening: () => signal?.removeEventListener('abort', onAbort),
        stopTimer: () => {},
      };
      this.places.add(place);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) onAbort();
      else if (expiresAt !== undefined) this.watch(place, expiresAt);
    });
  }

  /** From now on the work itself observes the deadline of the first call, which may get a safe state at its end. */
  leaveDeadlineToWork(): void {
    const [first] = this.places;
    first?.stopTimer();
  }

  /** From now on calls whose time is over get this refusal: it is open whether the work takes effect. */
  refuseLateWith(reason: IntersticeError): void {
    this.late = reason;
  }

  /** Ends the wait of one call, unless it has left. */
  refuse(waiter: W, reason: IntersticeError): void {
    const place = [...this.places].find((one) => one.waiter === waiter);
    if (place) this.leave(place, reason);
  }

  succeed(value: T): void {
    const places = this.removeAll();
    places.forEach(({ resolve }, index) => {
      if (index === 0) resolve({ value, isFirst: true } as SharedResult<never>);
      // One turn of the event loop later the transport of the first call has written its times into the report. So all calls
      // send the same bytes.
      else setImmediate(() => resolve({ value, isFirst: false } as SharedResult<never>));
    });
  }

  fail(reason: unknown): void {
    for (const { reject } of this.removeAll()) reject(reason);
  }

  /** Fails all calls, and stops the work. */
  cancel(reason: unknown): void {
    this.fail(reason);
    this.abandon();
  }

  private removeAll(): Place<W>[] {
    const places = [...this.places];
    this.places.clear();
    for (const place of places) release(place);
    return places;
  }

  private watch(place: Place<W>, expiresAt: number): void {
    const left = expiresAt - this.clock.monotonicMs();
    if (left > 0) place.stopTimer = this.clock.after(left, () => this.watch(place, expiresAt));
    else this.leave(place, this.late);
  }

  private leave(place: Place<W>, reason: IntersticeError): void {
    if (!this.places.delete(place)) return;
    release(place);
    place.reject(reason);
    if (this.places.size === 0) this.abandon();
  }

  private abandon(): void {
    if (this.isAbandoned) return;
    this.stopper.abort();
    this.onAbandoned();
  }
}

function release<W>(place: Place<W>): void {
  place.stopListening();
  place.stopTimer();
}
