import type { Claim } from './fair-queue.js';
import type { Lane, LanePool } from './lane-pool.js';
import type { JobPreflight } from './submission.js';

/** How many lanes could start a job at once of which little is known yet. @param home of its scene, if it has one */
export function countFreeLanes(pool: LanePool, home: Lane | undefined, preflight: JobPreflight): number {
  const { tenant, session, mesh, bytes, isForScene } = preflight;
  const claim: Claim = { tenant, priority: 'NORMAL', ...(session === undefined ? {} : { session }) };
  const size = { runsBesideOthers: mesh !== undefined, vertices: mesh?.vertexCount ?? 0 };
  const isFree = (lane: Lane) => lane.takes(size) && (!home || home === lane);
  const groups = home
    ? [pool.groupOf(home)]
    : mesh
      ? [pool.groupForScene(mesh, claim.priority)]
      : pool.possibleGroups(bytes, isForScene);
  return groups.filter(({ queue }) => !queue.mustWait(claim)).flatMap(({ lanes }) => lanes.filter(isFree)).length;
}
