import { setImmediate } from 'node:timers/promises';
import type { CallContext } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { JobInfo, JobPhase, JobResult } from '../contract/long-jobs.js';
import type { Progress } from '../contract/report.js';
import type { ResolveAnswer } from '../contract/requests.js';
import type { StepAnswer } from '../contract/sessions.js';
import type { UntangleProgress } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { bytesOf } from '../mesh/bytes.js';
import type { SessionClock } from './call.js';

export interface LongJobOptions {
  readonly id: string;
  /** grows with every job */
  readonly order: number;
  readonly tenant: string;
  readonly label: string;
  /** of a step; undefined for a resolve */
  readonly sessionId: string | undefined;
  /** in which it is from its start on: the computation announces a phase only once it has read and checked the request */
  readonly firstPhase: JobPhase;
  readonly keepForSeconds: number;
  /** tenant and idempotency key; undefined = none */
  readonly key: string | undefined;
  /** hash of the payload that the key stands for */
  readonly payload: string;
  /** reserved until the end */
  readonly bytes: number;
  /** ms of the monotonic clock, at the first byte of the request */
  readonly receivedAt: number;
  readonly clock: SessionClock;
  readonly onExpired: () => void;
  /** called when {@link LongJob.isSettled} may have become true */
  readonly onSettled: () => void;
}

type JobHooks = Pick<CallContext, 'signal' | 'onQueued' | 'onStart' | 'onProgress' | 'onUntangleProgress' | 'onPhase'>;

export type JobAnswer = ResolveAnswer | StepAnswer | { readonly untangle: UntangledState };

/** ms between two queries for the place in the queue of a waiting job that is watched. */
const QUEUE_LOOK_MS = 1000;

/** One job from its submission until it expires or is deleted. */
export class LongJob {
  readonly id: string;
  readonly order: number;
  readonly tenant: string;
  readonly label: string;
  readonly key: string | undefined;
  readonly payload: string;
  bytes: number;
  /** Resolves with the refusal of the queue, undefined if it has accepted the job or is not asked yet. */
  admission: Promise<IntersticeError | undefined> = Promise.resolve(undefined);
  private readonly created: number;
  private started: number | undefined;
  private ended: number | undefined;
  private progress: Progress | undefined;
  private untangleProgress: UntangleProgress | undefined;
  private phase: JobPhase | undefined;
  private countAhead: (() => number) | undefined;
  private wasFetched = false;
  private answer: JobAnswer | undefined;
  private error: IntersticeError | undefined;
  private readonly stopper = new AbortController();
  private readonly waiters = new Set<() => void>();
  private readonly watchers = new Set<() => void>();
  private cancelTimer: () => void = () => {};
  private isDropped = false;

  constructor(private readonly options: LongJobOptions) {
    ({
      id: this.id,
      order: this.order,
      tenant: this.tenant,
      label: this.label,
      key: this.key,
      payload: this.payload,
      bytes: this.bytes,
    } = options);
    this.created = options.clock.wallMs();
  }

  get hasEnded(): boolean {
    return this.ended !== undefined;
  }

  /** Whether no caller loses anything if the process ends: the job has failed, or its result was fetched. */
  get isSettled(): boolean {
    return this.hasEnded && (this.error !== undefined || this.wasFetched);
  }

  /** @param claimRoom reserves room for the bytes of the result; throws if there is none */
  run(work: (hooks: JobHooks) => Promise<JobAnswer>, claimRoom: (bytes: number) => void): void {
    const { clock, receivedAt } = this.options;
    const hooks: JobHooks = {
      signal: this.stopper.signal,
      onQueued: (countAhead) => {
        this.countAhead = countAhead;
      },
      onStart: (isUnderWay = false) => {
        this.started = clock.wallMs();
        this.phase = isUnderWay ? undefined : this.options.firstPhase;
        this.tell();
      },
      onProgress: (progress) => {
        this.progress = progress;
        this.tell();
      },
      onUntangleProgress: (progress) => {
        this.untangleProgress = progress;
        this.tell();
      },
      onPhase: (phase) => {
        this.phase = phase;
        this.tell();
      },
    };
    const end = work(hooks).then(
      (answer) => {
        if (this.isDropped) return;
        const bytes = bytesOf(answer);
        try {
          claimRoom(bytes);
        } catch (refusal) {
          this.end(0, undefined, IntersticeError.from(refusal));
          return;
        }
        // No transport encodes this answer while its caller waits, so its times end here.
        const isReplay = 'isReplay' in answer && answer.isReplay;
        if (!isReplay && 'report' in answer) answer.report.timings.total = (clock.monotonicMs() - receivedAt) * 1000;
        this.end(bytes, answer, undefined);
      },
      (reason: unknown) => {
        if (!this.isDropped) this.end(0, undefined, IntersticeError.from(reason));
      },
    );
    // The queue refuses before any thread begins, within this turn of the event loop. A step whose session is looked up in
    // a store enters the queue later; a refusal is then the error of its job.
    this.admission = Promise.race([end, setImmediate()]).then(() =>
      this.started === undefined ? this.error : undefined,
    );
  }

