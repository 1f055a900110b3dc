import type { StateListener } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeshLimits } from '../contract/mesh.js';
import type { Progress } from '../contract/report.js';
import type { OnBudget } from '../contract/requests.js';
import type { Engine } from '../solver/types.js';
import { Deadline } from './deadline.js';
import type { Finding } from './finding.js';
import { Stopwatch } from './stopwatch.js';
import type { Verifier } from './verifier.js';

/** What a job is given to work with. */
export interface JobContext {
  readonly engine: Engine;
  readonly limits: MeshLimits;
  readonly allowUnverified: boolean;
  readonly verifier: Verifier;
  /** ms of the shared clock (clock.ts) */
  readonly now: () => number;
  /** the caller has gone away */
  readonly isCancelled: () => boolean;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** every state in the answer's scalar, start first, answer last; may hold the job up until the reader is ready */
  readonly onState?: StateListener | undefined;
  /** the verifier caught the engine; called before the answer is returned */
  readonly onFinding: (finding: Finding) => void;
}

/** The moments that a time budget and the timings count from (ms of the shared clock), and the budget. */
export interface JobTimes {
  /** the first byte of the request */
  readonly receivedAt: number;
  /** the request was decoded and stood in the queue */
  readonly queuedAt: number;
  readonly timeBudgetSeconds?: number | undefined;
  /** default RETURN_SAFE */
  readonly onBudget?: OnBudget | undefined;
}

/** One job on its way: its clock, its deadline, and the places where it may have to end early. */
export class JobRun {
  readonly stopwatch: Stopwatch;
  readonly deadline: Deadline;
  /** µs spent on the checks of the start, by {@link lapChecks} */
  verifyMicroseconds = 0;
  /** µs until the start was checked */
  uploadMicroseconds = 0;
  private readonly queueMicroseconds: number;

  /** @throws DEADLINE_EXCEEDED when the budget was spent in the queue; CANCELLED */
  constructor(
    readonly times: JobTimes,
    readonly context: JobContext,
  ) {
    this.stopwatch = new Stopwatch(context.now);
    this.queueMicroseconds = (this.stopwatch.startedAt - times.queuedAt) * 1000;
    this.deadline = new Deadline(
      times.timeBudgetSeconds,
      times.onBudget ?? 'RETURN_SAFE',
      times.receivedAt,
      context.now,
    );
    this.deadline.refuseIfOver('in the queue');
    this.checkpoint('in the queue');
  }

  /** @throws CANCELLED; DEADLINE_EXCEEDED for a caller who asked for FAIL */
  checkpoint(where: string): void {
    if (this.context.isCancelled()) throw cancelled();
    this.deadline.refuseIfOverAndHard(where);
  }

  /**
   * The checkpoint of a long test (PairRules): a test that nobody waits for any more, or that would end after the budget,
   * ends here.
   *
   * @throws (the function) CANCELLED; DEADLINE_EXCEEDED whatever the caller asked for. Who has a safe state to return
   * catches it ({@link unlessOver}).
   */
  during(where: string): () => void {
    return () => {
      if (this.context.isCancelled()) throw cancelled();
      this.deadline.refuseIfOver(where);
    };
  }

  /** Everything since the last lap was a check of the start. @returns µs of this lap */
  lapChecks(): number {
    const lap = this.stopwatch.lap();
    this.verifyMicroseconds += lap;
    return lap;
  }

  /** The stages before the engine's, µs; what follows is still 0. */
  openingTimings() {
    const { receivedAt, queuedAt } = this.times;
    return {
      queue: this.queueMicroseconds,
      decode: (queuedAt - receivedAt) * 1000,
      upload: this.uploadMicroseconds,
      verify: this.verifyMicroseconds,
      readback: 0,
      encode: 0,
      total: 0,
    };
  }

  /** µs since the first byte of the request */
  sinceReceived(): number {
    return (this.context.now() - this.times.receivedAt) * 1000;
  }
}

export function cancelled(cause?: unknown): IntersticeError {
  return new IntersticeError('CANCELLED', 'the caller went away', cause === undefined ? {} : { cause });
}
