import type { StepRequest } from '../contract/sessions.js';
import type { StepOutcome, StepTask } from '../jobs/tasks.js';

/** A step that was computed. */
export interface ComputedStep {
  readonly frame: bigint;
  readonly request: StepRequest;
  readonly task: StepTask;
  readonly outcome: StepOutcome;
}

/** What this process knows of a session in the store. */
export interface KeptState {
  /** under which this process holds the session */
  readonly epoch: number;
  readonly order: number;
  readonly meshHash: string;
  /** of the store, when it last had the session */
  generation: string;
  /** of the last commit that the store has confirmed */
  token: string;
  /** frames that the store has logged */
  logged: number;
  /** the same, when the last checkpoint was made */
  loggedAtCheckpoint: number;
  /** ms of the solver since then */
  computedMs: number;
  /** ms that the last checkpoint took of this process and of the store, waiting for a lane aside */
  checkpointMs: number;
  /** a frame since the last checkpoint would give other bytes if it was computed again */
  needsCheckpoint: boolean;
  /** the engine cannot copy its scenes */
  cannotSave: boolean;
  /** a checkpoint that is on its way to the store; undefined = none */
  writing: Promise<void> | undefined;
  /** the store lacks frames that this process has accepted: it was down, or has lost what it had confirmed */
  isBehind: boolean;
  /** computed, sent to the store, and neither confirmed nor refused */
  pending: (ComputedStep & { readonly token: string }) | undefined;
  /** ms of the monotonic clock, when the store last began the time to live anew */
  touchedAt: number;
}

/** A session that this process has just created or claimed. */
export function keptState(
  known: Pick<KeptState, 'epoch' | 'order' | 'meshHash' | 'generation' | 'token' | 'logged' | 'touchedAt'>,
  entriesSinceBase = 0,
): KeptState {
  return {
    ...known,
    loggedAtCheckpoint: known.logged - entriesSinceBase,
    computedMs: 0,
    checkpointMs: 0,
    needsCheckpoint: false,
    cannotSave: false,
    writing: undefined,
    isBehind: false,
    pending: undefined,
  };
}
