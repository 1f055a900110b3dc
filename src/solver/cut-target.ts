import type { CollisionMesh } from '../mesh/types.js';
import { distanceAt } from './cpu/motion.js';
import type { EnginePositions } from './engine.js';
import type { Bounds } from './range.js';
import { Components } from './rigid/groups.js';

/** A target that was cut to a range. */
export interface CutTarget {
  /** float32[3·V] engine units */
  readonly target: EnginePositions;
  /** float64[V] share of its motion that a vertex keeps */
  readonly share: Float64Array;
  readonly count: number;
  /** the first vertex with a share below 1 */
  readonly first: number;
}

/**
 * Shortens the motion of every vertex that belongs to an element so that it ends in the range. Components that move as one
 * (rigid/groups.ts) stop together, each vertex at the smallest of their shares: cut one by one, all vertices of a sheet that
 * moves far away would end in one plane, and a body would leave its garments.
 *
 * @param delta δ, engine units: components that move by less form no group
 */
export function cutTo(
  range: Bounds,
  mesh: CollisionMesh,
  start: EnginePositions,
  target: EnginePositions,
  delta: number,
): CutTarget {
  const share = sharesWithin(range, mesh, start, target);
  if (share.some((part) => part < 1)) shareInGroups(mesh, start, target, delta, share);
  const cut = target.slice();
  let count = 0;
  let first = mesh.vertexCount;
  for (const [v, part] of share.entries()) {
    if (part === 1) continue;
    for (let k = 3 * v; k < 3 * v + 3; k++) cut[k] = start[k]! + part * (target[k]! - start[k]!);
    first = Math.min(first, v);
    count++;
  }
  return { target: cut, share, count, first };
}

/** float64[V] how much of its motion each vertex can make in the range; 1 for vertices of no element */
function sharesWithin(
  range: Bounds,
  mesh: CollisionMesh,
  start: EnginePositions,
  target: EnginePositions,
): Float64Array {
  const share = new Float64Array(mesh.vertexCount).fill(1);
  for (const vertices of [mesh.contactVertices, mesh.tetrahedra]) {
    for (const v of vertices) {
      for (let k = 0; k < 3; k++) {
        const from = start[3 * v + k]!;
        const to = target[3 * v + k]!;
        // A coordinate without motion needs no cut, wherever it is.
        if (from === to) continue;
        const end = to > range[k + 3]! ? range[k + 3]! : to < range[k]! ? range[k]! : to;
        // The start lies within the range; a vertex beyond it would not move.
        if (end !== to) share[v] = Math.min(share[v]!, Math.max(0, (end - from) / (to - from)));
      }
    }
  }
  return share;
}

/** Gives all vertices of a group that move the smallest of their shares. */
function shareInGroups(
  mesh: CollisionMesh,
  start: EnginePositions,
  target: EnginePositions,
  delta: number,
  share: Float64Array,
): void {
  for (const { vertices } of new Components(mesh).group(mesh, start, target, delta).groups) {
    const least = vertices.reduce((min, v) => Math.min(min, share[v]!), 1);
    for (const v of vertices) if (distanceAt(start, target, 3 * v) > 0) share[v] = least;
  }
}
