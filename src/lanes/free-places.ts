import type { Claim } from './fair-queue.js';
import type { LanePool } from './lane-pool.js';
import type { SceneRecord } from './scene-ledger.js';
import type { JobPreflight } from './submission.js';

/**
 * The largest number of jobs of which little is known yet that could start at once: unknown sizes are assumed to be
 * small, and other jobs that wait may keep a lane for themselves.
 *
 * @param record of its scene, if it has one
 */
export function countFreePlaces(pool: LanePool, record: SceneRecord | undefined, preflight: JobPreflight): number {
  const { tenant, session, mesh, bytes, isForScene } = preflight;
  const claim: Claim = { tenant, priority: 'NORMAL', ...(session === undefined ? {} : { session }) };
  const size = { runsBesideOthers: true, vertices: mesh?.vertexCount ?? record?.vertices ?? 0 };
  const home = record?.home;
  const groups = home
    ? [pool.groupOf(home)]
    : mesh
      ? [pool.groupForScene(mesh, claim.priority)]
      : pool.possibleGroups(bytes, isForScene);
  return groups
    .filter(({ queue }) => !queue.mustWait(claim))
    .flatMap(({ lanes }) => (home ? [home] : lanes))
    .reduce((sum, lane) => sum + lane.placesFor(size), 0);
}
