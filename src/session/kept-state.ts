import type { StepRequest } from '../contract/sessions.js';
import type { StepOutcome, StepTask } from '../jobs/tasks.js';
import type { SessionKey } from '../store/session-store.js';

/** A step that was computed. */
export interface ComputedStep {
  readonly frame: bigint;
  readonly request: StepRequest;
  readonly task: StepTask;
  readonly outcome: StepOutcome;
}

/** What this process knows of a session in the store. */
export interface KeptState {
  /** the epoch under which this process holds the session */
  readonly epoch: number;
  readonly order: number;
  readonly meshHash: string;
  /** of its creation; undefined = none */
  readonly key: SessionKey | undefined;
  /** the generation of the store when it last had the session */
  generation: string;
  /** of the last frame that was accepted here: one that the store has confirmed, or may have */
  token: string;
  /** frames that the store has logged */
  logged: number;
  /** the same, when the last checkpoint was made */
  loggedAtCheckpoint: number;
  /** bytes of the inputs of the frames since then */
  loggedBytes: number;
  /** of the last checkpoint; 0 = none */
  checkpointBytes: number;
  /** ms of the solver since then */
  computedMs: number;
  /** ms that the last checkpoint took from this process and the store, without waiting for a lane */
  checkpointMs: number;
  /** whether a frame since the last checkpoint would give other bytes if it were computed again */
  needsCheckpoint: boolean;
  /** whether the engine is unable to copy its scenes */
  cannotSave: boolean;
  /** a checkpoint that is on its way to the store; undefined = none */
  writing: Promise<void> | undefined;
  /** resolves when the store has confirmed or refused the frame or change of settings that is sent to it; undefined = none is */
  deciding: Promise<void> | undefined;
  /** whether the store lacks frames that this process has accepted: it was down, or has lost what it had confirmed */
  isBehind: boolean;
  /** a step that was computed and sent to the store, which has neither confirmed nor refused it */
  pending: (ComputedStep & { readonly token: string }) | undefined;
  /** ms of the monotonic clock, when the store last renewed the time to live */
  touchedAt: number;
}

type KnownState = Pick<
  KeptState,
  'epoch' | 'order' | 'meshHash' | 'key' | 'generation' | 'token' | 'logged' | 'touchedAt'
>;
/** What the store has of a session whose owner has changed. */
type StoredHistory = Pick<KeptState, 'loggedAtCheckpoint' | 'loggedBytes' | 'checkpointBytes'>;

/** A session that this process has just created or claimed. */
export function keptState(known: KnownState, history?: StoredHistory): KeptState {
  return {
    loggedAtCheckpoint: known.logged,
    loggedBytes: 0,
    checkpointBytes: 0,
    ...known,
    ...history,
    computedMs: 0,
    checkpointMs: 0,
    needsCheckpoint: false,
    cannotSave: false,
    writing: undefined,
    deciding: undefined,
    isBehind: false,
    pending: undefined,
  };
}
