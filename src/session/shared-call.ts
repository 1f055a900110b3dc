import { IntersticeError } from '../contract/errors.js';
import type { SessionClock } from './clock.js';

/** One of those who wait for a piece of work. */
export interface Waiter {
  readonly signal?: AbortSignal | undefined;
  /** ms of the monotonic clock: it gives up then, whatever the others do */
  readonly expiresAt?: number | undefined;
}

export interface Shared<T> {
  readonly value: T;
  /** the first of those who were still there; the others were handed what was made for it */
  readonly isFirst: boolean;
}

interface Place<W> {
  readonly waiter: W;
  readonly resolve: (shared: Shared<never>) => void;
  readonly reject: (reason: unknown) => void;
  readonly stopListening: () => void;
  stopTimer: () => void;
}

/**
 * Work that several callers wait for: a request, and its retries that came while it ran. Each leaves by its own cancel or
 * at its own time; the work is told to stop only when the last one has left.
 */
export class SharedCall<T, W extends Waiter = Waiter> {
  private readonly places = new Set<Place<W>>();
  private readonly stopper = new AbortController();

  /** @param onAbandoned the last caller has left before the end; called once */
  constructor(
    private readonly clock: SessionClock,
    private readonly onAbandoned: () => void = () => {},
  ) {}

  /** aborted when nobody waits any more */
  get signal(): AbortSignal {
    return this.stopper.signal;
  }

  get isAbandoned(): boolean {
    return this.stopper.signal.aborted;
  }

  /** those who wait, in the order they came */
  get waiters(): readonly W[] {
    return [...this.places].map((place) => place.waiter);
  }

  /** @throws CANCELLED, DEADLINE_EXCEEDED (of this waiter), and what the work fails with */
  join(waiter: W): Promise<Shared<T>> {
    return new Promise((resolve, reject) => {
      const { signal, expiresAt } = waiter;
      const onAbort = () => this.leave(place, new IntersticeError('CANCELLED', 'the caller went away'));
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

  /** From now on the work itself keeps the time of the first waiter, who may be given a safe state when it is over. */
  leaveTimeToWork(): void {
    const [first] = this.places;
    first?.stopTimer();
  }

  succeed(value: T): void {
    const places = this.empty();
    places.forEach(({ resolve }, index) => {
      if (index === 0) resolve({ value, isFirst: true } as Shared<never>);
      // A turn of the event loop later: by then the first one's transport has written its times into the report, and both
      // send the same bytes.
      else setImmediate(() => resolve({ value, isFirst: false } as Shared<never>));
    });
  }

  fail(reason: unknown): void {
    for (const { reject } of this.empty()) reject(reason);
  }

  /** Fails all who wait, and stops the work. */
  cancel(reason: unknown): void {
    this.fail(reason);
    this.abandon();
  }

  private empty(): Place<W>[] {
    const places = [...this.places];
    this.places.clear();
    for (const place of places) release(place);
    return places;
  }

  private watch(place: Place<W>, expiresAt: number): void {
    const left = expiresAt - this.clock.monotonicMs();
    if (left > 0) place.stopTimer = this.clock.after(left, () => this.watch(place, expiresAt));
    else
      this.leave(
        place,
        new IntersticeError('DEADLINE_EXCEEDED', 'the time budget was spent before there was an answer'),
      );
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
