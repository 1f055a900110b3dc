import { IntersticeError, type Warning } from '../contract/errors.js';
import type { MeshInput } from '../contract/mesh.js';
import type { ResolveAnswer } from '../contract/requests.js';
import type { SessionInfo, StepRequest } from '../contract/sessions.js';
import { hashContent } from '../jobs/content-hash.js';
import type { StepOutcome, StepTask } from '../jobs/tasks.js';
import { bytesOf } from '../mesh/bytes.js';
import { type DescribedSession, type SessionName, StoreDown } from '../store/session-store.js';
import type { ComputedStep } from './kept-state.js';
import { digestOf } from './payload.js';
import type { Session, SessionSettings } from './session.js';
import { type EntryRecord, type HeadRecord, isRepeatable, unpack } from './stored-session.js';

/* Conversion of sessions, frames and failures for the store, and from it. */

/** ms that the store keeps a session longer than the process that uses it, because that process ends it on time */
const GRACE_MS = 5000;
/** Uses of a session renew its time to live in the store at most this often, as a share of its idle timeout. */
export const TOUCH_SHARE = 1 / 8;

const NO_POSITIONS = new Float32Array(0);

/** Identifies a mesh without a state. */
export const hashMesh = (mesh: MeshInput): string => hashContent(mesh, NO_POSITIONS);

export function nameOf({ tenant, id }: Session): SessionName {
  return { tenant, id };
}

export function refOf(session: Session) {
  return { ...nameOf(session), epoch: session.kept!.epoch };
}

/** ms; 0 = until deleted. Covers a last use that was not reported to the store, because an earlier one just was. */
export function ttlOf({ idleTimeoutSeconds }: Pick<SessionSettings, 'idleTimeoutSeconds'>): number {
  return idleTimeoutSeconds === 0 ? 0 : Math.ceil((1 + TOUCH_SHARE) * idleTimeoutSeconds * 1000) + GRACE_MS;
}

/** The session as every process can describe it, without the process that holds the scene and its bytes there. */
export function infoOf(session: Session): SessionInfo {
  return { ...session.describe(), residency: 'PARKED', deviceBytes: 0 };
}

/** @returns undefined if another version of the service has written it */
export function readInfo({ info, lastUsed }: DescribedSession): SessionInfo | undefined {
  const known = unpack<SessionInfo>(info);
  return known && { ...known, lastUsed };
}

/** The step as the last accepted frame. */
export function headOf(session: Session, { frame, request, outcome }: ComputedStep): HeadRecord {
  const { residentBytes: sceneBytes, ...answer } = outcome;
  const { kinematic, masses } = request;
  const changes = { ...session.place.changes, ...(kinematic ? { kinematic } : {}), ...(masses ? { masses } : {}) };
  return { frame, digest: digestOf(request), answer, changes, sceneBytes };
}

/** The input of a step. */
export function entryOf({ frame, request, task, outcome }: ComputedStep, by: string): EntryRecord {
  const { target, parameters, start } = task;
  const { kinematic, masses } = request;
  return { frame, by, isRepeatable: isRepeatable(outcome.report), target, parameters, start, kinematic, masses };
}

/** About the bytes of {@link entryOf}: those of its arrays. */
export function inputBytes({ kinematic, masses }: StepRequest, { target, start }: StepTask): number {
  return bytesOf(target, start, kinematic, masses);
}

/** The last accepted frame of a session in memory; undefined before the first. */
export function presentHead({ lastStep, storedAnswer, place, sceneBytes }: Session): HeadRecord | undefined {
  if (!storedAnswer) return undefined;
  const { frame, digest, request } = lastStep;
  return { frame, digest: digest ?? digestOf(request!), answer: storedAnswer, changes: place.changes, sceneBytes };
}

/** ms of the solver in a step */
export function solverMs({ report }: ResolveAnswer): number {
  const { search, geometry, backward, forward, verify } = report.timings;
  return (search + geometry + backward + forward + verify) / 1000;
}

export function withWarning(outcome: StepOutcome): StepOutcome {
  const message =
    'The store did not accept this frame in time. Only one process has it, in memory; that process continues and writes it later.';
  const warning: Warning = { code: 'NOT_STORED', message, count: 1 };
  return { ...outcome, report: { ...outcome.report, warnings: [...outcome.report.warnings, warning] } };
}

/** @throws STORE_UNAVAILABLE instead of StoreDown */
export async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (thrown) {
    throw unavailable(thrown);
  }
}

/** @returns STORE_UNAVAILABLE for a failure of the store; anything else unchanged */
export function unavailable(thrown: unknown): unknown {
  if (!(thrown instanceof StoreDown)) return thrown;
  return new IntersticeError('STORE_UNAVAILABLE', thrown.message, { cause: thrown, retryAfterSeconds: 1 });
}
