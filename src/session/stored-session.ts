import { deserialize, serialize } from 'node:v8';
import type { Positions } from '../contract/mesh.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { Report } from '../contract/report.js';
import type { Priority, ResolveAnswer } from '../contract/requests.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { isSavedSession, type SavedSession } from '../jobs/saved-session.js';
import type { OpenAnswer } from '../jobs/tasks.js';
import { ownCopy } from './payload.js';
import type { MeshChanges, RepeatedStep, SessionPlace } from './session.js';

/**
 * The records of a session in the store, as `src/session` uses them. `by` identifies what has computed them: algorithm
 * version, engine and adapter. If all of a history has one `by`, computing its frames again gives the same bytes.
 *
 * The proximity set of a large mesh has several times the size of its positions and changes with every step, so it is
 * not part of a frame. A session is rebuilt from the last checkpoint, which contains it, by computing the frames since
 * then again. Each gives the same bytes as before, because a step depends on nothing but its scene and its input. So
 * checkpoints may be written when that is cheap: no answer depends on the time of a checkpoint.
 */

export interface OpeningRecord {
  readonly by: string;
  readonly start: Positions;
  readonly parameters: ParametersInput;
  /** ms since 1970 */
  readonly created: number;
  readonly opened: OpenAnswer;
  /** of the opening; absent in records of a version that did not store it = NORMAL */
  readonly priority?: Priority;
  /** the origin of the start, until the first step; its positions are the start */
  readonly untangled?: UntangledState;
}

/** The last accepted frame. */
export interface HeadRecord {
  readonly frame: bigint;
  /** of the payload, to recognise a retry */
  readonly digest: string;
  readonly answer: ResolveAnswer;
  readonly changes: MeshChanges;
  readonly sceneBytes: number;
  /** present if neither the entry of the frame nor a checkpoint has it */
  readonly lastTarget?: Positions;
}

/** The input of a frame. */
export interface EntryRecord extends RepeatedStep {
  readonly frame: bigint;
  readonly by: string;
  /** false: a time limit cut it short, or the scene had been lost, so that computing it again could give other bytes */
  readonly isRepeatable: boolean;
}

export interface CheckpointRecord {
  readonly frame: bigint;
  readonly by: string;
  readonly place: SessionPlace;
  readonly saved: SavedSession;
}

/** Whether a record has the form of a checkpoint of a mesh with this many vertices. @throws TypeError or returns false if not */
export function isCheckpoint({ place, saved }: CheckpointRecord, vertexCount: number): boolean {
  const isState = (positions: unknown): boolean =>
    (positions instanceof Float32Array || positions instanceof Float64Array) && positions.length === 3 * vertexCount;
  const { kinematic, masses } = place.changes;
  const versions = [place.meshVersion, place.stateVersion, place.lastVersion];
  return (
    isState(place.positions) &&
    isState(place.lastTarget) &&
    versions.every(Number.isSafeInteger) &&
    (kinematic === undefined || (kinematic instanceof Uint8Array && kinematic.length === vertexCount)) &&
    (masses === undefined || (masses instanceof Float32Array && masses.length === vertexCount)) &&
    isSavedSession(saved, vertexCount)
  );
}

/** Increases when the meaning of the bytes changes, so that no process reads a format that it does not know. */
const FORMAT = 1;

/** Structured-clone bytes of V8: exact for every number, bigint and typed array. */
export function pack(value: unknown): Uint8Array {
  return serialize({ format: FORMAT, value });
}

/** @returns undefined if another version of the service has written the bytes */
export function unpack<T>(bytes: Uint8Array | undefined): T | undefined {
  if (!bytes) return undefined;
  let envelope: { readonly format: number; readonly value: T } | null;
  try {
    envelope = deserialize(bytes) as typeof envelope;
  } catch {
    return undefined;
  }
  // The arrays are views into the received bytes; each is copied, so that none keeps all of them in memory.
  return envelope?.format === FORMAT ? ownCopy(envelope.value) : undefined;
}

/** Whether the same step on the same scene gives the same bytes again. */
export function isRepeatable({ status, sessionRebuilt }: Report): boolean {
  return status !== 'DEADLINE' && !sessionRebuilt;
}
