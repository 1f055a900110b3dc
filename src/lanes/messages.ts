import type { DiagnoseRequest, Diagnosis } from '../contract/diagnosis.js';
import type { PlainError } from '../contract/errors.js';
import type { JobPhase } from '../contract/long-jobs.js';
import type { Positions } from '../contract/mesh.js';
import type { StateOrigin } from '../contract/path.js';
import type { Progress } from '../contract/report.js';
import type { CheckAnswer, MeshCheckRequest, ResolveAnswer } from '../contract/requests.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { UntangleProgress } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import type { EngineSource } from '../jobs/engines.js';
import type { Finding } from '../jobs/finding.js';
import type { JobLimits } from '../jobs/job-run.js';
import type { SavedSession } from '../jobs/saved-session.js';
import type {
  HeldVersions,
  OpenAnswer,
  OpenTask,
  ResolveTask,
  SceneDelta,
  StepOutcome,
  StepTask,
  UntangleTask,
} from '../jobs/tasks.js';
import type { ConvoyCounts, JobsTogether } from '../solver/engine.js';
import type { AccountLink } from '../threads/account.js';
import type { TeamLink } from '../threads/team.js';

/*
 * The messages between the main thread and a worker thread: plain data only. A thread runs one job at a time, or as
 * many as its engine takes at once (JobsTogether).
 */

/** The kinds of jobs, with their inputs and answers. */
export interface JobTypes {
  readonly resolve: { readonly input: ResolveTask; readonly answer: ResolveAnswer };
  readonly check: { readonly input: MeshCheckRequest; readonly answer: CheckAnswer };
  readonly diagnose: { readonly input: DiagnoseRequest; readonly answer: Diagnosis };
  readonly untangle: { readonly input: UntangleTask; readonly answer: UntangledState };
  readonly open: { readonly input: OpenTask; readonly answer: OpenAnswer };
  readonly step: { readonly input: StepTask<SceneDelta>; readonly answer: StepOutcome };
  /** answers with what the session continues from; null = nothing was held, or the session has ended */
  readonly park: {
    readonly input: { readonly key: number; readonly isForGood: boolean };
    readonly answer: SavedSession | null;
  };
  /** answers with a copy of the same, while the thread continues to hold the scene */
  readonly save: { readonly input: { readonly key: number }; readonly answer: SavedSession | null };
}

export interface WorkerSetup {
  readonly engine: EngineSource;
  readonly limits: JobLimits;
  readonly allowUnverified: boolean;
  /** how far other threads have priority when cores are short, on the scale of `nice`; 0 = not at all */
  readonly niceSteps: number;
  /** how the thread reaches the helpers of the process */
  readonly helpers: TeamLink;
  /** limits on what all threads of the process together may hold */
  readonly accounts: LaneAccounts;
}

/** The accounts of a thread. */
export interface LaneAccounts {
  /** arrays that it computes on */
  readonly work: AccountLink;
  /** buffers on the device */
  readonly device: AccountLink;
}

export type JobMessage = {
  readonly [K in keyof JobTypes]: {
    readonly kind: K;
    readonly input: JobTypes[K]['input'];
    /** int32[4] in shared memory, see JobFlags */
    readonly flags: Int32Array;
    readonly wantsProgress: boolean;
    readonly wantsStates: boolean;
  };
}[keyof JobTypes];

/** A job as a thread receives it, with a number that its messages contain. */
export type NumberedJob = JobMessage & { readonly id: number };

/** Asks the thread to close its engine after the last job, and to confirm it. */
export interface CloseMessage {
  readonly kind: 'close';
}

export type WorkerMessage =
  | {
      readonly type: 'hello';
      readonly engine: EngineDescription;
      readonly isCostly: boolean;
      readonly together: JobsTogether | undefined;
    }
  /** the engine could not be opened; the thread ends */
  | { readonly type: 'refused'; readonly error: PlainError }
  /** the engine is closed */
  | { readonly type: 'closed' }
  /** the engine has lost its device, and replaces it */
  | { readonly type: 'device-lost'; readonly reason: string }
  | { readonly type: 'job'; readonly id: number; readonly report: JobReport };

/** The reports of a thread about one of its jobs. */
export type JobReport =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'untangle-progress'; readonly progress: UntangleProgress }
  | { readonly type: 'phase'; readonly phase: JobPhase }
  | {
      readonly type: 'state';
      readonly positions: Positions;
      readonly at: number;
      /** of an untangling */
      readonly origin: StateOrigin | undefined;
    }
  | { readonly type: 'finding'; readonly finding: Finding }
  | (JobEnd & { readonly type: 'done'; readonly answer: JobTypes[keyof JobTypes]['answer'] })
  | (JobEnd & { readonly type: 'failed'; readonly error: PlainError });

/** What a thread reports at the end of every job. */
interface JobEnd {
  /** of the job's scene */
  readonly held: HeldVersions | undefined;
  /** bytes that the thread keeps for its next job, of whichever tenant */
  readonly sharedBytes: number;
  /** counts of what its engine has submitted for several scenes together so far */
  readonly convoy: ConvoyCounts | undefined;
}

/**
 * Flags in memory that the two threads share during one job. A thread that computes does not return to its event loop, so no
 * message would reach it: it reads the flags between steps, and waits on one of them while the reader of states is behind.
 */
export class JobFlags {
  constructor(readonly words: Int32Array = new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT))) {}

  get isCancelled(): boolean {
    return Atomics.load(this.words, CANCELLED) !== 0;
  }

  cancel(): void {
    Atomics.store(this.words, CANCELLED, 1);
    this.notify();
  }

  /** Whether the job must end with what it has reached. */
  get isEnding(): boolean {
    return Atomics.load(this.words, ENDING) !== 0;
  }

  end(): void {
    Atomics.store(this.words, ENDING, 1);
  }

  /** The reader has taken one more state. */
  acknowledgeState(): void {
    Atomics.add(this.words, STATES_TAKEN, 1);
    this.notify();
  }

  /** Blocks the thread until fewer than `window` of the `sent` states wait for their reader, or the job is cancelled. */
  waitForReader(sent: number, window: number): void {
    for (;;) {
      // The count of events is read first. Every later event changes it, so the wait below cannot miss one.
      const events = Atomics.load(this.words, EVENTS);
      if (this.isCancelled || sent - Atomics.load(this.words, STATES_TAKEN) < window) return;
      Atomics.wait(this.words, EVENTS, events);
    }
  }

  private notify(): void {
    Atomics.add(this.words, EVENTS, 1);
    Atomics.notify(this.words, EVENTS);
  }
}

const CANCELLED = 0;
const STATES_TAKEN = 1;
const EVENTS = 2;
const ENDING = 3;
