import type { CollisionMesh, Positions } from '../mesh/types.js';
import { checkRules, collectElements, type Relation, readPositions, stateRelations } from './elements.js';
import { ExactMeeting } from './exact-meeting.js';
import {
  compareFindings,
  EDGE_EDGE,
  EDGE_TRIANGLE,
  FirstFindings,
  toElementPair,
  VERTEX_EDGE,
  VERTEX_TRIANGLE,
} from './pair-kinds.js';
import { idsOf } from './pair-points.js';
import { PairSearch, skipsKinematic } from './pair-search.js';
import type { PairRules, StateFindings } from './types.js';

/**
 * Every pair of elements with a common point in one state, decided exactly on the given numbers (touching counts):
 * contact edges against contact triangles; rods and particles among themselves; particles against triangles.
 * An edge counts once however many triangles own it. Pairs that share a vertex and pairs of ignored parts are left out.
 *
 * @param positions [3·V] in any unit
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function findIntersections(mesh: CollisionMesh, positions: Positions, rules: PairRules): StateFindings {
  checkRules(rules);
  const x = readPositions(mesh, positions, 'positions');
  const search = new PairSearch(mesh, [x]);
  const meeting = new ExactMeeting(x);
  const listed = new FirstFindings(rules.maxPairs, compareFindings);
  const skips = skipsKinematic(rules);
  let intersectionCount = 0;
  let kinematicIntersectionCount = 0;
  let pairsTested = 0;
  for (const relation of stateRelations(collectElements(mesh))) {
    search.forEach(relation, { gap: 0 }, (i, j, isKinematic) => {
      pairsTested++;
      if (!hasCommonPoint(meeting, relation, i, j)) return;
      if (isKinematic) kinematicIntersectionCount++;
      if (isKinematic && skips) return;
      intersectionCount++;
      listed.offer({ code: relation.code, ids: idsOf(relation, i, j) });
    });
  }
  return {
    intersectionCount,
    intersections: listed.list().map(toElementPair),
    kinematicIntersectionCount,
    pairsTested,
    doubtfulPairs: meeting.doubtfulPairs,
  };
}

function hasCommonPoint(meeting: ExactMeeting, { code, a, b }: Relation, i: number, j: number): boolean {
  const v = a.vertices;
  const w = b.vertices;
  switch (code) {
    case EDGE_TRIANGLE:
      return meeting.edgeMeetsTriangle(v[2 * i], v[2 * i + 1], w[3 * j], w[3 * j + 1], w[3 * j + 2]);
    case VERTEX_TRIANGLE:
      return meeting.pointMeetsTriangle(v[i], w[3 * j], w[3 * j + 1], w[3 * j + 2]);
    case EDGE_EDGE:
      return meeting.edgesMeet(v[2 * i], v[2 * i + 1], w[2 * j], w[2 * j + 1]);
    case VERTEX_EDGE:
      return meeting.pointMeetsEdge(v[i], w[2 * j], w[2 * j + 1]);
    default:
      return meeting.pointsMeet(v[i], w[j]);
  }
}
