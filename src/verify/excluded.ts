import type { ElementPair } from '../contract/elements.js';
import type { Positions } from '../contract/mesh.js';
import { SIDES } from '../mesh/excluded-pairs.js';
import type { LeftOutPairs } from '../mesh/left-out-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import { ClosestPoints } from './closest.js';
import { readPositions } from './elements.js';
import { codeOf, EDGE_EDGE, EDGE_TRIANGLE, type PairCode, VERTEX_EDGE, VERTEX_TRIANGLE } from './pair-kinds.js';

/** @param ids side a, then side b, as idsOf gives them */
export function isExcluded(excluded: LeftOutPairs | undefined, code: PairCode, ids: readonly number[]): boolean {
  if (!excluded) return false;
  const [p, q, r, s, u] = ids as [number, number, number, number, number];
  switch (code) {
    case EDGE_TRIANGLE:
      return excluded.hasEdgeTriangle(p, q, r, s, u);
    case VERTEX_TRIANGLE:
      return excluded.hasVertexTriangle(p, q, r, s);
    case EDGE_EDGE:
      return excluded.hasEdgeEdge(p, q, r, s);
    case VERTEX_EDGE:
      return excluded.hasVertexEdge(p, q, r);
    default:
      return excluded.hasVertexVertex(p, q);
  }
}

/**
 * The pairs, none of which intersects any longer, that are at most `distance` apart. For an edge and a triangle
 * one of their five proximity pairs must be that near.
 *
 * @param positions [3·V] in any unit
 * @param distance same unit
 */
export function findNear(
  mesh: CollisionMesh,
  positions: Positions,
  pairs: readonly ElementPair[],
  distance: number,
): ElementPair[] {
  const x = readPositions(mesh, positions, 'positions');
  const closest = new ClosestPoints();
  const points = new Float64Array(12);
  const isNear = (code: PairCode, ids: readonly number[]): boolean => {
    ids.forEach((vertex, k) => {
      points.set(x.subarray(3 * vertex, 3 * vertex + 3), 3 * k);
    });
    closest.find(code, points);
    // The negation makes a distance of NaN count as near.
    return !(closest.distance > distance);
  };
  return pairs.filter(({ kind, a, b }) => {
    const code = codeOf(kind);
    if (code !== EDGE_TRIANGLE) return isNear(code, [...a, ...b]);
    return (
      a.some((vertex) => isNear(VERTEX_TRIANGLE, [vertex, ...b])) ||
      SIDES.some(([m, n]) => isNear(EDGE_EDGE, [...a, b[m]!, b[n]!]))
    );
  });
}
