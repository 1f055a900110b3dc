import type { StateListener } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { Progress } from '../contract/report.js';
import { monotonicMs } from '../jobs/clock.js';
import { deadlineExceeded } from '../jobs/deadline.js';
import type { Finding } from '../jobs/finding.js';
import type { HeldVersions } from '../jobs/tasks.js';
import { JobFlags, type JobMessage, type Jobs } from './messages.js';
import type { Listener } from './pool-worker.js';

export interface JobHooks {
  /** aborted: a waiting job is dropped, a running one stops at its next step; either way the call ends with CANCELLED */
  readonly signal?: AbortSignal | undefined;
  /** ms of the shared clock; a job that still waits then is refused with DEADLINE_EXCEEDED */
  readonly expiresAt?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** in order, one at a time; the worker waits for a reader that lags */
  readonly onState?: ((...state: Parameters<StateListener>) => void | Promise<void>) | undefined;
  readonly onFinding?: ((finding: Finding) => void) | undefined;
}

/** What a job asks of a worker; the input is put together when the job starts, for it depends on what the worker holds. */
export interface JobRequest {
  readonly kind: keyof Jobs;
  readonly makeInput: () => Jobs[keyof Jobs]['input'];
}

/** What the scheduler learns from a job. */
export interface JobOwner {
  /** the job was settled while it still waited: take it out of the queue */
  withdraw(job: PoolJob): void;
  /** its worker is free again */
  complete(job: PoolJob): void;
}

/** setTimeout's largest delay; a longer wait just looks again */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One job from its submission to the moment its worker is free: a promise for the caller, a listener for the worker. */
export class PoolJob implements Listener {
  readonly answer: Promise<Jobs[keyof Jobs]['answer']>;
  startedAt = 0;
  /** what the worker holds of the job's scene, as it said at the end */
  held: HeldVersions | undefined;
  /** the worker has answered; false also when it refused */
  isDone = false;
  private readonly flags = new JobFlags();
  private settle: { resolve(answer: Jobs[keyof Jobs]['answer']): void; reject(reason: unknown): void };
  private isSettled = false;
  private isStarted = false;
  private timer: NodeJS.Timeout | undefined;
  /** states are read one after the other; the end of the job comes after the last of them */
  private readonly unread: Parameters<StateListener>[] = [];
  private isReading = false;
  private ending: (() => void) | undefined;
  private readonly onAbort = () => this.stop(new IntersticeError('CANCELLED', 'the caller went away'));

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
    this.expireInTime();
  }

  /** The message that starts it. */
  begin(): JobMessage {
    this.isStarted = true;
    this.startedAt = monotonicMs();
    clearTimeout(this.timer);
    const { kind, makeInput } = this.request;
    // Kind and input belong together by the signatures of the scheduler; the worker's switch takes the pair apart again.
    return {
      kind,
      input: makeInput(),
      flags: this.flags.words,
      wantsProgress: this.hooks.onProgress !== undefined,
      wantsStates: this.hooks.onState !== undefined,
    } as JobMessage;
  }

  /** Ends the call at once, and the work at its next step. */
  stop(reason: IntersticeError): void {
    this.flags.cancel();
    this.reject(reason);
    if (!this.isStarted) this.owner.withdraw(this);
  }

  receive(message: Parameters<Listener['receive']>[0]): void {
    switch (message.type) {
      case 'progress':
        if (!this.isSettled) this.guard(() => this.hooks.onProgress?.(message.progress));
        return;
      case 'state':
        this.unread.push([message.positions, message.at]);
        void this.readStates();
        return;
      case 'finding':
        this.guard(() => this.hooks.onFinding?.(message.finding));
        return;
      case 'done':
        this.held = message.held;
        this.isDone = true;
        this.end(() => this.resolve(message.answer));
        return;
      case 'failed':
        this.held = message.held;
        this.end(() => this.reject(IntersticeError.fromPlain(message.error)));
    }
  }

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

  /** A reader that throws ends its own call, not the process. */
  private guard(deliver: () => void): void {
    try {
      deliver();
    } catch (thrown) {
      this.stop(IntersticeError.from(thrown));
    }
  }

  private resolve(answer: Jobs[keyof Jobs]['answer']): void {
    if (this.close()) this.settle.resolve(answer);
  }

  private reject(reason: IntersticeError): void {
    if (this.close()) this.settle.reject(reason);
  }

  /** True the first time. */
  private close(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    clearTimeout(this.timer);
    this.hooks.signal?.removeEventListener('abort', this.onAbort);
    return true;
  }

  private expireInTime(): void {
    const { expiresAt } = this.hooks;
    if (expiresAt === undefined) return;
    // Through a timer even when it is due, so that the job stands in its queue when it is taken out of it.
    const left = Math.max(0, expiresAt - monotonicMs());
    this.timer = setTimeout(
      () => (left > LONGEST_TIMER_MS ? this.expireInTime() : this.stop(deadlineExceeded('in the queue'))),
      Math.min(left, LONGEST_TIMER_MS),
    );
  }
}
