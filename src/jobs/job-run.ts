import type { StateListener } from '../contract/call-context.js';
import { cancelled } from '../contract/errors.js';
import type { JobPhase } from '../contract/long-jobs.js';
import type { MeshLimits } from '../contract/mesh.js';
import type { Progress } from '../contract/report.js';
import type { UntangleProgress } from '../contract/untangle.js';
import type { Engine } from '../solver/engine.js';
import { Stopwatch } from './clock.js';
import { Deadline } from './deadline.js';
import type { Finding } from './finding.js';
import type { JobMemory } from './path-record.js';
import type { Arrival, TimeBudget } from './tasks.js';
import type { Verifier } from './verifier.js';

/** Upper bounds of a job. */
export interface JobLimits extends MeshLimits {
  /** of the path of an answer; absent = none */
  readonly maxMessageBytes?: number;
}

/** What a job works with. */
export interface JobContext {
  readonly engine: Engine;
  readonly limits: JobLimits;
  /** where a job counts the memory that it keeps besides its engine; absent = nowhere */
  readonly memory?: JobMemory | undefined;
  readonly allowUnverified: boolean;
  readonly verifier: Verifier;
  /** ms of the shared clock (clock.ts) */
  readonly now: () => number;
  /** the caller has gone away */
  readonly isCancelled: () => boolean;
  /** the service shuts down: the job ends with the safe state that it has reached; absent = never */
  readonly isEnding?: () => boolean;
  /** ms for which the job's thread has waited for a core, since it began; undefined or absent = not known */
  readonly coreWaitMs?: () => number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onUntangleProgress?: ((progress: UntangleProgress) => void) | undefined;
  readonly onPhase?: ((phase: JobPhase) => void) | undefined;
  /** receives every state in the answer's scalar, start first, answer last; may block the job until the reader is ready */
  readonly onState?: StateListener | undefined;
  /** called if the verifier finds a fault of the engine, before the answer is returned */
  readonly onFinding: (finding: Finding) => void;
}

/** A running job: its clock, its deadline, and the checkpoints at which it may end early. */
export class JobRun {
  readonly stopwatch: Stopwatch;
  readonly deadline: Deadline;
  /** µs spent on the checks of the start, by {@link lapChecks} */
  verifyMicroseconds = 0;
  /** µs from the start of the job to the checks of the start */
  uploadMicroseconds = 0;
  private readonly queueMicroseconds: number;
  private readonly coreWaitBefore: number | undefined;

  /** @throws DEADLINE_EXCEEDED if the budget was spent before the job began; CANCELLED */
  constructor(
    readonly times: Arrival & TimeBudget,
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
    this.coreWaitBefore = context.coreWaitMs?.();
    const where = 'on the way to the engine, the queue included';
    this.deadline.refuseIfOver(where);
    this.checkpoint(where);
  }

  /** Whether the service has asked for the state that has been reached: no further step begins. */
  get isEnding(): boolean {
    return this.context.isEnding?.() ?? false;
  }

  /** ms for which the job has waited for a core because of other work; 0 if that is not known. */
  get coreWaitMs(): number {
    return (this.context.coreWaitMs?.() ?? 0) - (this.coreWaitBefore ?? 0);
  }

  /** @throws CANCELLED; DEADLINE_EXCEEDED under FAIL */
  checkpoint(where: string): void {
    if (this.context.isCancelled()) throw cancelled();
    this.deadline.refuseIfOverAndHard(where);
  }

  /**
   * The checkpoint of a long test (PairRules): it ends the test if the caller has gone away or the budget has ended.
   *
   * @throws (the function) CANCELLED; DEADLINE_EXCEEDED under FAIL and RETURN_SAFE. A job that has a safe state to return
   * catches it ({@link unlessOver}).
   */
  during(where: string): () => void {
    return () => {
      if (this.context.isCancelled()) throw cancelled();
      this.deadline.refuseIfOver(where);
    };
  }

  /**
   * The same for the test of an answer, which may take a little longer than the budget ({@link Deadline.refuseIfLate}):
   * the time reserved for it is an estimate, and ending the test would waste all steps.
   */
  duringGrace(where: string): () => void {
    return () => {
      if (this.context.isCancelled()) throw cancelled();
      this.deadline.refuseIfLate(where);
    };
  }

  /** Counts the time since the last lap as a check of the start. @returns µs of this lap */
  lapChecks(): number {
    const lap = this.stopwatch.lap();
    this.verifyMicroseconds += lap;
    return lap;
  }

  /** The timings of the stages before the engine runs, µs; later stages are still 0. */
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
