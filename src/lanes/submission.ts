import type { MeshInput } from '../contract/mesh.js';
import { bytesOf } from '../mesh/bytes.js';
import type { Claim } from './fair-queue.js';
import type { JobHooks } from './lane-job.js';
import type { JobSize, LaneGroup } from './lane-pool.js';
import type { JobTypes } from './messages.js';
import type { QueueLoad } from './queue-bound.js';
import type { SceneRecord } from './scene-ledger.js';

/* The data of a job at its submission, and where it waits. */

export interface ScheduleHooks extends JobHooks {
  readonly claim: Claim;
  /** whether the job was admitted earlier and has waited elsewhere since then: it is not refused for lack of a place */
  readonly hasPlace?: boolean | undefined;
  /** called when the job is queued, with a function that counts the jobs before it, for the same lanes */
  readonly onQueued?: ((countAhead: () => number) => void) | undefined;
  /** bytes that are kept only because the job waits; default: all arrays of the request */
  readonly waitingBytes?: number | undefined;
}

/** What is known of a job before its request is complete. */
export interface JobPreflight {
  readonly tenant: string;
  /** the scene key of its session, if known */
  readonly session?: number | undefined;
  /** the session's mesh, if known */
  readonly mesh?: MeshInput | undefined;
  /** of the request, if its head gives the size */
  readonly bytes?: number | undefined;
  /** whether it is a step, and so belongs to a scene that exists already, known or not */
  readonly isForScene: boolean;
  /** requests that passed the preflight a moment ago and are not complete yet */
  readonly ahead: QueueLoad;
}

/** Where a job waits and runs. */
export interface Placement {
  readonly group: LaneGroup;
  readonly claim: Claim;
  /** its scene, if any; the job runs on the scene's home lane only */
  readonly record: SceneRecord | undefined;
  /** whether it takes a place in the bounded queue */
  readonly isCounted: boolean;
  /** bytes that it keeps in memory while it waits */
  readonly bytes: number;
  readonly size: JobSize;
}

/** Fills in the bytes that the request keeps in memory while it waits. */
export function countBytes(hooks: ScheduleHooks, request: object): ScheduleHooks {
  return { ...hooks, waitingBytes: hooks.waitingBytes ?? bytesOf(request) };
}

/**
 * Whether a job may run beside others on its lane. A job that waits for a slow reader of states, or computes on the
 * host for a long time, would delay the others.
 *
 * @param vertices of its mesh
 */
export const sizeOf = (kind: keyof JobTypes, vertices: number, { onState }: JobHooks): JobSize => ({
  runsBesideOthers: onState === undefined && ['open', 'step', 'resolve', 'park', 'save'].includes(kind),
  vertices,
});