  describe(): JobInfo {
    const { id, label, created, started, ended, progress, untangleProgress, error, bytes, phase } = this;
    const { keepForSeconds, sessionId } = this.options;
    const isRunning = ended === undefined && started !== undefined;
    const isWaiting = ended === undefined && started === undefined;
    return {
      id,
      label,
      created,
      bytes,
      state: error ? 'JOB_FAILED' : ended !== undefined ? 'JOB_DONE' : isRunning ? 'JOB_RUNNING' : 'JOB_WAITING',
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(isRunning && phase ? { phase } : {}),
      ...(isWaiting && this.countAhead ? { ahead: this.countAhead() } : {}),
      ...(started === undefined ? {} : { started }),
      ...(ended === undefined ? {} : { ended, expires: ended + keepForSeconds * 1000 }),
      ...(progress ? { progress } : {}),
      ...(untangleProgress ? { untangleProgress } : {}),
      ...(error ? { error } : {}),
    };
  }

  /** The result of a job that has ended. @throws the error that it ended with */
  result(): JobResult {
    if (this.error) throw this.error;
    this.wasFetched = true;
    this.options.onSettled();
    return { ...this.answer!, isReplay: true };
  }

  /**
   * Reports the job as it is and every change, also of its place in the queue. Resolves when it has ended or was
   * dropped, or with the signal; the caller describes the end.
   *
   * @throws what `tell` throws; the job and other watchers continue
   */
  async watch(tell: (job: JobInfo) => void, signal: AbortSignal | undefined): Promise<void> {
    if (this.hasEnded || this.isDropped || signal?.aborted) return;
    let told = '';
    const failed = new AbortController();
    const tellOfChange = () => {
      if (this.hasEnded || this.isDropped || failed.signal.aborted) return;
      const job = this.describe();
      const now = JSON.stringify([job.state, job.phase, job.ahead, job.progress, job.untangleProgress]);
      try {
        if (now !== told) tell(job);
      } catch (thrown) {
        failed.abort(thrown);
      }
      told = now;
    };
    const { clock } = this.options;
    let stopTimer = () => {};
    const look = () => {
      stopTimer = this.started === undefined ? clock.after(QUEUE_LOOK_MS, look) : () => {};
      tellOfChange();
    };
    this.watchers.add(tellOfChange);
    look();
    await this.untilEnd(signal ? AbortSignal.any([signal, failed.signal]) : failed.signal);
    stopTimer();
    this.watchers.delete(tellOfChange);
    failed.signal.throwIfAborted();
  }

  /** Resolves when the job has ended or was dropped, after the time, or with the signal, whichever comes first. */
  whenEnded(seconds: number, signal: AbortSignal | undefined): Promise<void> {
    return this.untilEnd(signal, seconds * 1000);
  }

  private untilEnd(signal: AbortSignal | undefined, ms?: number): Promise<void> {
    if (this.hasEnded || this.isDropped || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        this.waiters.delete(finish);
        stopTimer();
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const stopTimer = ms === undefined ? () => {} : this.options.clock.after(ms, finish);
      signal?.addEventListener('abort', finish, { once: true });
      this.waiters.add(finish);
    });
  }

  /** Stops the job and frees what it holds; callers can no longer find it. */
  drop(): void {
    this.isDropped = true;
    this.stopTimer();
    this.answer = undefined;
    this.stopper.abort();
    this.wake();
  }

  stopTimer(): void {
    this.cancelTimer();
  }

  private end(bytes: number, answer: JobAnswer | undefined, error: IntersticeError | undefined): void {
    const { clock, keepForSeconds, onExpired } = this.options;
    this.ended = clock.wallMs();
    this.bytes = bytes;
    this.answer = answer;
    this.error = error;
    this.cancelTimer = clock.after(keepForSeconds * 1000, onExpired);
    this.wake();
  }

  private wake(): void {
    for (const finish of [...this.waiters]) finish();
    this.options.onSettled();
  }

  private tell(): void {
    for (const tell of [...this.watchers]) tell();
  }
}
