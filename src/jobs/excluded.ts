import type { ElementPair } from '../contract/elements.js';
import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import { countExcluded } from '../mesh/excluded-elements.js';
import { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import { findNear } from '../verify/excluded.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { checkTouching, MAX_EXCLUDED, refuseTooMany } from './start-check.js';
import type { Verifier } from './verifier.js';

/** How many excluded pairs a report names; their count is complete. */
const NAMED_EXCLUDED = 16;

/** A start that has passed {@link checkStart}, and what is known of how it came about. */
export interface JudgedStart {
  readonly mesh: CollisionMesh;
  readonly start: Positions;
  readonly parameters: Parameters;
  readonly rules: PairRules;
  readonly verifier: Verifier;
  /** of the exact test of the start */
  readonly findings: StateFindings;
  /** what the step that led here excluded */
  readonly earlier?: ExcludedPairs | undefined;
  /** d_floor, the caller's unit */
  readonly floor: number;
  /** the path test has found before that nothing touches, but for what was excluded */
  readonly isTouchingKnown?: boolean;
}

/**
 * The rules that a resolve goes by from this start on. REJECT: nothing is excluded, and under PATH nothing may touch. Under
 * IGNORE_PAIRS these are excluded:
 * - what intersects in the start;
 * - what was excluded before and is not further apart than the floor: put back, a pair at a hair's breadth would have no
 *   room and, where no plane can be certified between its elements, would be frozen for good;
 * - under PATH, what touches without being seen by the test of a state.
 *
 * @throws INTERSECTING_START, with some pairs, for what touches under REJECT, and for more than {@link MAX_EXCLUDED}
 */
export function settleRules(judged: JudgedStart): PairRules {
  const { mesh, start, parameters, rules, verifier, findings, earlier, floor } = judged;
  const wantsTouching = parameters.verify === 'PATH' && judged.isTouchingKnown !== true;
  if (parameters.onIntersectingStart === 'REJECT') {
    if (wantsTouching) checkTouching(mesh, start, rules, verifier);
    return rules;
  }
  const items = [...(findings.excludedPairs ?? [])];
  const known = new Set(items.map(nameOf));
  const parted = (earlier?.items ?? []).filter((pair) => !known.has(nameOf(pair)));
  items.push(...findNear(mesh, start, parted, floor));
  refuseTooMany(items.length, items, rules);
  if (wantsTouching) items.push(...findTouching(judged, items));
  return items.length === 0 ? rules : { ...rules, excluded: new ExcludedPairs(items) };
}

/** @returns what touches in the start without being among `excluded` @throws INTERSECTING_START for too many of both */
function findTouching(
  { mesh, start, rules, verifier }: JudgedStart,
  excluded: readonly ElementPair[],
): readonly ElementPair[] {
  const remaining = { ...rules, excluded: new ExcludedPairs(excluded), maxPairs: MAX_EXCLUDED };
  const { collisionCount, collisions } = verifier.testPath(mesh, start, start, remaining);
  refuseTooMany(excluded.length + collisionCount, collisions, rules);
  return collisions;
}

function nameOf({ kind, a, b }: ElementPair): string {
  return `${kind} ${a.join()}:${b.join()}`;
}

/** What a report says of the pairs that were excluded. */
export function describeExcluded(mesh: CollisionMesh, excluded: ExcludedPairs | undefined) {
  if (!excluded) return { count: 0, named: [], warnings: [] };
  const count = countExcluded(mesh, excluded);
  const { length } = excluded.items;
  const who = length === 1 ? '1 pair of elements intersects' : `${length} pairs of elements intersect`;
  const they = length === 1 ? 'it' : 'they';
  const warning: Warning = {
    code: 'IGNORED_PAIRS',
    message:
      `${who} in the start (or parted by less than the floor in the last step): ${they} and the pairs that depend on the ` +
      `same vertices and edges, ${count} in all, are neither constrained nor verified until they have parted`,
    count,
  };
  return { count, named: excluded.items.slice(0, NAMED_EXCLUDED), warnings: [warning] };
}
