import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { Scheduler } from '../lanes/scheduler.js';
import type { SessionName, StoredSession } from '../store/session-store.js';
import type { SessionClock } from './call.js';
import { Session, type SessionSettings } from './session.js';
import {
  type CheckpointRecord,
  type EntryRecord,
  type HeadRecord,
  isCheckpoint,
  type OpeningRecord,
  unpack,
} from './stored-session.js';

export interface RestoreServices {
  readonly scheduler: Pick<Scheduler, 'open' | 'step' | 'adopt' | 'forget'>;
  readonly clock: SessionClock;
  readonly allowUnverified: boolean;
  readonly engine: EngineDescription;
  /** as in {@link OpeningRecord.by} */
  readonly by: string;
  /** called if records of the same origin as this process cannot be used, with the reason; the scene then counts as lost */
  readonly onUnreadable: (reason: unknown) => void;
}

export interface Restored {
  readonly session: Session;
  /**
   * `exact`: the scene is the same as in the process that had it, so that the next answers have the same bytes as
   * there. `lost`: it is rebuilt from the last answer, and the next report says so (`session_rebuilt`).
   */
  readonly scene: 'exact' | 'lost';
  /** frames that were computed again */
  readonly repeated: number;
}

/**
 * Builds a session of another process from its records in the store. Its frames since the last checkpoint are computed
 * again, and the last one must give exactly the numbers that were sent. If it does not, or if they cannot be computed
 * here (another algorithm version, engine or adapter, a frame that a time limit has cut short, or a record that has been
 * damaged), the scene counts as lost.
 *
 * @returns undefined if another version of the service has written the records
 * @throws the refusals of an opening or a step for lack of memory, of a thread or of the device; DRAINING
 */
export async function restoreSession(
  stored: StoredSession,
  { id, tenant }: SessionName,
  key: number,
  services: RestoreServices,
): Promise<Restored | undefined> {
  const opening = unpack<OpeningRecord>(stored.opening);
  const settings = unpack<SessionSettings>(stored.settings);
  const mesh = unpack<MeshInput>(stored.mesh);
  const head = unpack<HeadRecord>(stored.head);
  if (!opening || !settings || !mesh || (stored.head && !head)) return undefined;
  const { start, created, opened, priority = 'NORMAL' } = opening;
  const { allowUnverified, engine, scheduler } = services;
  const makeSession = () => {
    const { parameters, untangled } = opening;
    const { label, idleTimeoutSeconds } = settings;
    const rules = { allowUnverified, engine: { description: engine } };
    const begin = { id, key, tenant, mesh, start, parameters, created, priority, ...(untangled ? { untangled } : {}) };
    return new Session({ ...begin, label, idleTimeoutSeconds }, opened, rules);
  };
  let session = makeSession();
  let repeated: number | undefined;
  try {
    repeated = await repeatHistory(session, stored, opening, services);
  } catch (thrown) {
    if (isOfProcess(thrown)) throw thrown;
    services.onUnreadable(thrown);
  }
  const isExact = repeated !== undefined && (!head || isSameState(session.state, head.answer.positions));
  if (!isExact) {
    await scheduler.forget(key);
    session = makeSession();
    if (head) {
      const { changes, answer } = head;
      // If nothing says which it was, parts without a target stay where they are.
      const lastTarget = head.lastTarget ?? lastTargetOf(stored, mesh) ?? answer.positions;
      session.goTo({
        changes,
        positions: answer.positions,
        lastTarget,
        meshVersion: 1,
        stateVersion: 1,
        lastVersion: 1,
      });
    }
    const scene = { mesh: session.meshInput, measures: opened.measures, saved: undefined };
    scheduler.adopt(key, { tenant, priority }, scene);
    session.residency = 'PARKED';
  }
  if (head) {
    session.settle({ frame: head.frame, digest: head.digest }, head.answer);
    if (!isExact) session.sceneBytes = head.sceneBytes;
  }
  session.update(settings);
  return { session, scene: isExact ? 'exact' : 'lost', repeated: isExact ? (repeated ?? 0) : 0 };
}

/** @returns number of frames that were computed again; undefined if that is not possible */
async function repeatHistory(
  session: Session,
  stored: StoredSession,
  opening: OpeningRecord,
  { scheduler, by, clock }: RestoreServices,
): Promise<number | undefined> {
  const checkpoint = stored.base === 'checkpoint' ? unpack<CheckpointRecord>(stored.checkpoint) : undefined;
  const base = stored.base === 'opening' ? opening : checkpoint;
  const entries = stored.log.map((bytes) => unpack<EntryRecord>(bytes));
  if (base?.by !== by || !entries.every((entry) => entry?.by === by && entry.isRepeatable)) return undefined;
  const { key, tenant } = session;
  if (checkpoint && !isCheckpoint(checkpoint, session.meshInput.vertexCount))
    throw new TypeError('The checkpoint is not one of this mesh.');
  const { priority } = session.opening;
  const { measures } = opening.opened;
  const hooks = { claim: { tenant, session: key, priority: 'INTERACTIVE' as const }, hasPlace: true };
  if (checkpoint) {
    session.goTo(checkpoint.place);
    scheduler.adopt(key, { tenant, priority }, { mesh: session.meshInput, measures, saved: checkpoint.saved });
    session.residency = 'PARKED';
  } else {
    const now = clock.monotonicMs();
    const { meshVersion, stateVersion } = session.place;
    const state = { key, meshVersion, mesh: session.meshInput, stateVersion, start: session.state };
    // The priority of an opening chooses the lanes of its scene; that of the steps only determines their turn there.
    const claim = { ...hooks.claim, ...(priority === 'BATCH' ? { priority } : {}) };
    const task = { state, parameters: opening.parameters, receivedAt: now, queuedAt: now };
    await scheduler.open(task, { ...hooks, claim });
  }
  for (const entry of entries) {
    const task = session.repeatStep(entry!, clock.monotonicMs());
    session.advance(entry!, task, await scheduler.step(task, hooks));
    session.residency = 'RESIDENT';
  }
  return entries.length;
}

/** Whether a refusal concerns this process and its present state, not what is to be computed: another attempt may succeed. */
function isOfProcess(thrown: unknown): boolean {
  return thrown instanceof IntersticeError && (thrown.retryable || thrown.code === 'TOO_LARGE');
}

/** undefined = not known */
function lastTargetOf({ log, checkpoint }: StoredSession, { vertexCount }: MeshInput): Positions | undefined {
  const { place } = unpack<CheckpointRecord>(checkpoint) ?? {};
  const target = unpack<EntryRecord>(log.at(-1))?.target ?? place?.lastTarget;
  const isTarget = target instanceof Float32Array || target instanceof Float64Array;
  return isTarget && target.length === 3 * vertexCount ? target : undefined;
}

/** Compares bit for bit. */
function isSameState(a: Positions, b: Positions): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Positions) => Buffer.from(buffer, byteOffset, byteLength);
  return a.constructor === b.constructor && bytes(a).equals(bytes(b));
}
