import type { Scheduler } from '../lanes/scheduler.js';
import { type SessionStore, StoreDown } from '../store/session-store.js';
import type { SessionClock } from './call.js';
import { refOf } from './kept-records.js';
import type { KeptState } from './kept-state.js';
import type { Log } from './observation.js';
import type { Session } from './session.js';
import { type CheckpointRecord, pack } from './stored-session.js';

/** A checkpoint may take this share of the time of the solver. */
const CHECKPOINT_SHARE = 1 / 40;
/** Frames before the first checkpoint, whatever it costs: many sessions are shorter. */
const FIRST_CHECKPOINT = 2;
/** Frames after which a checkpoint is made whatever it costs; well below the number that the store logs. */
const MAX_FRAMES_BETWEEN = 32;
/**
 * The inputs since the last checkpoint may have this many times its bytes; then one is made whatever it costs. It adds
 * a quarter to the bytes that are written at most, and a process that loads the session reads five checkpoints at most
 * besides mesh, start and last answer.
 */
const MAX_BYTES_BETWEEN = 4;

export interface CheckpointOptions {
  readonly store: SessionStore;
  readonly by: string;
  readonly scheduler: Pick<Scheduler, 'save'>;
  readonly clock: SessionClock;
  readonly log: Log | undefined;
}

/** Copies of scenes in the store: a process that loads a session computes only the frames after the last one again. */
export class KeptCheckpoints {
  constructor(private readonly options: CheckpointOptions) {}

  /** After an answer was sent: copies the scene to the store, if it is time. It does not wait for the write itself. */
  async writeIfDue(session: Session): Promise<void> {
    const { kept } = session;
    if (!kept || kept.isBehind || kept.writing || kept.cannotSave || session.hasEnded) return;
    if (!isCheckpointDue(kept)) return;
    try {
      const checkpoint = await this.write(session);
      checkpoint?.written.catch((err) => this.reportFailure(err));
    } catch (err) {
      this.reportFailure(err);
    }
  }

  /** Copies the scene and begins to write it. @returns undefined if it cannot be copied */
  async write(session: Session): Promise<{ readonly written: Promise<void> } | undefined> {
    const { store, clock } = this.options;
    const kept = session.kept!;
    const record = await this.copy(session);
    if (!record || session.hasEnded) return undefined;
    const { logged } = kept;
    const startedAt = clock.monotonicMs();
    const bytes = pack(record);
    const packedAt = clock.monotonicMs();
    kept.needsCheckpoint = false;
    kept.loggedAtCheckpoint = logged;
    kept.loggedBytes = 0;
    kept.checkpointBytes = bytes.byteLength;
    kept.computedMs = 0;
    const write = async () => {
      try {
        await store.checkpoint({ ...refOf(session), frame: record.frame, bytes, logged });
      } catch (thrown) {
        if (!(thrown instanceof StoreDown)) throw thrown;
        kept.needsCheckpoint = true;
      } finally {
        // The copy on the lane takes about as long as packing it; waiting for the lane is not a cost.
        kept.checkpointMs = 2 * (packedAt - startedAt) + (clock.monotonicMs() - packedAt);
      }
    };
    const written = write();
    const end = (): void => {
      kept.writing = undefined;
    };
    kept.writing = written;
    written.then(end, end);
    return { written };
  }

  /** undefined = the engine cannot copy it, or it is not at the last accepted frame */
  async copy(session: Session): Promise<CheckpointRecord | undefined> {
    const { scheduler, by } = this.options;
    const { place, lastStep } = session;
    const saved = await scheduler.save(session.key);
    if (!saved || saved.stateVersion !== place.stateVersion || saved.meshVersion !== place.meshVersion)
      return undefined;
    if (session.lastStep !== lastStep) return undefined;
    if (saved.isSceneLost) {
      session.kept!.cannotSave = saved.scene === undefined;
      return undefined;
    }
    return { frame: lastStep.frame, by, place, saved };
  }

  /** Logs that a scene could not be copied, while no caller waits for it. */
  reportFailure(err: unknown): void {
    this.options.log?.({ level: 'error', event: 'background', err }, 'Could not copy a scene to the store.');
  }
}

function isCheckpointDue(kept: KeptState): boolean {
  const frames = kept.logged - kept.loggedAtCheckpoint;
  const isCheap = frames >= FIRST_CHECKPOINT && kept.checkpointMs <= CHECKPOINT_SHARE * kept.computedMs;
  const isLong = kept.checkpointBytes > 0 && kept.loggedBytes >= MAX_BYTES_BETWEEN * kept.checkpointBytes;
  return isCheap || isLong || kept.needsCheckpoint || frames >= MAX_FRAMES_BETWEEN;
}
