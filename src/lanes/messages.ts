import type { PlainError } from '../contract/errors.js';
import type { MeshLimits, Positions } from '../contract/mesh.js';
import type { Progress } from '../contract/report.js';
import type { CheckAnswer, MeshCheckRequest, ResolveAnswer } from '../contract/requests.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { EngineSource } from '../jobs/engines.js';
import type { Finding } from '../jobs/finding.js';
import type {
  HeldVersions,
  OpenAnswer,
  OpenTask,
  ResolveTask,
  SceneDelta,
  StepOutcome,
  StepTask,
} from '../jobs/tasks.js';

/** What the main thread and a worker say to each other. One job at a time a worker; plain data only. */

/** Kinds of work a worker can do. */
export interface Jobs {
  readonly resolve: { readonly input: ResolveTask; readonly answer: ResolveAnswer };
  readonly check: { readonly input: MeshCheckRequest; readonly answer: CheckAnswer };
  readonly open: { readonly input: OpenTask; readonly answer: OpenAnswer };
  readonly step: { readonly input: StepTask<SceneDelta>; readonly answer: StepOutcome };
  readonly park: { readonly input: { readonly key: number }; readonly answer: null };
}

export interface WorkerSetup {
  readonly engine: EngineSource;
  readonly limits: MeshLimits;
  readonly allowUnverified: boolean;
  /** whether other threads go first where cores are short */
  readonly givesWay: boolean;
}

export type JobMessage = {
  readonly [K in keyof Jobs]: {
    readonly kind: K;
    readonly input: Jobs[K]['input'];
    /** int32[3], shared; see JobFlags */
    readonly flags: Int32Array;
    readonly wantsProgress: boolean;
    readonly wantsStates: boolean;
  };
}[keyof Jobs];

/** After the last job: close the engine, and say when that is done. */
export interface EndMessage {
  readonly kind: 'end';
}

export type WorkerMessage =
  | { readonly type: 'hello'; readonly engine: EngineDescription }
  /** the engine could not be opened; the thread ends */
  | { readonly type: 'refused'; readonly error: PlainError }
  /** the answer to EndMessage */
  | { readonly type: 'ended' }
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'state'; readonly positions: Positions; readonly at: number }
  | { readonly type: 'finding'; readonly finding: Finding }
  | (JobEnd & { readonly type: 'done'; readonly answer: Jobs[keyof Jobs]['answer'] })
  | (JobEnd & { readonly type: 'failed'; readonly error: PlainError });

/** What is said at the end of every job. */
interface JobEnd {
  /** of the scene that the job was about */
  readonly held: HeldVersions | undefined;
  /** bytes that the thread keeps for whatever job is next, whosever it is */
  readonly sharedBytes: number;
}

/**
 * The words that the two threads share during one job. A worker computes without returning to its event loop, so no
 * message would reach it: it reads these between steps, and sleeps on one of them while the reader of states is behind.
 */
export class JobFlags {
  constructor(readonly words: Int32Array = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))) {}

  get isCancelled(): boolean {
    return Atomics.load(this.words, CANCELLED) !== 0;
  }

  cancel(): void {
    Atomics.store(this.words, CANCELLED, 1);
    this.wake();
  }

  /** One more state has been taken by its reader. */
  acknowledgeState(): void {
    Atomics.add(this.words, STATES_TAKEN, 1);
    this.wake();
  }

  /** Blocks the worker until fewer than `window` of the `sent` states wait for their reader, or the job is cancelled. */
  waitForReader(sent: number, window: number): void {
    for (;;) {
      // The count of events is read first: whatever happens after it changes it, so the wait below cannot miss it.
      const events = Atomics.load(this.words, EVENTS);
      if (this.isCancelled || sent - Atomics.load(this.words, STATES_TAKEN) < window) return;
      Atomics.wait(this.words, EVENTS, events);
    }
  }

  private wake(): void {
    Atomics.add(this.words, EVENTS, 1);
    Atomics.notify(this.words, EVENTS);
  }
}

const CANCELLED = 0;
const STATES_TAKEN = 1;
const EVENTS = 2;
