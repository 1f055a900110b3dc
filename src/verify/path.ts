import type { PairKind } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import {
  BorderElements,
  checkRules,
  codimensionalRelations,
  collectElements,
  distanceRelations,
  gather,
  idsOf,
  type Relation,
  readPositions,
} from './elements.js';
import { ExactMeeting, hasCommonPoint } from './exact-meeting.js';
import { isExcluded } from './excluded.js';
import {
  codeOf,
  compareFindings,
  EDGE_EDGE,
  EDGE_TRIANGLE,
  FirstFindings,
  toElementPair,
  VERTEX_TRIANGLE,
} from './pair-kinds.js';
import { PairSearch, skipsKinematic, type VisitPair } from './pair-search.js';
import { PathMeeting } from './path-pair.js';
import type { PairRules, PathFindings } from './types.js';

/**
 * 'codimensional': only pairs that can pass through each other without piercing a triangle in between. The test of a
 * state has decided exactly that they are apart, so a pair at rest is decided exactly here, too: it meets on the piece
 * if and only if it meets in the state. Otherwise a pair so near that only an exact test tells it from one that touches
 * would fail on every piece, although an engine, which cannot certify it either, leaves it where it is.
 */
export type PathScope = 'all' | 'codimensional';

/**
 * Conservative test of the straight path x(t) = (1-t)·start + t·end, t in [0, 1]: a pair that meets, or only touches,
 * at any time is always found. A pair that comes within rounding of touching may be found, too ({@link PathScope}). The
 * derivation is at {@link PathMeeting}. Under SKIP a pair of two kinematic elements is excluded unless a
 * protected pair of an edge and a triangle can meet because of it ({@link BorderElements}).
 *
 * @param start [3·V] in any unit
 * @param end [3·V], same unit
 * @returns collisions in order of kind and vertex ids; `earliestImpact` is a time before which no pair meets
 * @throws SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER
 */
export function testPath(
  mesh: CollisionMesh,
  start: Positions,
  end: Positions,
  rules: PairRules,
  scope: PathScope = 'all',
): PathFindings {
  checkRules(rules);
  const from = readPositions(mesh, start, 'start');
  const to = readPositions(mesh, end, 'end');
  const search = new PairSearch(mesh, rules.checkpoint, true);
  const meeting = new PathMeeting();
  const listed = new FirstFindings(rules.maxPairs, compareFindings);
  const pointsFrom = new Float64Array(12);
  const pointsTo = new Float64Array(12);
  const border = skipsKinematic(rules) ? new BorderElements(mesh, mesh.kinematic) : undefined;
  let exact: ExactMeeting | undefined;
  const isApartAtRest = ({ code, a, b }: Relation, i: number, j: number): boolean => {
    const count = 3 * (a.size + b.size);
    for (let k = 0; k < count; k++) if (pointsFrom[k] !== pointsTo[k]) return false;
    exact ??= new ExactMeeting(from);
    return !hasCommonPoint(exact, code, a.vertices, a.size * i, b.vertices, b.size * j);
  };
  let collisionCount = 0;
  let earliestImpact: number | undefined;
  const elements = collectElements(mesh);
  const relations = scope === 'all' ? distanceRelations(elements) : codimensionalRelations(elements);
  const visit: VisitPair = (relation, i, j, isKinematic) => {
    if (isKinematic && border && !isGuarding(border, relation, i, j)) return;
    gather(from, relation, i, j, pointsFrom);
    gather(to, relation, i, j, pointsTo);
    const impact = meeting.findImpact(relation.code, pointsFrom, pointsTo);
    if (impact === undefined || (scope === 'codimensional' && isApartAtRest(relation, i, j))) return;
    const finding = { code: relation.code, ids: idsOf(relation, i, j) };
    if (isExcluded(rules.excluded, finding.code, finding.ids)) return;
    collisionCount++;
    if (earliestImpact === undefined || impact < earliestImpact) earliestImpact = impact;
    listed.offer(finding);
  };
  const by = { kind: 'PATH', skipsKinematic: border !== undefined, border } as const;
  // Only the visitor knows which kinematic pairs guard others, so the search skips none.
  if (!search.sift([from, to], relations, 0, by, visit))
    search.forEach([from, to], relations, { gap: 0 }, false, visit);
  return {
    pathFree: collisionCount === 0,
    earliestImpact,
    collisionCount,
    collisions: listed.list().map(toElementPair),
  };
}

/** Whether a pair of kinematic elements guards adjacent elements that have dynamic vertices. */
function isGuarding(border: BorderElements, { code, a, b }: Relation, i: number, j: number): boolean {
  return (code === VERTEX_TRIANGLE || code === EDGE_EDGE) && (border.has(a, i) || border.has(b, j));
}

/**
 * The same test for one pair.
 *
 * @param kind any but EDGE_TRIANGLE
 * @param start float64[12], vertices of side a, then of side b, at t = 0; unused elements are
 * ignored
 * @param end float64[12], the same at t = 1
 * @returns undefined if the two certainly never have a common point; otherwise a time before which they have none
 * @throws INVALID_PARAMETER, NOT_FINITE
 */
export function pathMeets(kind: PairKind, start: Float64Array, end: Float64Array): number | undefined {
  const code = codeOf(kind);
  if (code === EDGE_TRIANGLE) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      'EDGE_TRIANGLE pairs have no path test; test their vertices and edges.',
    );
  }
  if (!start.every(Number.isFinite) || !end.every(Number.isFinite)) {
    throw new IntersticeError('NOT_FINITE', 'A coordinate of the pair is not finite.');
  }
  return new PathMeeting().findImpact(code, start, end);
}
