import type { StateListener } from '../contract/call-context.js';
import { cancelled, draining, IntersticeError } from '../contract/errors.js';
import type { JobPhase } from '../contract/long-jobs.js';
import type { Progress } from '../contract/report.js';
import type { UntangleProgress } from '../contract/untangle.js';
import { monotonicMs } from '../jobs/clock.js';
import { deadlineExceeded } from '../jobs/deadline.js';
import type { Finding } from '../jobs/finding.js';
import type { SavedSession } from '../jobs/saved-session.js';
import type { HeldVersions } from '../jobs/tasks.js';
import type { Listener } from './lane-worker.js';
import { JobFlags, type JobMessage, type JobTypes } from './messages.js';

export interface JobHooks {
  /** when aborted, a waiting job is dropped and a running one stops at its next step; the call ends with CANCELLED */
  readonly signal?: AbortSignal | undefined;
  /** ms of the shared clock; a job that is still waiting then is refused with DEADLINE_EXCEEDED */
  readonly expiresAt?: number | undefined;
  readonly onStart?: (() => void) | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onUntangleProgress?: ((progress: UntangleProgress) => void) | undefined;
  /** called only if progress is requested as well */
  readonly onPhase?: ((phase: JobPhase) => void) | undefined;
  /** called in order, one call at a time; the thread waits for a slow reader */
  readonly onState?: ((...state: Parameters<StateListener>) => void | Promise<void>) | undefined;
  readonly onFinding?: ((finding: Finding) => void) | undefined;
}

/** The task of a thread. Its input is composed when the job starts, because it depends on the data that the thread holds. */
export interface JobRequest {
  readonly kind: keyof JobTypes;
  readonly makeInput: () => JobTypes[keyof JobTypes]['input'];
}

/** How a job reports to the scheduler. */
export interface JobOwner {
  /** the job was settled while it was waiting: the scheduler removes it from the queue */
  withdraw(job: LaneJob): void;
  /** its lane is free again */
  complete(job: LaneJob): void;
}

/** The largest delay of setTimeout; a longer wait sets the timer again. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One job from its submission until its lane is free: a promise for the caller, a listener for the thread. */
export class LaneJob implements Listener {
  readonly answer: Promise<JobTypes[keyof JobTypes]['answer']>;
  /** data of the job's scene that the thread holds, as it reported at the end */
  held: HeldVersions | undefined;
  /** data of the job's scene that the thread has released, from which the scene can continue */
  saved: SavedSession | undefined;
  /** whether a step or an opening was answered: a scene that was lost is rebuilt, and its caller knows of it */
  hasBuilt = false;
  isStarted = false;
  private readonly flags = new JobFlags();
  private settle: { resolve(answer: JobTypes[keyof JobTypes]['answer']): void; reject(reason: unknown): void };
  private isSettled = false;
  private timer: NodeJS.Timeout | undefined;
  /** states are read one after the other; the job ends after the last of them */
  private readonly unread: Parameters<StateListener>[] = [];
  private isReading = false;
  private ending: (() => void) | undefined;
  private readonly onAbort = () => this.stop(cancelled());

  constructor(
    private readonly request: JobRequest,
    private readonly hooks: JobHooks,
    private readonly owner: JobOwner,
  ) {
    let settle: typeof this.settle | undefined;
    this.answer = new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
    this.settle = settle!;
    hooks.signal?.addEventListener('abort', this.onAbort, { once: true });
    this.setExpiryTimer();
  }

  /** @returns the message that starts the job */
  begin(): JobMessage {
    this.isStarted = true;
    clearTimeout(this.timer);
    this.hooks.onStart?.();
    const { kind, makeInput } = this.request;
    // The signatures of the scheduler guarantee that kind and input belong together; the switch of the thread relies on it.
    return {
      kind,
      input: makeInput(),
      flags: this.flags.words,
      wantsProgress: this.hooks.onProgress !== undefined || this.hooks.onUntangleProgress !== undefined,
      wantsStates: this.hooks.onState !== undefined,
    } as JobMessage;
  }

  /** Ends the call immediately and the computation at its next step. */
  stop(reason: IntersticeError): void {
    this.flags.cancel();
    this.reject(reason);
    if (!this.isStarted) this.owner.withdraw(this);
  }

  /** The service shuts down: a running job that has a safe state ends with that state, any other job ends at once. */
  wrapUp(): void {
    const { kind } = this.request;
    if (this.isStarted && (kind === 'resolve' || kind === 'step' || kind === 'untangle')) this.flags.end();
    else if (kind !== 'park' && kind !== 'save') this.stop(draining());
  }

  receive(message: Parameters<Listener['receive']>[0]): void {
    switch (message.type) {
      case 'progress':
        if (!this.isSettled) this.guard(() => this.hooks.onProgress?.(message.progress));
        return;
      case 'untangle-progress':
        if (!this.isSettled) this.guard(() => this.hooks.onUntangleProgress?.(message.progress));
        return;
      case 'phase':
        if (!this.isSettled) this.guard(() => this.hooks.onPhase?.(message.phase));
        return;
      case 'state':
        this.unread.push([message.positions, message.at, message.origin]);
        void this.readStates();
        return;
      case 'finding':
        this.guard(() => this.hooks.onFinding?.(message.finding));
        return;
      case 'done':
        this.held = message.held;
        this.hasBuilt = this.request.kind === 'step' || this.request.kind === 'open';
        if (this.request.kind === 'park') this.saved = (message.answer as JobTypes['park']['answer']) ?? undefined;
        this.end(() => this.resolve(message.answer));
        return;
      case 'failed':
        this.held = message.held;
        this.end(() => this.reject(IntersticeError.fromPlain(message.error)));
    }
  }

  /** Fails the job, because its thread has died. */
  lose(reason: IntersticeError): void {
    this.unread.length = 0;
    this.reject(reason);
  }

  private end(settle: () => void): void {
    this.ending = settle;
    void this.readStates();
  }

  private async readStates(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    while (this.unread.length > 0) {
      const state = this.unread.shift()!;
      try {
        if (!this.isSettled) await this.hooks.onState?.(...state);
      } catch (thrown) {
        this.stop(IntersticeError.from(thrown));
      }
      this.flags.acknowledgeState();
    }
    this.isReading = false;
    if (this.ending) {
      this.ending();
      this.ending = undefined;
      this.owner.complete(this);
    }
  }

  /** A hook that throws ends its own call, not the process. */
  private guard(deliver: () => void): void {
    try {
      deliver();
    } catch (thrown) {
      this.stop(IntersticeError.from(thrown));
    }
  }

  private resolve(answer: JobTypes[keyof JobTypes]['answer']): void {
    if (this.close()) this.settle.resolve(answer);
  }

  private reject(reason: IntersticeError): void {
    if (this.close()) this.settle.reject(reason);
  }

  /** @returns true the first time */
  private close(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    clearTimeout(this.timer);
    this.hooks.signal?.removeEventListener('abort', this.onAbort);
    return true;
  }

  private setExpiryTimer(): void {
    const { expiresAt } = this.hooks;
    if (expiresAt === undefined) return;
    // A timer even if it is due, so that the job has entered its queue before it is removed from it.
    const left = Math.max(0, expiresAt - monotonicMs());
    this.timer = setTimeout(
      () => (left > MAX_TIMER_MS ? this.setExpiryTimer() : this.stop(deadlineExceeded('in the queue'))),
      Math.min(left, MAX_TIMER_MS),
    );
  }
}
